# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .blend file remembers: settings of figures, bones, props, grips and of the solver. No logic.

`Object.trapeze` and `Scene.trapeze` are property groups. The settings of a bone sit on the pose bone,
`trapeze_mass` and so on: Blender can key values in a property group of an object, not of a bone, and edit several
bones at once only so.

Masses are kilograms whatever the scene's unit scale: Blender's own mass unit would scale them with its cube. Angles
are radians in the file and degrees on the screen.
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

OVERRIDE = {"override": {"LIBRARY_OVERRIDABLE"}}  # a library override of a rig keeps its own settings


def number(name, description, default, low=0.0, **more):
    return FloatProperty(name=name, description=description, default=default, min=low, **more, **OVERRIDE)


def angle(name, description, degrees):
    return FloatProperty(
        name=name, description=description, subtype="ANGLE", min=-pi, max=pi, default=radians(degrees), **OVERRIDE)


def choice(name, description, *items, **more):
    return EnumProperty(name=name, description=description, items=items, default=items[0][0], **more, **OVERRIDE)


def switch(name, description, default):
    return BoolProperty(name=name, description=description, default=default, **OVERRIDE)


def text(name, description, **more):
    return StringProperty(name=name, description=description, **more, **OVERRIDE)


def pointer(type, name, description):
    return PointerProperty(type=type, name=name, description=description, **OVERRIDE)


def field_weight():
    return number(
        "Field Weight",
        "How much of Blender's force fields is felt. A strength of 9.81 pushes as hard as gravity pulls, spread over "
        "the bones by the surface of their capsules", 1.0, soft_max=2.0, subtype="FACTOR")


def spread_mass(figure, context):
    from .rig.figure import spread_mass
    spread_mass(figure.id_data)


class Playing:
    """The two motions of a figure or prop, and which one plays."""

    showing: choice(
        "Showing", "Which motion plays",
        ("SOURCE", "Source", "The motion you keyed, which is never written to"),
        ("RESULT", "Result", "The motion of the last simulation"))
    source: pointer(bpy.types.Action, "Source", "The action with the motion you keyed")
    result: pointer(bpy.types.Action, "Result", "The action that simulating writes")
    source_slot: text("Source Slot", "Which slot of the source action moves the object", options={"HIDDEN"})
    result_slot: text("Result Slot", "Which slot of the result action moves the object", options={"HIDDEN"})


class TrapezeFigure(Playing, PropertyGroup):
    """One character, on its armature object."""

    mass: number(
        "Mass (kg)", "Mass of the whole body in kilograms; spread over the bones whose mass was not set by hand",
        70.0, low=1e-6, soft_min=0.1, soft_max=500.0, precision=2, update=spread_mass)
    body: choice(
        "Body", "Whose measurements say how the mass is spread over the parts of a human figure",
        ("AVERAGE", "Average", "The mean of the female and the male body"),
        ("FEMALE", "Female", "Mean of young women"),
        ("MALE", "Male", "Mean of young men"))
    shape: choice(
        "Shape", "What set-up takes the shape of the links from",
        ("AUTO", "Automatic", "The skinned mesh where one follows the bone, a capsule elsewhere"),
        ("CAPSULE", "Capsules", "A capsule along each bone"))
    root: choice(
        "Root", "What moves the root of the figure",
        ("FREE", "Free", "Gravity, momentum and grips alone move the body through space"),
        ("DRIVEN", "Driven", "A force pulls the root towards its keys, with the strength given"),
        ("KEYED", "Keyed", "The root moves exactly as keyed"))
    root_strength: number(
        "Root Strength", "How fast a driven root returns to its keys: its natural frequency in hertz",
        5.0, soft_max=50.0)
    strength: number(
        "Strength", "Multiplies the strength of every muscle of the figure; 0 makes it limp",
        1.0, soft_max=2.0, subtype="FACTOR")
    use_limits: switch("Joint Limits", "Joints stop at the limits of their bones", False)
    field_weight: field_weight()
    guess: text("Guess", "What set-up guessed, to tell it from what was changed by hand", options={"HIDDEN"})


