# SPDX-License-Identifier: GPL-3.0-or-later
"""What every bone of a skeleton is, from the names and from who hangs on whom.

Names alone leave questions. Rigify calls everything from the pelvis to the head `spine`; `LeftShoulder` is a
collarbone on one skeleton and an upper arm on another; MakeHuman's `root` is the pelvis, Unreal's lies on the
floor. The tree answers them. Plain Python: bones are numbers, `parents[i]` is the number of the parent of bone i,
or -1.
"""

from collections import defaultdict

from .names import Name, recognise

SEGMENTS = {"clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "pelvis", "head"}
ATTACHED = {"finger": "hand", "toe": "foot"}


class Anatomy:
    """The part, side and twist of every bone; bones with an empty name take no part."""

    def __init__(self, names, parents):
        self.parents = parents
        self.parts = [recognise(name) for name in names]
        self.children = defaultdict(list)
        for bone, parent in enumerate(parents):
            self.children[parent].append(bone)
        self._settle_arms_and_legs()
        self._settle_pelvis()
        self._settle_spine()
        self._settle_digits()

    def named(self, part, side=None):
        """The bones that are the given part, parents before children where they are in one chain."""
        return [
            bone for bone, name in enumerate(self.parts)
            if name.part == part and side in (None, name.side) and not name.twist]

    def ancestors(self, bone):
        bone = self.parents[bone]
        while bone >= 0:
            yield bone
            bone = self.parents[bone]

    def depth(self, bone):
        return sum(1 for _ in self.ancestors(bone))

    def descendants(self, bone):
        waiting = list(self.children[bone])
        while waiting:
            one = waiting.pop()
            yield one
            waiting += self.children[one]

    def continues(self, bone):
        """Whether the bone is a further piece of the segment that its parent belongs to: a twist, or a split thigh."""
        name, parent = self.parts[bone], self.parents[bone]
        if parent < 0:
            return False
        return name.twist or name.part in SEGMENTS and name.part == self.parts[parent].part

    def first(self, part, side=None):
        """The first bone of a segment, or -1."""
        return next((bone for bone in self.named(part, side) if not self.continues(bone)), -1)

    def _sides(self, bones):
        return {self.parts[bone].side for bone in bones}

    def _become(self, bone, part):
        self.parts[bone] = self.parts[bone]._replace(part=part)

    def _settle_arms_and_legs(self):
        for side in ("L", "R", ""):
            limbs = {part: self.named(part, side) for part in ("shoulder", "arm", "leg", "hip")}
            for bone in limbs["arm"]:
                self._become(bone, "upper_arm")
            collar = bool(self.named("clavicle", side))
            follows = bool(self.named("upper_arm", side)) or not collar and not self.named("forearm", side)
            for bone in limbs["shoulder"]:
                self._become(bone, "clavicle" if follows else "upper_arm")
            thigh = bool(self.named("thigh", side))
            for bone in limbs["leg"]:
                self._become(bone, "shin" if thigh else "thigh")
            thigh = bool(self.named("thigh", side))
            for bone in limbs["hip"]:
                self._become(bone, "pelvis" if thigh else "thigh")

    def _settle_pelvis(self):
        """The pelvis carries the legs. Rigify's is the lowest of the spine, MakeHuman's the root, Unreal's is named."""
        legs = set(self.named("thigh"))
        central = self.named("pelvis", "")
        carrying = [bone for bone in range(len(self.parts)) if legs & set(self.descendants(bone))]
        named = [bone for bone in central if bone in carrying]
        spine = [bone for bone in self.named("spine") + self.named("trunk") if bone in carrying]
        both = [bone for bone in carrying if len(self._sides(legs & set(self.descendants(bone)))) > 1]
        if named or spine:
            pelvis = min(named or spine, key=self.depth)
        elif both:
            pelvis = max(both, key=self.depth)
        else:
            return
        self._become(pelvis, "pelvis")
        for bone in central:
            if bone != pelvis:
                self._become(bone, "flesh")

    def _settle_spine(self):
        """The spine runs from the pelvis to where the arms hang; above are neck and head, the rest is a tail."""
        spine = set(self.named("spine") + self.named("trunk"))
        arms = self.named("clavicle") + self.named("upper_arm")
        below = {bone for arm in arms + self.named("neck") for bone in self.ancestors(arm)}
        path = spine & below
        if not path:
            for bone in spine:
                self._become(bone, "spine")
            return
        pelvis = self.first("pelvis", "")
        tops = {next((bone for bone in self.ancestors(arm) if bone in path), -1) for arm in arms} - {-1}
        top = max(tops, key=self.depth, default=-1)
        above = [bone for bone in self.descendants(top) if bone in spine] if top >= 0 else []
        for bone in spine:
            if bone in path:
                self._become(bone, "spine")
            elif bone in above and self.parts[bone].part == "spine":
                ends = not any(child in spine for child in self.children[bone])
                self._become(bone, "head" if ends and not self.named("head") else "neck")
            elif self.parts[bone].part == "spine" and (pelvis < 0 or pelvis in self.ancestors(bone)):
                self._become(bone, "tail")
            else:
                self._become(bone, "flesh")

    def _settle_digits(self):
        """Rigify's rear paws have palms, and its front legs toes: a digit belongs to the limb that it hangs on."""
        for bone, name in enumerate(self.parts):
            if name.part in ATTACHED:
                for other in self.ancestors(bone):
                    limb = self.parts[other].part
                    if limb in ("hand", "foot"):
                        self._become(bone, "finger" if limb == "hand" else "toe")
                        break

    def __getitem__(self, bone) -> Name:
        return self.parts[bone]
