# SPDX-License-Identifier: GPL-3.0-or-later
"""What a skeleton is guessed to be: a human, a four-legged animal or some creature, and what each bone is in it."""

from functools import cached_property

import numpy as np

from .anatomy import Anatomy
from .anthropometry import LEGS, QUADRUPED, TRUNK_RADIUS, human_mass, human_parts, spread
from .shapes import capsule_volume
from .skeleton import Skeleton, uniform_scale
from .skins import skin_shapes

DENSITY = 1050.0  # kilograms per cubic metre of flesh and bone
SLENDER = {"pelvis": 0.3, "spine": 0.3, "head": 0.3, "neck": 0.2, "": 0.1}  # radius of a bone in parts of its length
SMALL = {"finger", "toe", "face", "flesh"}
TINY = 0.002, 0.02  # an unknown branch lighter than these parts of the figure and of what it hangs on moves with that
SHORT = 0.1  # a spine bone shorter than this part of the others moves with the one below
ANKLE = 0.04  # height of the ankle in parts of the body's


class Body:
    """An armature at rest, read for guessing. Lists run over the bones of the armature, in Blender's order."""

    def __init__(self, owner, scene, proportions="AVERAGE", shape="AUTO"):
        self.owner = owner
        self.skeleton = Skeleton(owner)
        self.proportions = proportions
        self.metre = uniform_scale(owner, owner.matrix_world) * scene.unit_settings.scale_length  # of one unit at rest
        deform = self.skeleton.deform
        self._look(deform if deform.any() else np.ones(len(deform), dtype=bool))
        self._look(self.taking & ~self._aside())
        self.ends = self.skeleton.ends(self.parents)
        self.segments = self.ends - self.skeleton.heads
        self.lengths = np.maximum(np.linalg.norm(self.segments, axis=1), 1e-6 * self.skeleton.size)
        self.skins = skin_shapes(self.skeleton, self.ends) if shape == "AUTO" else {}
        self.kind = self._kind()
        self.parts = self._parts()
        self.shares = self._shares()

    def _look(self, taking):
        """Who hangs on whom among the bones that take part, and what they are."""
        self.taking = taking
        self.parents = self.skeleton.tree(taking)
        names = [name if takes else "" for name, takes in zip(self.skeleton.names, taking)]
        self.anatomy = Anatomy(names, self.parents)

    def _aside(self):
        """What is no part of the body: controls, end points, and what carries the whole rig."""
        anatomy, skeleton = self.anatomy, self.skeleton
        aside = np.array([name.part in ("control", "end") for name in anatomy.parts])
        pelvis = anatomy.first("pelvis", "")
        aside[list(anatomy.ancestors(pelvis)) if pelvis >= 0 else []] = True
        for bone in anatomy.named("root"):
            # A root that belongs to the body touches what hangs on it.
            heads = skeleton.heads[anatomy.children[bone] or [bone]]
            if np.linalg.norm(heads - skeleton.tails[bone], axis=1).min() > 0.1 * skeleton.lengths[bone]:
                aside[bone] = True
        return aside

    def _kind(self):
        if self.frame is None or self.anatomy.first("upper_arm") < 0:
            return "creature"
        leg = self.skeleton.heads[self.anatomy.first("shin")] - self.skeleton.heads[self.anatomy.first("thigh")]
        return "human" if leg @ self.frame[1] < -0.7 * np.linalg.norm(leg) else "quadruped"

    @cached_property
    def frame(self):
        """Directions left, along the spine, and out of the chest, in armature space; None if they cannot be told."""
        anatomy, heads = self.anatomy, self.skeleton.heads
        left, right = anatomy.first("thigh", "L"), anatomy.first("thigh", "R")
        tops = anatomy.named("neck") or anatomy.named("head") or anatomy.named("clavicle") or anatomy.named("spine")
        if min(left, right, anatomy.first("shin"), anatomy.first("pelvis", "")) < 0 or not tops:
            return None
        up = _unit(heads[min(tops, key=anatomy.depth)] - 0.5 * (heads[left] + heads[right]))
        across = heads[left] - heads[right]
        across = _unit(across - up * (across @ up))
        return across, up, np.cross(across, up)

    @cached_property
    def height(self):
        """Height of a human, standing upright with its legs together; else the largest extent. In metres."""
        points = np.concatenate([self.skeleton.heads[self.taking], self.ends[self.taking]])
        if self.kind != "human":
            return float(np.ptp(points, axis=0).max() * self.metre) if len(points) else 0.0
        thigh, shin = self.anatomy.first("thigh"), self.anatomy.first("shin")
        knee, hip = self.skeleton.heads[shin], self.skeleton.heads[thigh]
        feet = self.anatomy.named("foot", self.anatomy[shin].side)
        foot = self.skeleton.heads[feet[0]] if feet else self.ends[shin]
        legs = np.linalg.norm(knee - hip) + np.linalg.norm(foot - knee)
        above = (points @ self.frame[1]).max() - hip @ self.frame[1]
        # Head bones may be short and legs may be anything: the truth is taken half way.
        return float(0.5 * ((above + legs) / (1.0 - ANKLE) + legs / LEGS) * self.metre)

    @cached_property
    def mass(self):
        """Kilograms of the whole body, guessed from its size."""
        if self.kind == "human":
            return human_mass(self.height)
        if self.kind == "quadruped" and not self.skins:
            left, right = self.anatomy.first("thigh", "L"), self.anatomy.first("upper_arm")
            trunk = abs((self.skeleton.heads[left] - self.skeleton.heads[right]) @ self.frame[1]) * self.metre
            part = (QUADRUPED["spine"] + QUADRUPED["pelvis"]) / 100.0
            return DENSITY * np.pi * TRUNK_RADIUS**2 * trunk**3 / part
        return max(DENSITY * float(self.volumes.sum()), 1e-6)

    @cached_property
    def volumes(self):
        """Cubic metres of each bone: of its skin, or of a capsule with a thickness between its own and the typical."""
        volumes = np.zeros(len(self.lengths))
        typical = float(np.mean(self.lengths[self.taking])) if self.taking.any() else 1.0
        for bone in np.flatnonzero(self.taking):
            if bone in self.skins:
                volumes[bone] = self.skins[bone].volume
            else:
                length = self.lengths[bone]
                radius = SLENDER.get(self.anatomy[bone].part, SLENDER[""]) * np.sqrt(length * typical)
                volumes[bone] = capsule_volume(length, min(radius, 0.5 * length))
        return volumes * self.metre**3

    def _parts(self):
        """LINK, MERGED or IGNORED for each bone."""
        parts = ["IGNORED"] * len(self.taking)
        for bone in sorted(np.flatnonzero(self.taking), key=self.anatomy.depth):
            parts[bone] = "MERGED" if self.parents[bone] >= 0 and self._merges(bone, parts) else "LINK"
        return parts

    def _merges(self, bone, parts):
        anatomy, part = self.anatomy, self.anatomy[bone].part
        if anatomy.continues(bone) or part == "pelvis":
            return True
        if part in SMALL:
            return bool(anatomy.named("spine") or anatomy.named("pelvis"))
        if part == "spine":
            return self.lengths[bone] < SHORT * self.lengths[anatomy.named("spine")].mean()
        if part:
            return False
        parent = self.parents[bone]
        while parts[parent] == "MERGED":
            parent = self.parents[parent]
        branch = self.volumes[bone] + sum(self.volumes[other] for other in anatomy.descendants(bone))
        whole = self.mass / DENSITY
        held = self.volumes[parent] if self.kind == "creature" else max(self.volumes[parent], 0.05 * whole)
        return branch < TINY[0] * whole and branch < TINY[1] * held

    def _shares(self):
        """Share of the total mass for each bone: by tables for what is known, by volume for what is not."""
        shares = self.volumes * DENSITY / max(self.mass, 1e-12)
        if self.kind != "creature":
            table = human_parts(self.proportions) if self.kind == "human" else QUADRUPED
            named = [(name.part, name.side, length) for name, length in zip(self.anatomy.parts, self.lengths)]
            known = np.array([part in table or part in SMALL for part, _, _ in named])
            shares = np.where(known, spread(named, table), shares)
        total = shares.sum()
        return shares / total if total > 0.0 else shares


def _unit(vector):
    return vector / max(np.linalg.norm(vector), 1e-12)
