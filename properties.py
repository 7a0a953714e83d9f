# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .blend file remembers: settings of figures, links, muscles, props, grips and of the solver.

Property groups only, no logic. They hang on `Object.trapeze`, `PoseBone.trapeze` and `Scene.trapeze`.
Masses are kilograms, whatever the scene's unit scale: Blender's own mass unit would scale them by its cube.
Angles are radians in the file and degrees on the screen. Everything numeric can be keyed.
"""

from math import pi, radians

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

SETTING = {"override": {"LIBRARY_OVERRIDABLE"}}  # an overridden rig keeps its own settings
STORED = {"options": {"HIDDEN"}, "override": {"LIBRARY_OVERRIDABLE"}}  # bookkeeping: never keyed, never shown


def angle(name, description, default):
    return FloatProperty(
        name=name, description=description, subtype="ANGLE", min=-pi, max=pi, default=radians(default), **SETTING)


def spread_mass(figure, context):
    from .rig.figure import spread_mass
    spread_mass(figure.id_data)


class Playing:
    """The two motions of a figure or prop, and which one plays."""

    showing: EnumProperty(
        name="Showing", description="Which motion plays",
        items=(
            ("SOURCE", "Source", "The motion you keyed, which is never written to"),
            ("RESULT", "Result", "The motion of the last simulation")),
        default="SOURCE", **SETTING)
    source: PointerProperty(
        name="Source", description="The action with the motion you keyed", type=bpy.types.Action, **SETTING)
    result: PointerProperty(
        name="Result", description="The action that simulating writes", type=bpy.types.Action, **SETTING)
    source_slot: StringProperty(
        name="Source Slot", description="Which slot of the source action moves the object", **STORED)
    result_slot: StringProperty(
        name="Result Slot", description="Which slot of the result action moves the object", **STORED)


class TrapezeFigure(Playing, PropertyGroup):
    """One character, on its armature object."""

    mass: FloatProperty(
        name="Mass",
        description="Mass of the whole body in kilograms; spread over the bones whose mass was not set by hand",
        min=1e-6, soft_min=0.1, soft_max=500.0, default=70.0, precision=2, update=spread_mass, **SETTING)
    body: EnumProperty(
        name="Body", description="Whose measurements say how the mass is spread over the parts of a human figure",
        items=(
            ("AVERAGE", "Average", "The mean of the female and the male body"),
            ("FEMALE", "Female", "Mean of young women"),
            ("MALE", "Male", "Mean of young men")),
        default="AVERAGE", **SETTING)
    shape: EnumProperty(
        name="Inertia", description="Where the inertia of a link comes from",
        items=(
            ("AUTO", "Automatic", "From the skinned mesh where one is bound to the bones, from capsules elsewhere"),
            ("CAPSULE", "Capsules", "A capsule along each bone"),
            ("MESH", "Skinned Mesh", "The part of the skinned mesh that follows the bone")),
        default="AUTO", **SETTING)
    root: EnumProperty(
        name="Root", description="What moves the root of the figure",
        items=(
            ("FREE", "Free", "Gravity, momentum and grips alone move the body through space"),
            ("DRIVEN", "Driven", "A force pulls the root towards its keys, with the strength given"),
            ("KEYED", "Keyed", "The root moves exactly as keyed")),
        default="FREE", **SETTING)
    root_strength: FloatProperty(
        name="Root Strength", description="How fast a driven root returns to its keys: its natural frequency in hertz",
        min=0.0, soft_max=50.0, default=5.0, **SETTING)
    strength: FloatProperty(
        name="Strength", description="Multiplies the strength of every muscle of the figure; 0 makes it limp",
        min=0.0, soft_max=2.0, default=1.0, subtype="FACTOR", **SETTING)
    guess: StringProperty(
        name="Guess",
        description="What set-up guessed for the figure, to tell it from what was changed by hand",
        **STORED)


class TrapezeProp(Playing, PropertyGroup):
    """An object that figures can hold, on any object."""

    motion: EnumProperty(
        name="Motion", description="What moves the object during a simulation",
        items=(
            ("STATIC", "Static", "It stays where it is"),
            ("ANIMATED", "Animated", "It moves as keyed and pushes what holds on to it"),
            ("DYNAMIC", "Dynamic", "Gravity, momentum and grips move it")),
        default="STATIC", **SETTING)
    use_volume: BoolProperty(
        name="Mass from Volume", description="Take the mass from the volume of the mesh and the density", default=True,
        **SETTING)
    density: FloatProperty(
        name="Density", description="Kilograms per cubic metre: wood 700, water 1000, steel 7850",
        min=1e-3, soft_min=10.0, soft_max=10000.0, default=700.0, precision=1, **SETTING)
    mass: FloatProperty(
        name="Mass",
        description="Mass of the object in kilograms",
        min=1e-6, soft_max=1000.0, default=10.0, precision=3,
        **SETTING)


class TrapezeGrip(PropertyGroup):
    """A joint that takes hold and lets go, on an Empty whose arrows are the joint's axes."""

    active: BoolProperty(
        name="Active", description="The grip holds. Key it: on to grab, off to release", default=True, **SETTING)
    first_object: PointerProperty(
        name="First", description="What takes hold: a figure, or a prop", type=bpy.types.Object, **SETTING)
    first_bone: StringProperty(
        name="First Bone", description="The bone that takes hold, if the first object is a figure", **SETTING)
    second_object: PointerProperty(
        name="Second", description="What is held: a figure, a prop, or nothing for the world", type=bpy.types.Object,
        **SETTING)
    second_bone: StringProperty(
        name="Second Bone", description="The bone that is held, if the second object is a figure", **SETTING)
    joint: EnumProperty(
        name="Joint", description="How the two ends can still move against each other",
        items=(
            ("FIXED", "Fixed", "Not at all"),
            ("HINGE", "Hinge", "Turn about the Z axis of the grip"),
            ("BALL", "Ball", "Turn about every axis"),
            ("SLIDER", "Slider", "Slide along the Z axis of the grip"),
            ("CYLINDER", "Cylinder", "Turn about the Z axis of the grip and slide along it, as a hand around a bar"),
            ("PLANE", "Plane", "Slide and turn in the XY plane of the grip, as a foot on ice")),
        default="BALL", **SETTING)
    hold: EnumProperty(
        name="Hold", description="How firmly the two ends are held together",
        items=(
            ("HARD", "Hard", "Exactly"),
            ("SOFT", "Soft", "By a spring and a damper")),
        default="HARD", **SETTING)
    stiffness: FloatProperty(
        name="Stiffness", description="Force of the spring of a soft grip, in newtons per metre",
        min=0.0, soft_max=100000.0, default=10000.0, precision=1, **SETTING)
    damping: FloatProperty(
        name="Damping", description="Force of the damper of a soft grip, in newtons per metre per second",
        min=0.0, soft_max=10000.0, default=100.0, precision=1, **SETTING)
    break_force: FloatProperty(
        name="Break Force",
        description="The grip lets go when it has to hold more than this, in newtons; 0 never lets go",
        min=0.0, soft_max=5000.0, default=0.0, precision=1, **SETTING)
    close_frames: FloatProperty(
        name="Close Over",
        description="Pull the two ends together over this many frames; 0 keeps them as far apart as they are",
        min=0.0, soft_max=24.0, default=0.0, precision=1, **SETTING)
    use_travel: BoolProperty(
        name="Limit Travel", description="A slider or cylinder lets go when it slides out of its range", default=False,
        **SETTING)
    travel_lower: FloatProperty(
        name="Travel Lower",
        description="How far back the grip can slide along its Z axis",
        subtype="DISTANCE", default=-1.0,
        **SETTING)
    travel_upper: FloatProperty(
        name="Travel Upper", description="How far the grip can slide along its Z axis", subtype="DISTANCE", default=1.0,
        **SETTING)


