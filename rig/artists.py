# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo scene Two Trapeze Artists: a flyer lets go of her trapeze, turns over in the air and is caught.

Both have muscles and keyed poses. He swings by his knees. She comes down arched, drives her legs forward and up behind
the bottom of her swing, lets go, tucks, turns over backwards and opens out to where his hands are. The poses and the
frames at which hands hold and let go are keyed; physics decides the swings, the flight and the turn. Where his beam
stands is tuned so that the hands meet within a centimetre or two; that rest is pulled together in two frames.
All numbers that make the act work are at the top; metres, degrees, kilograms, frames of 1/24 s, figures face -Y.
"""

from math import radians

from mathutils import Matrix, Vector

from . import stage
from .demos import ACROSS, begin, facing, finish, hold, leaning, make_dynamic, on_bar
from .hold import Target
from .mannequin import make_mannequin
from .posing import SIDES, key_hips, key_joints, middle, move
from .presets import apply_preset, joints

ARTISTS = {
    "masses": {"Flyer": 56.0, "Catcher": 75.0},
    "beams": {"Flyer": (0, 0, 8), "Catcher": (0, -7.434, 9.615)},  # the catcher's so that his hands are where hers come
    "ropes": {"Flyer": 4.2, "Catcher": 2.2},
    "leans": {"Flyer": 68.0, "Catcher": -23.0},  # of the trapezes towards +Y at the start
    "torque": 400.0,  # N m that no muscle exceeds
    "torque_ends": 10.0,  # the same of wrists, ankles and neck
    "release": 43,  # frame at which the flyer's hands let go of the bar
    "catch": 61,
    "close": 2,  # frames in which the hands come together
    "end": 130,
}
# Directions in which bones point when the body stands upright and faces -Y; what is not named is as in the rest pose.
ARMS_UP = {"upper_arm": (0.12, 0, 1), "forearm": (0, -0.05, 1), "hand": (-0.1, 0.05, 1)}
POSES = {
    "hang": ARMS_UP,
    "arch": {**ARMS_UP, "spine": (0, 0.12, 1), "thigh": (0.03, 0.35, -1), "shin": (0, 0.55, -1), "foot": (0, 0.2, -1)},
    "kick": {
        "upper_arm": (0.12, -0.78, 0.63), "forearm": (0, -0.78, 0.63), "hand": (-0.1, -0.78, 0.63),
        "spine": (0, -0.2, 1), "thigh": (0.03, -0.94, -0.34), "shin": (0, -0.91, -0.42), "foot": (0, -0.79, -0.61)},
    "tuck": {
        "spine": (0, -0.35, 1), "head": (0, -0.5, 1), "thigh": (0.1, -1, 0.35), "shin": (0, 0.35, -1),
        "foot": (0, -0.5, -1), "upper_arm": (0.15, -0.8, -0.5), "forearm": (-0.12, -0.9, -0.45),
        "hand": (-0.12, -0.9, -0.3)},
    "reach": {
        "upper_arm": (0.12, -0.62, 0.79), "forearm": (0, -0.62, 0.79), "hand": (-0.1, -0.62, 0.79),
        "spine": (0, 0.05, 1), "thigh": (0.03, 0.05, -1), "shin": (0, 0.1, -1), "foot": (0, -0.3, -1)},
    "knees": {
        **ARMS_UP, "thigh": (0, 0, -1), "shin": (0, 0.8, 0.6), "foot": (0, 0.9, -0.3)},
}
PLAN = {
    "Flyer": {1: "hang", 14: "arch", 31: "arch", 43: "kick", 50: "tuck", 56: "reach", 61: "reach", 73: "hang"},
    "Catcher": {1: "knees"},
}
# frame: where along Y, how high, and how far away the camera is
CAMERA = {1: (-1.7, 5.6, 19), 40: (-3.4, 5.6, 16), 62: (-6.6, 5.9, 10), 90: (-8, 6.3, 10.5), 130: (-7.6, 6.3, 10.5)}


def artists(scene):
    """A flyer swings on a trapeze, lets go, and is caught by the hands of a catcher who hangs by his knees."""
    collection = begin(scene, "Two Trapeze Artists", ARTISTS["end"])
    start, catch = scene.frame_start, ARTISTS["catch"]
    beams = {name: Vector(place) for name, place in ARTISTS["beams"].items()}
    down = {name: beam - Vector((0, 0, ARTISTS["ropes"][name])) for name, beam in beams.items()}
    trapezes = {name: add_trapeze(scene, collection, name, beams[name], down[name]) for name in beams}
    leans = {name: leaning(beams[name], lean) for name, lean in ARTISTS["leans"].items()}
    bars = {name: leans[name] @ down[name] for name in beams}
    flyer = make_mannequin(scene, collection, "Flyer", "Red Suit", ARTISTS["masses"]["Flyer"])
    catcher = make_mannequin(scene, collection, "Catcher", "Blue Suit", ARTISTS["masses"]["Catcher"])
    for artist in (flyer, catcher):
        give_muscles(artist)
        key_joints(artist, {frame: POSES[pose] for frame, pose in PLAN[artist.name].items()})
    scene.frame_set(start)

    for name, trapeze in trapezes.items():
        trapeze.matrix_world = leans[name] @ trapeze.matrix_world
    move(catcher, Matrix.Rotation(radians(180), 4, "X"))
    knee = catcher.matrix_world @ catcher.pose.bones["thigh.L"].tail
    move(catcher, Matrix.Translation((0, down["Catcher"].y - knee.y, down["Catcher"].z - knee.z - 0.06)))
    move(catcher, leans["Catcher"])
    key_hips(catcher, start)
    for side, _ in SIDES:
        knee = catcher.matrix_world @ catcher.pose.bones["thigh" + side].tail
        hold(scene, Target(catcher, "thigh" + side), Target(trapezes["Catcher"]), start, None, "CYLINDER",
             facing(on_bar(knee, bars["Catcher"]), ACROSS))

    move(flyer, leans["Flyer"] @ Matrix.Translation(down["Flyer"] - middle(flyer, "hand")))
    key_hips(flyer, start)
    for side, _ in SIDES:
        hand = on_bar(middle(flyer, "hand" + side), bars["Flyer"])
        hold(scene, Target(flyer, "hand" + side), Target(trapezes["Flyer"]), start, ARTISTS["release"], "HINGE",
             facing(hand, ACROSS))
        grip = hold(scene, Target(flyer, "hand" + side), Target(catcher, "hand" + side), catch, None, "BALL")
        grip.trapeze.grip.close_frames = ARTISTS["close"]

    scene.frame_set(catch)  # the plan: here the hands meet
    move(flyer, Matrix.Translation(middle(catcher, "hand") - middle(flyer, "hand")))
    key_hips(flyer, catch)
    add_hall(scene, collection)
    finish(flyer)
    scene.frame_set(start)


def give_muscles(artist):
    """Muscles in all joints, which stop at their limits; what light ends of limbs hang on is weak."""
    artist.trapeze.figure.use_limits = True
    acting = joints(artist.pose.bones)
    apply_preset(acting, "GYMNAST")
    for bone in acting:
        weak = bone.name.startswith(("hand", "foot", "head"))
        bone.trapeze_torque_limit = ARTISTS["torque_ends" if weak else "torque"]


def add_trapeze(scene, collection, name, beam, bar):
    """A bar on two ropes that swings about a beam."""
    stage.add_rod(collection, f"{name} Beam", beam - 1.3 * ACROSS, beam + 1.3 * ACROSS, 0.05, "Steel")
    half = Vector((0.36, 0, 0))
    parts = [stage.add_rod(collection, "Bar", bar - half, bar + half, 0.016, "Steel")]
    for sign in (-0.9, 0.9):
        parts.append(stage.add_rod(collection, "Rope", beam + sign * half, bar + sign * half, 0.009, "Rope"))
    trapeze = stage.join(collection, f"{name} Trapeze", parts, beam)
    make_dynamic(trapeze, 4.0)
    hold(scene, Target(trapeze), Target(), scene.frame_start, None, "HINGE", facing(beam, ACROSS))
    return trapeze


def add_hall(scene, collection):
    """What carries the trapezes, a mat, and a camera that goes along with the flyer."""
    for name, (_, y, z) in ARTISTS["beams"].items():
        foot, head = Vector((-1.3, y, 0)), Vector((-1.3, y, z + 0.1))  # behind them, as the camera sees it
        stage.add_rod(collection, f"{name} Post", foot, head, 0.06, "Steel")
    stage.add_box(collection, "Mat", (5, 20, 0.4), (0, -3, 0.2), "Mat")
    stage.add_surroundings(scene, collection, (1, 0, 0), (0, 0, 0), lens=40.0, ground=30.0)
    for frame, (y, z, distance) in CAMERA.items():
        scene.camera.location = distance, y, z
        scene.camera.keyframe_insert("location", frame=frame)
