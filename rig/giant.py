# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo scene Giant Swing: a gymnast on the high bar whose hips, back and shoulders are keyed, and nothing else.

He starts well above the bar's height and arches; through the bottom, where it takes the most work, he pikes and closes
the shoulders, and stretches again when he is up. That work carries him over the bar. Physics decides the swing.
"""

from mathutils import Quaternion, Vector

from . import stage
from .demos import ACROSS, begin, finish, hold
from .hold import Target
from .mannequin import make_mannequin
from .posing import SIDES, hang, raise_arms
from .presets import apply_preset, joints

GIANT = {
    "mass": 60.0,
    "height": 2.9,
    "lean": 120.0,  # degrees of the body behind the bar at the start, from hanging straight down
    "bend": {"thigh": -0.8, "upper_arm": 0.75, "spine": 0.2},  # rad about X of the whole pike
    # frame: how much of it; less than nothing is an arch
    "pike": {1: 0.0, 9: -0.35, 13: -0.35, 23: 1.0, 31: 1.0, 43: 0.0},
    "end": 84,
}


def giant_swing(scene):
    """A gymnast swings over the top of a high bar by his own work."""
    collection = begin(scene, "Giant Swing", GIANT["end"])
    place = Vector((0, 0, GIANT["height"]))
    bar = stage.add_high_bar(collection, place)
    gymnast = make_mannequin(scene, collection, "Gymnast", "Red Suit", GIANT["mass"])
    raise_arms(gymnast)
    hang(gymnast, place, GIANT["lean"])
    for side, _ in SIDES:
        hold(scene, Target(gymnast, "hand" + side), Target(bar), scene.frame_start)
    apply_preset([bone for bone in joints(gymnast.pose.bones) if not bone.name.startswith("hand")], "GYMNAST")
    key_pike(gymnast)
    stage.add_box(collection, "Mat", (3, 7, 0.2), (0, 0, 0.1), "Mat")
    stage.add_surroundings(scene, collection, (8.2, -5.6, 3.2), (0, 0, 2.7), lens=38.0)
    finish(gymnast)


def key_pike(owner):
    """Key the bend of hips, back and shoulders about the X axis of the world."""
    for part, bend in GIANT["bend"].items():
        for name in [part + side for side, _ in SIDES] if part + ".L" in owner.pose.bones else [part]:
            bone = owner.pose.bones[name]
            straight, axis = bone.rotation_quaternion.copy(), bone.matrix.to_3x3().transposed() @ ACROSS
            for frame, share in GIANT["pike"].items():
                bone.rotation_quaternion = straight @ Quaternion(axis, share * bend)
                bone.keyframe_insert("rotation_quaternion", frame=frame, group=name)
            bone.rotation_quaternion = straight
