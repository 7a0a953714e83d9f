# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo scene Shove: somebody stands with planted feet and is pushed in the back, twice.

All joints are driven towards the keyed pose, softly in the ankles. The first push makes the body sway; the second is
too strong to stand: the right foot lets go as keyed, steps forward, and takes hold of the ground again.
"""

from mathutils import Matrix, Vector

from . import stage
from .demos import begin, finish, hold
from .hold import Target
from .intervals import set_active
from .mannequin import make_mannequin
from .posing import SIDES, aim, move
from .presets import joints
from .pushes import add_push

SHOVE = {
    "mass": 70.0,
    "pushes": {13: 55.0, 61: 95.0},  # frame: N s on the chest
    "lift": 62,  # frames at which the right foot leaves the ground, and comes back
    "land": 68,
    "close": 3,  # frames in which it settles where it was meant to be
    "end": 110,
    # hertz and damping ratio of the muscles by part; feet are ankles
    "muscles": {
        "foot": (0.9, 0.5), "shin": (4.0, 1.0), "thigh": (3.0, 0.8), "spine": (3.0, 0.7), "head": (3.0, 0.7),
        "shoulder": (6.0, 1.0), "upper_arm": (1.6, 0.6), "forearm": (2.5, 0.6), "hand": (4.0, 0.8)},
    "apart": 0.13,  # half of the distance between the feet
    "step": 0.62,
    "sink": 0.09,
}
ARMS_DOWN = {"upper_arm": (0.22, 0.03, -1), "forearm": (0.1, -0.22, -1), "hand": (0.02, -0.25, -1)}
ARMS_OUT = {"upper_arm": (0.75, -0.25, -0.75), "forearm": (0.45, -0.75, -0.4), "hand": (0.3, -0.9, -0.2)}
TOES = Vector((0.06, -1.0, -0.33))


def shove(scene):
    """A figure that stands is pushed: it sways and comes back, then it has to step."""
    collection = begin(scene, "Shove", SHOVE["end"])
    figure = make_mannequin(scene, collection, "Walker", "Blue Suit", SHOVE["mass"])
    for bone in joints(figure.pose.bones):
        if bone.parent:
            bone.trapeze_muscle = "DRIVEN"
            bone.trapeze_strength, bone.trapeze_damping_ratio = SHOVE["muscles"][bone.name.split(".")[0]]
    key_step(figure, scene.frame_start)
    for side, _ in SIDES:
        grip = hold(scene, Target(figure, "foot" + side), Target(), scene.frame_start, None, "FIXED")
        if side == ".R":
            set_active(scene, grip, SHOVE["lift"], False)
            set_active(scene, grip, SHOVE["land"], True)
            grip.trapeze.grip.close_frames = SHOVE["close"]
    for frame, strength in SHOVE["pushes"].items():
        push = add_push(scene, figure, "spine", frame, strength)
        back = figure.pose.bones["spine"].head.lerp(figure.pose.bones["spine"].tail, 0.75) + Vector((0, 0.12, 0))
        push.matrix_world = Matrix.Translation(back) @ Vector((0, 0, 1)).rotation_difference(
            Vector((0, -1, 0))).to_matrix().to_4x4()
    stage.add_surroundings(scene, collection, (4.6, -2.4, 1.5), (0, -0.35, 0.95), lens=42.0)
    finish(figure)


def key_step(owner, start):
    """The plan: stand, lift the right foot and swing it forward, stand with one foot before the other."""
    stand = {side: Vector((SHOVE["apart"] * sign, 0.02, 0.09)) for side, sign in SIDES}
    ahead = Vector((0, -SHOVE["step"], 0))
    lifted = {**stand, ".R": stand[".R"] + 0.6 * ahead + Vector((0, 0, 0.24))}
    landed = {**stand, ".R": stand[".R"] + ahead}
    half = (SHOVE["lift"] + SHOVE["land"]) / 2.0
    pose(owner, Vector((0, 0.02, -0.015)), (0, 0.02, 1), stand, ARMS_DOWN)
    for frame in (start, SHOVE["lift"] - 1):
        key(owner, frame)
    pose(owner, Vector((-0.04, -0.22, -0.06)), (0, -0.25, 1), lifted, ARMS_OUT)
    key(owner, half)
    # the body will have sunk by then; the foot is to meet the ground all the same
    sunk = Vector((0, 0, SHOVE["sink"]))
    pose(owner, Vector((-0.05, -0.4, -0.12)), (0, -0.18, 1), {**landed, ".R": landed[".R"] + sunk}, ARMS_OUT)
    move(owner, Matrix.Translation(-sunk))
    key(owner, SHOVE["land"])
    pose(owner, Vector((0, -0.36, -0.09)), (0, -0.02, 1), landed, ARMS_DOWN)
    key(owner, SHOVE["land"] + 20)
    pose(owner, Vector((0, 0.02, -0.015)), (0, 0.02, 1), stand, ARMS_DOWN)


def pose(owner, shift, trunk, ankles, arms):
    """Hips moved from where they rest, the trunk in a direction, ankles at places, knees forward."""
    rest = owner.pose.bones["hips"].bone.matrix_local
    owner.pose.bones["hips"].matrix = Matrix.Translation(shift) @ rest
    aim(owner, {"spine": trunk, "head": (0, 0.0, 1), **arms})
    for side, ankle in ankles.items():
        bend_leg(owner, side, ankle)
    move(owner, Matrix())


def bend_leg(owner, side, ankle):
    """Bring an ankle to a place with the knee forward and the foot flat: the third side of a triangle."""
    bones = owner.pose.bones
    hip, thigh, shin = bones["thigh" + side].head.copy(), bones["thigh" + side].length, bones["shin" + side].length
    way = ankle - hip
    way *= min(1.0, 0.999 * (thigh + shin) / way.length)
    cosine = (thigh**2 + way.length_squared - shin**2) / (2.0 * thigh * way.length)
    forward = Vector((0, -1, 0))
    out = (forward - forward.project(way)).normalized()
    knee = thigh * (cosine * way.normalized() + max(0.0, 1.0 - cosine**2) ** 0.5 * out)
    toes = Vector((TOES.x if side == ".L" else -TOES.x, *TOES.yz))
    aim(owner, {"thigh" + side: knee, "shin" + side: way - knee, "foot" + side: toes})


def key(owner, frame):
    """Key the whole pose."""
    for bone in owner.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=frame, group=bone.name)
    owner.pose.bones["hips"].keyframe_insert("location", frame=frame, group="hips")