class TrapezeProp(Playing, PropertyGroup):
    """An object that figures can hold, on any object."""

    motion: choice(
        "Motion", "What moves the object during a simulation",
        ("STATIC", "Static", "It stays where it is"),
        ("ANIMATED", "Animated", "It moves as keyed, and takes along what holds on to it"),
        ("DYNAMIC", "Dynamic", "Gravity, momentum and grips move it"))
    use_volume: switch("Mass from Volume", "Take the mass from the volume of the mesh and the density", True)
    density: number(
        "Density (kg/m³)", "Kilograms per cubic metre: wood 700, water 1000, steel 7850",
        700.0, low=1e-3, soft_min=10.0, soft_max=10000.0, precision=1)
    mass: number("Mass (kg)", "Mass of the object in kilograms", 10.0, low=1e-6, soft_max=1000.0, precision=3)
    field_weight: field_weight()


class TrapezeGrip(PropertyGroup):
    """A joint that takes hold and lets go, on an Empty whose arrows are the joint's axes."""

    active: switch("Active", "The grip holds. Key it: on to grab, off to release", True)
    first_object: pointer(bpy.types.Object, "First", "What takes hold: a figure or a prop")
    first_bone: text("First Bone", "The bone that takes hold, if the first object is a figure")
    second_object: pointer(bpy.types.Object, "Second", "What is held: a figure, a prop, or any other object")
    second_bone: text("Second Bone", "The bone that is held, if the second object is a figure")
    use_world: switch("World", "Hold on to the place itself instead of an object", False)
    joint: choice(
        "Joint", "How the two ends can still move against each other",
        ("BALL", "Ball", "Turn about every axis"),
        ("FIXED", "Fixed", "Not at all"),
        ("HINGE", "Hinge", "Turn about the Z axis of the grip"),
        ("SLIDER", "Slider", "Slide along the Z axis of the grip"),
        ("CYLINDER", "Cylinder", "Turn about the Z axis of the grip and slide along it, as a hand around a bar"),
        ("PLANE", "Plane", "Slide and turn in the XY plane of the grip, as a foot on ice"))
    hold: choice(
        "Hold", "How firmly the two ends are held together",
        ("HARD", "Hard", "Exactly"),
        ("SOFT", "Soft", "By a spring and a damper"))
    stiffness: number(
        "Stiffness (N/m)", "Force of the spring of a soft grip, in newtons per metre",
        10000.0, soft_max=100000.0, precision=1)
    damping: number(
        "Damping (N s/m)", "Force of the damper of a soft grip, in newtons per metre per second",
        100.0, soft_max=10000.0, precision=1)
    break_force: number(
        "Break Force (N)", "The grip lets go when it has to hold more than this, in newtons; 0 never lets go",
        0.0, soft_max=5000.0, precision=1)
    close_frames: number(
        "Close Over", "Pull the two ends together over this many frames; 0 keeps them as far apart as they are",
        0.0, soft_max=24.0, precision=1)
    use_travel: switch("Limit Travel", "A slider or cylinder lets go when it slides out of its range", False)
    travel_lower: number(
        "Travel Lower", "How far back the grip can slide along its Z axis", -1.0, low=-1e6, subtype="DISTANCE")
    travel_upper: number(
        "Travel Upper", "How far the grip can slide along its Z axis", 1.0, low=-1e6, subtype="DISTANCE")


class TrapezePush(PropertyGroup):
    """An impulse at a frame, on an Empty whose arrow is its direction and whose place is where it strikes."""

    target: pointer(bpy.types.Object, "Object", "What is pushed: a figure or a dynamic prop")
    bone: text("Bone", "The bone that is pushed, if the object is a figure")
    frame: FloatProperty(
        name="Frame", description="When it strikes", step=100, precision=1, min=-1048574.0, max=1048574.0, default=1.0,
        **OVERRIDE)
    strength: number(
        "Strength (N s)",
        "Impulse in newton seconds: 70 set a body of 70 kilograms in motion with one metre per second",
        30.0, soft_max=500.0, precision=1)


class TrapezeObject(PropertyGroup):
    role: choice(
        "Role", "What the object is to Trapeze",
        ("NONE", "None", "Nothing; a grip can still hold it where it is"),
        ("FIGURE", "Figure", "A character made of links"),
        ("PROP", "Prop", "A thing that figures can hold"),
        ("GRIP", "Grip", "A joint that takes hold and lets go"),
        ("PUSH", "Push", "An impulse at a frame"), options={"HIDDEN"})
    figure: PointerProperty(type=TrapezeFigure, **OVERRIDE)
    prop: PointerProperty(type=TrapezeProp, **OVERRIDE)
    grip: PointerProperty(type=TrapezeGrip, **OVERRIDE)
    push: PointerProperty(type=TrapezePush, **OVERRIDE)


