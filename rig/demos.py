# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo scenes High Bar and Swing, in which everybody is limp, and what all demo scenes are built with.

Each builds objects, figures, props and keyed grips as a person would, with the same functions as the buttons, in a
collection of its own. All numbers that make an act work are at the top. Metres, degrees, kilograms, frames of 1/24 s;
figures face -Y.
"""

from math import radians

import bpy
from mathutils import Matrix, Vector

from . import stage
from .errors import RigError
from .hold import Target, grab, release
from .mannequin import make_mannequin
from .posing import SIDES, hang, move, raise_arms, reach, sit
from .props import set_motion

RATE = 24
ACROSS = Vector((1, 0, 0))
HIGH_BAR = {
    "mass": 70.0,
    "height": 2.9,
    "lean": 80.0,  # of the body behind the bar at the start, from hanging straight down
    "right_off": 22,  # frames at which the hands let go
    "left_off": 27,
    "end": 44,
}
SWING = {
    "mass": 70.0,
    "height": 2.9,  # of the beam
    "seat": 0.75,  # height of the seat when the swing hangs
    "half": 0.3,  # from the middle of the seat to each rod
    "hands": 1.72,  # height at which the hands hold the rods
    "thigh": 0.1,  # from the middle of the seat to where each thigh rests
    "lean": 38.0,  # of the swing behind the plumb line at the start
    "breaks": 20,  # frame at which the seat comes off the left rod
    "end": 50,
}


def high_bar(scene):
    """A gymnast swings on a bar, lets go with the right hand, then with the left, and flies."""
    collection = begin(scene, "High Bar", HIGH_BAR["end"])
    place = Vector((0, 0, HIGH_BAR["height"]))
    bar = stage.add_high_bar(collection, place)
    gymnast = make_mannequin(scene, collection, "Gymnast", "Red Suit", HIGH_BAR["mass"])
    raise_arms(gymnast)
    hang(gymnast, place, HIGH_BAR["lean"])
    for hand, end in (("hand.R", HIGH_BAR["right_off"]), ("hand.L", HIGH_BAR["left_off"])):
        hold(scene, Target(gymnast, hand), Target(bar), scene.frame_start, end)
    stage.add_box(collection, "Mat", (3, 7, 0.2), (0, -1, 0.1), "Mat")
    stage.add_surroundings(scene, collection, (6.2, -4.4, 2.3), (0, -0.5, 1.7), lens=42.0)
    finish(gymnast)


def swing(scene):
    """What happens if a swing breaks down while you are playing on it? (paper 000, VII-B, and 001, 5.2)

    The rods hang on ball joints, the hands hold them by ball joints, the thighs slide sideways on the seat until they
    are off it. The seat is fixed to both rods and comes off the left one.
    """
    collection = begin(scene, "Swing", SWING["end"])
    beam, seat, rods = build_swing(collection)
    rider = make_mannequin(scene, collection, "Rider", "Blue Suit", SWING["mass"])
    sit(rider, Vector((0, 0.02, SWING["seat"] + 0.02)))
    for side, sign in SIDES:
        reach(rider, side, Vector((SWING["half"] * sign, 0, SWING["hands"])), Vector((0.6 * sign, 0.6, -1)))
    lean = leaning(Vector((0, 0, SWING["height"])), SWING["lean"])
    for owner in (seat, *rods.values()):
        owner.matrix_world = lean @ owner.matrix_world
    move(rider, lean)

    start = scene.frame_start
    for side, sign in SIDES:
        rod, x = rods[side], SWING["half"] * sign
        hold(scene, Target(rod), Target(beam), start, None, "BALL", Matrix.Translation((x, 0, SWING["height"])))
        hold(scene, Target(rod), Target(seat), start, SWING["breaks"] if side == ".L" else None, "FIXED",
             lean @ Matrix.Translation((x, 0, SWING["seat"])))
        hold(scene, Target(rider, "hand" + side), Target(rod), start, None, "BALL")
        rest = lean @ Vector((SWING["thigh"] * sign, -0.1, SWING["seat"] + 0.03))
        grip = hold(scene, Target(rider, "thigh" + side), Target(seat), start, None, "SLIDER", facing(rest, ACROSS))
        settings = grip.trapeze.grip
        settings.use_travel = True
        settings.travel_lower = -SWING["half"] - SWING["thigh"] * sign
        settings.travel_upper = SWING["half"] - SWING["thigh"] * sign
    stage.add_surroundings(scene, collection, (3.3, -6.2, 1.9), (0, 0.1, 1.5), lens=40.0)
    finish(rider)


def build_swing(collection):
    """The swing at rest: its beam, its seat and its rods by side."""
    top, low, half = SWING["height"], SWING["seat"], SWING["half"]
    beam = stage.add_rod(collection, "Beam", Vector((-1, 0, top + 0.05)), Vector((1, 0, top + 0.05)), 0.05, "Wood")
    for x in (-1, 1):
        for y in (-1, 1):
            foot, head = Vector((1.1 * x, y, 0)), Vector((0.95 * x, 0, top + 0.05))
            stage.add_rod(collection, "Post", foot, head, 0.04, "Wood")
    seat = stage.add_box(collection, "Seat", (2 * half + 0.04, 0.3, 0.04), (0, 0, low), "Wood")
    make_dynamic(seat, 4.0)
    rods = {}
    for side, sign in SIDES:
        x = half * sign
        rods[side] = stage.add_rod(collection, f"Rod{side}", Vector((x, 0, top)), Vector((x, 0, low)), 0.013, "Steel")
        make_dynamic(rods[side], 2.0)
    return beam, seat, rods


def hold(scene, first, second, start, end=None, joint="", matrix=None):
    """A grip from one frame to another; joint and place are what Grab makes of the two ends, unless given."""
    bpy.context.view_layer.update()
    (grip,), _ = grab(scene, [(first, second)], start)
    if end is not None:
        release(scene, [grip], end)
    if joint:
        grip.trapeze.grip.joint = joint
    if matrix is not None:
        grip.matrix_world = matrix
        bpy.context.view_layer.update()
    return grip


def make_dynamic(owner, mass):
    """A prop of the given mass that physics moves."""
    set_motion(owner, "DYNAMIC")
    owner.trapeze.prop.use_volume, owner.trapeze.prop.mass = False, mass


def leaning(place, degrees):
    """The turn about a bar along X at a place that leans what hangs on it backwards."""
    there = Matrix.Translation(place)
    return there @ Matrix.Rotation(radians(degrees), 4, "X") @ there.inverted()


def facing(place, axis):
    """A frame at a place with its Z axis in a direction."""
    return Matrix.Translation(place) @ Vector((0, 0, 1)).rotation_difference(axis).to_matrix().to_4x4()


def on_bar(place, bar):
    """The nearest place on a bar along X."""
    return Vector((place.x, bar.y, bar.z))


def begin(scene, name, end):
    """A collection for the scene's objects, and the time that the act takes."""
    if abs(scene.unit_settings.scale_length - 1.0) > 1e-6:
        raise RigError("The demo scenes are built in metres; set the unit scale of the scene to 1")
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    render = scene.render
    render.fps, render.fps_base, render.frame_map_old, render.frame_map_new = RATE, 1.0, 100, 100
    scene.frame_start, scene.frame_end = 1, end
    scene.frame_set(1)
    collection = bpy.data.collections.new(name)
    scene.collection.children.link(collection)
    return collection


def finish(active):
    """Leave with the figure selected, ready for Simulate."""
    for owner in bpy.context.view_layer.objects:
        owner.select_set(owner == active)
    bpy.context.view_layer.objects.active = active
    bpy.context.view_layer.update()


DEMOS = {"HIGH_BAR": high_bar, "SWING": swing}