class TrapezeObject(PropertyGroup):
    role: EnumProperty(
        name="Role", description="What the object is to Trapeze",
        items=(
            ("NONE", "None", "Nothing; a grip can still hold it where it is"),
            ("FIGURE", "Figure", "A character made of links"),
            ("PROP", "Prop", "A thing that figures can hold"),
            ("GRIP", "Grip", "A joint that takes hold and lets go")),
        default="NONE", options={"HIDDEN"}, override={"LIBRARY_OVERRIDABLE"})
    figure: PointerProperty(type=TrapezeFigure, **SETTING)
    prop: PointerProperty(type=TrapezeProp, **SETTING)
    grip: PointerProperty(type=TrapezeGrip, **SETTING)


class TrapezeLink(PropertyGroup):
    """What a bone is in the tree of links. Angles are measured from the rest pose, about the bone's own axes."""

    part: EnumProperty(
        name="Part", description="What the bone is to the simulation",
        items=(
            ("LINK", "Link", "A rigid link of its own, with a joint to its parent"),
            ("MERGED", "Merged", "Rigid with its parent link, to which it brings its mass"),
            ("IGNORED", "Ignored", "Not simulated and without mass: a control or a helper")),
        default="IGNORED", **SETTING)
    mass: FloatProperty(
        name="Mass",
        description="Mass of what moves with this bone, in kilograms",
        min=0.0, soft_max=100.0, default=0.0,
        precision=4, **SETTING)
    radius: FloatProperty(
        name="Radius",
        description="Radius of the capsule that stands for the bone",
        subtype="DISTANCE", min=0.0, default=0.0,
        precision=4, **SETTING)
    joint: EnumProperty(
        name="Joint", description="How the bone can move against its parent",
        items=(
            ("FIXED", "Fixed", "Not at all"),
            ("HINGE", "Hinge", "Turn about one axis, like an elbow or a knee"),
            ("BALL", "Ball", "Turn about every axis, like a shoulder or a hip")),
        default="BALL", **SETTING)
    axis: FloatVectorProperty(
        name="Hinge Axis", description="Direction of the hinge in the axes of the bone at rest; Y runs along the bone",
        subtype="XYZ", size=3, soft_min=-1.0, soft_max=1.0, default=(1.0, 0.0, 0.0), **SETTING)
    use_limits: BoolProperty(
        name="Limits", description="The joint turns only within its range", default=False, **SETTING)
    hinge_lower: angle("Hinge Lower", "How far the hinge can turn backwards", -180)
    hinge_upper: angle("Hinge Upper", "How far the hinge can turn forwards", 180)
    swing_x_lower: angle("Swing X Lower", "How far a ball joint can swing backwards about the bone's X axis", -180)
    swing_x_upper: angle("Swing X Upper", "How far a ball joint can swing forwards about the bone's X axis", 180)
    swing_z_lower: angle("Swing Z Lower", "How far a ball joint can swing backwards about the bone's Z axis", -180)
    swing_z_upper: angle("Swing Z Upper", "How far a ball joint can swing forwards about the bone's Z axis", 180)
    twist_lower: angle("Twist Lower", "How far a ball joint can twist backwards about the bone's length", -180)
    twist_upper: angle("Twist Upper", "How far a ball joint can twist forwards about the bone's length", 180)
    guess: StringProperty(
        name="Guess",
        description="What set-up guessed for the bone, to tell it from what was changed by hand",
        **STORED)