# On the pose bone, each with the prefix "trapeze_". Angles are measured from the rest pose, about the bone's own axes.
BONE = {
    "part": choice(
        "Part", "What the bone is to the simulation",
        ("IGNORED", "Ignored", "Not simulated and without mass: a control or a helper"),
        ("LINK", "Link", "A rigid link of its own, with a joint to its parent"),
        ("MERGED", "Merged", "Rigid with its parent link, to which it brings its mass")),
    "mass": number("Mass (kg)", "Mass of what moves with this bone, in kilograms", 0.0, soft_max=100.0, precision=4),
    "shape": choice(
        "Shape", "What spreads the mass of the bone",
        ("CAPSULE", "Capsule", "A capsule along the bone"),
        ("MESH", "Skinned Mesh", "The part of the skinned mesh that follows the bone, as it was at set-up")),
    "radius": number("Radius", "Radius of the capsule that stands for the bone", 0.0, subtype="DISTANCE", precision=4),
    "centre": FloatVectorProperty(
        name="Centre of Mass", description="Where the mass of the bone is centred, in its own axes from its head",
        subtype="XYZ", unit="LENGTH", size=3, precision=4, **OVERRIDE),
    "spread": FloatVectorProperty(
        name="Spread", description="Second moments of the mesh about the centre of mass: XX, YY, ZZ, XY, XZ, YZ",
        size=6, options={"HIDDEN"}, **OVERRIDE),
    "joint": choice(
        "Joint", "How the bone can move against its parent",
        ("BALL", "Ball", "Turn about every axis, like a shoulder or a hip"),
        ("HINGE", "Hinge", "Turn about one axis, like an elbow or a knee"),
        ("FIXED", "Fixed", "Not at all")),
    "axis": FloatVectorProperty(
        name="Hinge Axis",
        description="Direction of the hinge in the bone's own axes; Y runs along the bone, which is for twist bones",
        subtype="XYZ", size=3, soft_min=-1.0, soft_max=1.0, default=(1.0, 0.0, 0.0), **OVERRIDE),
    "follows": text(
        "Follows", "The hinge turns with that of another bone, whatever acts: for twist bones, fingers and linkages",
        options=set()),
    "follow_factor": number(
        "Factor", "How far the hinge turns for each degree of the bone it follows; negative turns it the other way",
        1.0, low=-1000.0, soft_min=-2.0, soft_max=2.0, options=set()),
    "follow_offset": FloatProperty(
        name="Offset", description="Angle that is added, measured from the rest pose",
        subtype="ANGLE", min=-2.0 * pi, max=2.0 * pi, default=0.0, options=set(), **OVERRIDE),
    "use_limits": switch("Limits", "The joint turns only within its range", False),
    "hinge_lower": angle("Hinge Lower", "How far the hinge can turn backwards", -180),
    "hinge_upper": angle("Hinge Upper", "How far the hinge can turn forwards", 180),
    "swing_x_lower": angle("Swing X Lower", "How far a ball joint can swing backwards about the bone's X axis", -180),
    "swing_x_upper": angle("Swing X Upper", "How far a ball joint can swing forwards about the bone's X axis", 180),
    "swing_z_lower": angle("Swing Z Lower", "How far a ball joint can swing backwards about the bone's Z axis", -180),
    "swing_z_upper": angle("Swing Z Upper", "How far a ball joint can swing forwards about the bone's Z axis", 180),
    "twist_lower": angle("Twist Lower", "How far a ball joint can twist backwards about the bone's length", -180),
    "twist_upper": angle("Twist Upper", "How far a ball joint can twist forwards about the bone's length", 180),
    "guess": text("Guess", "What set-up guessed, to tell it from what was changed by hand", options={"HIDDEN"}),
    "muscle": choice(
        "Muscle", "What acts in the joint",
        ("LIMP", "Limp", "Nothing: the limb hangs"),
        ("DRIVEN", "Driven", "A torque towards the keyed pose, with the strength given"),
        ("KEYED", "Keyed", "The joint moves exactly as keyed, whatever torque that takes")),
    "strength": number(
        "Strength", "How fast the joint returns to the keyed pose: its natural frequency in hertz", 5.0, soft_max=50.0),
    "damping_ratio": number(
        "Damping Ratio", "1 returns without overshooting, less swings about the keyed pose, more is sluggish",
        1.0, soft_max=2.0),
    "torque_limit": number(
        "Torque Limit (N m)", "The muscle never pulls harder than this, in newton metres; 0 has no limit",
        0.0, soft_max=1000.0, precision=1),
    "use_feed_forward": switch(
        "Feed Forward",
        "Add the torque that the keyed motion takes, so that the joint follows without lag; "
        "computed by inverse dynamics of the source motion", False),
    "virtual_inertia": number(
        "Virtual Inertia (kg m²)", "Inertia added to the joint, in kilogram square metres",
        0.0, soft_max=10.0, precision=4),
    "viscous_friction": number(
        "Viscous Friction (N m s)",
        "Torque against the motion in proportion to its speed, in newton metre seconds per radian",
        0.0, soft_max=100.0, precision=3),
    "coulomb_friction": number(
        "Coulomb Friction (N m)", "Torque against the motion at any speed, in newton metres",
        0.0, soft_max=100.0, precision=3),
    "gravity_compensation": number(
        "Gravity Compensation", "Share of the weight beyond the joint that is carried for it",
        0.0, max=1.0, subtype="FACTOR"),
}


