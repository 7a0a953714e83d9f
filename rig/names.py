# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bone is, by its name: Rigify, Mixamo, Unreal, MakeHuman, CMU and their relatives.

A name is cut into words (`mixamorig:LeftUpLeg` into left, up, leg), the side is taken off, and the first rule that
matches says which part of a body it is. Some names mean different things on different skeletons: `LeftShoulder` is a
collarbone where an arm follows, `LeftLeg` a shin where a thigh comes before. These are settled by `rig/anatomy.py`,
which knows the whole tree. Plain Python: no Blender data here.
"""

import re
from typing import NamedTuple


class Name(NamedTuple):
    """What a name says: a part of the body ("" if unknown), its side ("L", "R" or ""), whether it only twists it."""

    part: str
    side: str = ""
    twist: bool = False


NAMESPACE = re.compile(r"^(.*[:|]|mixamorig\d*_|(valvebiped[._])?bip\d+[_ ]|cc_base_|character\d*_)", re.IGNORECASE)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
SIDES = {"l": "L", "left": "L", "lf": "L", "lft": "L", "r": "R", "right": "R", "rt": "R", "rgt": "R"}

CONTROLS = {
    "ik", "fk", "pole", "target", "ctrl", "control", "mch", "org", "wgt", "vis", "vb", "interaction", "attach",
    "socket", "aim", "tweak", "widget", "camera",
}
ENDS = {"end", "nub", "site", "effector"}
TWISTS = {"twist", "roll", "bulge", "muscle", "helper", "corrective"}
SMALL = {
    "toe": {"toe", "toes", "toebase", "ball", "heel", "hoof", "metatarsal"},
    "face": {
        "face", "facial", "jaw", "chin", "lip", "lips", "mouth", "teeth", "tooth", "tongue", "eye", "eyes", "eyeball",
        "brow", "eyebrow", "eyelid", "eyelids", "lid", "eyelash", "nose", "nostril", "cheek", "ear", "ears", "temple",
        "forehead", "beak", "whisker", "pupil", "levator", "oculi", "orbicularis", "oris", "risorius", "temporalis",
        "special"},
    "finger": {
        "finger", "fingers", "fingerbase", "thumb", "index", "middle", "ring", "pinky", "pinkie", "little", "palm",
        "metacarpal", "carpal", "knuckle", "claw"},
    "flesh": {
        "breast", "breasts", "boob", "bust", "butt", "buttock", "glute", "pec", "pectoral", "feather", "hair", "cloth",
        "skirt"},
}

# Looked for in this order in the words run together, so that a forearm is not taken for an arm.
LIMBS = (
    ("forearm", ("forearm", "lowerarm", "lowarm", "armlower", "elbow")),
    ("upper_arm", ("upperarm", "uparm", "upparm", "armupper", "humerus", "shldr")),
    ("clavicle", ("clavicle", "collar", "scapula")),
    ("shoulder", ("shoulder",)),
    ("hand", ("hand", "wrist", "forefoot", "forepaw")),
    ("thigh", ("thigh", "upleg", "upperleg", "legupper", "femur")),
    ("shin", ("shin", "calf", "lowerleg", "lowleg", "leglower", "knee", "tibia")),
    ("foot", ("foot", "ankle", "paw", "hock")),
)
WORDS = (
    ("arm", {"arm"}),
    ("leg", {"leg", "foreleg"}),
    ("tail", {"tail"}),
    ("pelvis", {"pelvis", "hips"}),
    ("hip", {"hip"}),
    ("neck", {"neck"}),
    ("head", {"head", "skull", "cranium"}),
    ("spine", {"spine", "vertebra", "lumbar"}),
    ("trunk", {
        "chest", "abdomen", "torso", "back", "lowerback", "waist", "belly", "body", "rib", "ribs", "ribcage",
        "thorax"}),
    ("root", {"root", "master", "reference", "origin", "cog", "armature"}),
)
CENTRAL = {"spine", "neck", "chest"}
FRONT = {"thigh": "upper_arm", "shin": "forearm", "foot": "hand", "leg": "arm"}


def words(name):
    """The words of a name in lower case, and its side."""
    found = [word.lower() for word in WORD.findall(NAMESPACE.sub("", name))]
    sided = [word for word in found if word in SIDES]
    # Rigify's rear toes are called r_toe.L: the last word is the side, the one before it is not.
    side = SIDES[sided[-1]] if sided else ""
    return [word for word in found if word not in SIDES and not word.isdigit()], side


def recognise(name):
    """What the name alone says. "shoulder", "arm", "leg", "hip" and "trunk" depend on the skeleton around them."""
    found, side = words(name)
    several = set(found)
    if several & CONTROLS:
        return Name("control", side)
    if several & ENDS:
        return Name("end", side)
    twist = bool(several & TWISTS)
    if not twist and not several & CENTRAL:
        for part, vocabulary in SMALL.items():
            if several & vocabulary:
                return Name(part, side)
    part = _limb("".join(found)) or next((part for part, vocabulary in WORDS if several & vocabulary), "")
    if several & {"front", "foreleg"}:
        part = FRONT.get(part, part)
    return Name("pelvis" if part == "hip" and not side else part, side, twist)


def _limb(together):
    return next((part for part, spellings in LIMBS if any(spelling in together for spelling in spellings)), "")