class TrapezeMuscle(PropertyGroup):
    """What acts in the joint of a bone."""

    mode: EnumProperty(
        name="Muscle", description="What acts in the joint",
        items=(
            ("LIMP", "Limp", "Nothing: the limb hangs"),
            ("DRIVEN", "Driven", "A torque towards the keyed pose, with the strength given"),
            ("KEYED", "Keyed", "The joint moves exactly as keyed, whatever torque that takes")),
        default="LIMP", **SETTING)
    strength: FloatProperty(
        name="Strength",
        description="How fast the joint returns to the keyed pose: its natural frequency in hertz",
        min=0.0, soft_max=50.0, default=5.0, **SETTING)
    damping_ratio: FloatProperty(
        name="Damping Ratio",
        description="1 returns without overshooting, less swings about the keyed pose, more is sluggish",
        min=0.0, soft_max=2.0, default=1.0, **SETTING)
    torque_limit: FloatProperty(
        name="Torque Limit", description="The muscle never pulls harder than this, in newton metres; 0 has no limit",
        min=0.0, soft_max=1000.0, default=0.0, precision=1, **SETTING)
    use_feed_forward: BoolProperty(
        name="Feed Forward",
        description="Add the torque that the keyed motion itself would take",
        default=True, **SETTING)
    virtual_inertia: FloatProperty(
        name="Virtual Inertia", description="Inertia added to the joint, in kilogram square metres",
        min=0.0, soft_max=10.0, default=0.0, precision=4, **SETTING)
    viscous_friction: FloatProperty(
        name="Viscous Friction",
        description="Torque against the motion in proportion to its speed, in newton metre seconds per radian",
        min=0.0, soft_max=100.0, default=0.0, precision=3, **SETTING)
    coulomb_friction: FloatProperty(
        name="Coulomb Friction", description="Torque against the motion at any speed, in newton metres",
        min=0.0, soft_max=100.0, default=0.0, precision=3, **SETTING)
    gravity_compensation: FloatProperty(
        name="Gravity Compensation", description="Share of the weight beyond the joint that is carried for it",
        subtype="FACTOR", min=0.0, max=1.0, default=0.0, **SETTING)