class TrapezeScene(PropertyGroup):
    """How the scene is simulated, and what is drawn."""

    use_scene_range: switch("Scene Range", "Simulate from the first to the last frame of the scene", True)
    frame_start: IntProperty(
        name="Start", description="Frame at which physics takes over", min=-1048574, max=1048574, default=1)
    frame_end: IntProperty(
        name="End", description="Last frame that is simulated", min=-1048574, max=1048574, default=250)
    substeps: IntProperty(
        name="Substeps", description="Steps of the simulation in one frame", min=1, soft_max=100, max=10000, default=10)
    integrator: choice(
        "Integrator", "How the simulation steps through time",
        ("MIDPOINT", "Midpoint", "Keeps energy and momentum well and takes strong muscles: for nearly everything"),
        ("RKMK4", "Runge-Kutta", "Fourth order: the most exact, for limp figures and small steps"),
        ("SEMI_IMPLICIT", "Semi-implicit", "First order and fastest: for a first look"),
        ("EULER", "Euler", "First order, for comparison"))
    use_source_velocity: switch(
        "Initial Velocity", "Start with the velocity that the source motion has at the start frame", True)
    use_stored: switch(
        "Continue", "Start from the result of the last simulation as it is at the start frame, instead of the source",
        False)
    keep_failed: switch(
        "Keep Failed Runs", "Keep the frames before the failure when a simulation fails", False)
    use_reduction: switch(
        "Thin Out Keys", "Apply with as few keys as the tolerances allow, instead of one on every frame", True)
    tolerance_angle: number(
        "Angle", "How far a rotation may differ after thinning out keys", radians(0.2), subtype="ANGLE",
        soft_max=radians(5.0))
    tolerance_distance: number(
        "Distance (mm)", "How far a position may differ after thinning out keys, in millimetres", 1.0, soft_max=100.0)
    show_overlay: switch("Overlay", "Draw figures in the viewport", True)
    show_links: switch("Links", "Draw the capsules that stand for the links", True)
    show_joints: switch(
        "Joints", "Draw joints: rings for a ball, a bar along the axis of a hinge, a cross for fixed", True)
    show_centres: switch("Centres of Mass", "Draw the centre of mass of each link and of the whole figure", True)
    show_pushes: switch("Pushes", "Draw what pushes strike, with their strength and frame", True)
    grip_index: IntProperty(name="Grip", description="The grip chosen in the list", default=-1, options={"HIDDEN"})
    push_index: IntProperty(name="Push", description="The push chosen in the list", default=-1, options={"HIDDEN"})


classes = TrapezeFigure, TrapezeProp, TrapezeGrip, TrapezePush, TrapezeObject, TrapezeScene


def register():
    for cls in classes:
        bpy.utils.register_class(cls)
    bpy.types.Object.trapeze = PointerProperty(name="Trapeze", type=TrapezeObject, **OVERRIDE)
    bpy.types.Scene.trapeze = PointerProperty(name="Trapeze", type=TrapezeScene)
    for name, setting in BONE.items():
        setattr(bpy.types.PoseBone, f"trapeze_{name}", setting)


def unregister():
    for name in BONE:
        delattr(bpy.types.PoseBone, f"trapeze_{name}")
    del bpy.types.Scene.trapeze
    del bpy.types.Object.trapeze
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
