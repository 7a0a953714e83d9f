# SPDX-License-Identifier: GPL-3.0-or-later
"""How the mass of a body is spread over its parts, and where in a part its centre is.

Humans: P. de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters", Journal of Biomechanics 29
(1996), table 4, in percent of body mass and in parts of segment length from the upper end. The neck, which belongs
to the head there, and collarbones, fingers and toes are set apart by rounded shares. Four-legged animals: round
numbers of the right size.
"""

from collections import defaultdict

BUILD = 22.5  # kilograms per square metre of height, for grown-ups
GROWN = 1.4, 2.1  # metres; smaller and larger bodies are scaled copies
LEGS = 0.491  # length of thigh and shin in parts of the height

FEMALE = {
    "head": 6.68, "upper_trunk": 15.45, "middle_trunk": 14.65, "lower_trunk": 12.47, "upper_arm": 2.55, "forearm": 1.38,
    "hand": 0.56, "thigh": 14.78, "shin": 4.81, "foot": 1.29}
MALE = {
    "head": 6.94, "upper_trunk": 15.96, "middle_trunk": 16.33, "lower_trunk": 11.17, "upper_arm": 2.71, "forearm": 1.62,
    "hand": 0.61, "thigh": 14.16, "shin": 4.33, "foot": 1.37}
CENTRES = {
    "FEMALE": {"upper_arm": 0.5754, "forearm": 0.4559, "thigh": 0.3612, "shin": 0.4416},
    "MALE": {"upper_arm": 0.5772, "forearm": 0.4574, "thigh": 0.4095, "shin": 0.4459}}
CENTRES["AVERAGE"] = {part: 0.5 * (CENTRES["FEMALE"][part] + CENTRES["MALE"][part]) for part in CENTRES["MALE"]}

NECK = 0.2  # of the mass of head and neck
COLLARBONE = 0.04  # of the upper trunk, each
FINGERS, TOES = 0.4, 0.15  # of hand and foot

QUADRUPED = {
    "head": 5.0, "neck": 6.5, "spine": 47.0, "pelvis": 14.0, "tail": 0.5, "clavicle": 2.5, "upper_arm": 2.5,
    "forearm": 1.2, "hand": 0.5, "finger": 0.3, "thigh": 4.5, "shin": 1.4, "foot": 0.4, "toe": 0.2}
TRUNK_RADIUS = 0.18  # of an animal's trunk, in parts of its length

# Who carries the mass of a part that the skeleton has no bone for. Nobody does for a limb that is missing altogether.
INSTEAD = {
    "finger": "hand", "hand": "forearm", "forearm": "upper_arm", "clavicle": "spine", "toe": "foot", "foot": "shin",
    "shin": "thigh", "neck": "head", "head": "spine", "spine": "pelvis", "pelvis": "spine"}
PAIRED = {"clavicle", "upper_arm", "forearm", "hand", "finger", "thigh", "shin", "foot", "toe"}


def human_mass(height):
    """Kilograms of a human figure of the given height in metres; of a doll or a giant by its volume."""
    nearest = min(max(height, GROWN[0]), GROWN[1])
    return BUILD * nearest**2 * (height / nearest) ** 3


def human_parts(body):
    """Mass of every part that a skeleton may have a bone for, in percent; of one side where there are two."""
    tables = {"FEMALE": (FEMALE,), "MALE": (MALE,), "AVERAGE": (FEMALE, MALE)}[body]
    table = {part: sum(one[part] for one in tables) / len(tables) for part in FEMALE}
    collarbone = COLLARBONE * table["upper_trunk"]
    return {
        "head": (1.0 - NECK) * table["head"],
        "neck": NECK * table["head"],
        "spine": table["upper_trunk"] - 2.0 * collarbone + table["middle_trunk"],
        "pelvis": table["lower_trunk"],
        "clavicle": collarbone,
        "upper_arm": table["upper_arm"],
        "forearm": table["forearm"],
        "hand": (1.0 - FINGERS) * table["hand"],
        "finger": FINGERS * table["hand"],
        "thigh": table["thigh"],
        "shin": table["shin"],
        "foot": (1.0 - TOES) * table["foot"],
        "toe": TOES * table["foot"]}


def spread(parts, table):
    """Share of the body's mass for every bone, adding up to one: parts are (part, side, weight) of the bones.

    Bones of one part share its mass by their weights. A part without bones hands its mass to the one it hangs on. Bones
    whose part has no mass of its own get none.
    """
    groups = defaultdict(list)
    for bone, (part, side, weight) in enumerate(parts):
        groups[_key(part, side)].append((bone, weight))
    masses = defaultdict(float)
    for part, mass in table.items():
        for side in ("L", "R") if part in PAIRED else ("",):
            masses[_holder(part, side, groups)] += mass
    masses.pop(None, None)
    shares = [0.0] * len(parts)
    for key, mass in masses.items():
        whole = sum(weight for _, weight in groups[key])
        for bone, weight in groups[key]:
            shares[bone] = mass * weight / whole
    total = sum(shares)
    return [share / total for share in shares] if total > 0.0 else shares


def _key(part, side):
    return part, side if part in PAIRED else ""


def _holder(part, side, groups):
    """The group of bones that carries the mass of a part; None if there is none."""
    seen = set()
    while part and part not in seen:
        if _key(part, side) in groups:
            return _key(part, side)
        seen.add(part)
        part = INSTEAD.get(part)
    return None