class TrapezeBone(PropertyGroup):
    link: PointerProperty(type=TrapezeLink, **SETTING)
    muscle: PointerProperty(type=TrapezeMuscle, **SETTING)


class TrapezeScene(PropertyGroup):
    """How the scene is simulated, and what is drawn."""

    use_scene_range: BoolProperty(
        name="Scene Range", description="Simulate from the first to the last frame of the scene", default=True)
    frame_start: IntProperty(
        name="Start",
        description="Frame at which physics takes over",
        min=-1048574, max=1048574, default=1, subtype="TIME")
    frame_end: IntProperty(
        name="End", description="Last frame that is simulated", min=-1048574, max=1048574, default=250, subtype="TIME")
    substeps: IntProperty(
        name="Substeps", description="Steps of the simulation in one frame", min=1, soft_max=100, max=10000, default=10)
    integrator: EnumProperty(
        name="Integrator", description="How the simulation steps through time",
        items=(
            ("MIDPOINT", "Midpoint", "Keeps energy and momentum well and takes strong muscles: for nearly everything"),
            ("RKMK4", "Runge-Kutta", "Fourth order: the most exact, for limp figures and small steps"),
            ("SEMI_IMPLICIT", "Semi-implicit", "First order and fastest: for a first look"),
            ("EULER", "Euler", "First order, for comparison")),
        default="MIDPOINT")
    use_source_velocity: BoolProperty(
        name="Initial Velocity", description="Start with the velocity that the source motion has at the start frame",
        default=True)
    keep_failed: BoolProperty(
        name="Keep Failed Runs",
        description="Keep the frames before the failure when a simulation fails",
        default=False)
    use_reduction: BoolProperty(
        name="Thin Out Keys",
        description="Apply with as few keys as the tolerances allow, instead of one on every frame",
        default=True)
    tolerance_angle: FloatProperty(
        name="Angle", description="How far a rotation may differ after thinning out keys", subtype="ANGLE", min=0.0,
        soft_max=radians(5.0), default=radians(0.2))
    tolerance_distance: FloatProperty(
        name="Distance (mm)",
        description="How far a position may differ after thinning out keys, in millimetres",
        min=0.0,
        soft_max=100.0, default=1.0)
    show_overlay: BoolProperty(
        name="Overlay", description="Draw figures in the viewport", default=True)
    show_links: BoolProperty(
        name="Links", description="Draw the capsules that stand for the links", default=True)
    show_joints: BoolProperty(
        name="Joints",
        description="Draw joints: rings for a ball, a bar along the axis of a hinge, a cross for fixed",
        default=True)
    show_centres: BoolProperty(
        name="Centres of Mass",
        description="Draw the centre of mass of each link and of the whole figure",
        default=True)
    grip_index: IntProperty(
        name="Grip", description="The grip chosen in the list", default=-1, options={"HIDDEN"})


classes = (
    TrapezeFigure, TrapezeProp, TrapezeGrip, TrapezeObject, TrapezeLink, TrapezeMuscle, TrapezeBone, TrapezeScene)


def register():
    for cls in classes:
        bpy.utils.register_class(cls)
    bpy.types.Object.trapeze = PointerProperty(name="Trapeze", type=TrapezeObject, **SETTING)
    bpy.types.PoseBone.trapeze = PointerProperty(name="Trapeze", type=TrapezeBone, **SETTING)
    bpy.types.Scene.trapeze = PointerProperty(name="Trapeze", type=TrapezeScene)


def unregister():
    del bpy.types.Scene.trapeze
    del bpy.types.PoseBone.trapeze
    del bpy.types.Object.trapeze
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
