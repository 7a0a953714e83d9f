# SPDX-License-Identifier: GPL-3.0-or-later
"""Who takes part when poses are written to an armature, and which constraints have to step back.

Four kinds of bones matter:

    written   their poses are given
    carried   they belong to a written bone but something outside holds them: constraints to bones that do not move
              along, or a parent elsewhere in the armature. They are written too, fixed to their bone as in the source
    riding    bones between those, with nothing but their own channels
    outside   the bones above all of them, which play on as in the source

All other bones are left alone: below a written bone they follow it with their own channels and constraints.
"""

from .errors import RigError


class Plan:
    """The bones that count, parents first, and the constraints to mute."""

    def __init__(self, armature, names, merged=None):
        self.armature = armature
        bones = armature.pose.bones
        missing = [name for name in names if name not in bones]
        if missing:
            raise RigError(f"{armature.name} has no bone {missing[0]}; set up the figure again")
        self.names = list(names)
        self.above = {bone.name: [parent.name for parent in bone.parent_recursive] for bone in bones}
        acting = acting_constraints(armature)
        written = set(names)
        below = {name for name, above in self.above.items() if not written.isdisjoint(above)}
        if merged is None:
            merged = {name: self.nearest(name, written) for name in below - written if bones[name].bone.use_deform}
        carried = {
            name: link for name, link in merged.items()
            if name in bones and name not in written
            and (link not in self.above[name]
                 or any(looks_outside(one, armature, written | below) for one in acting.get(name, ())))}
        for name in self.ancestors(written | set(carried)) & below - written - set(carried):
            if name in acting:
                carried[name] = self.nearest(name, written)
        self.carried = carried
        self.moved = moved = written | set(carried)
        self.riding = self.ancestors(moved) & below - moved
        self.outside = self.ancestors(moved) - below - moved
        self.held = any(name in acting for name in self.outside)  # channels alone do not explain their poses
        self.touching = {self.above[name][0] for name in moved | self.riding if self.above[name]} & self.outside
        self.muted = unique(one for name in moved for one in acting.get(name, ()))
        self.freed = {name for name in moved if name in acting}

    def order(self, stepped):
        """All bones to compute, parents first; outside bones only where they touch, if their poses are sampled."""
        names = self.moved | self.riding | (self.touching if stepped else self.outside)
        order = sorted(names, key=lambda name: (len(self.above[name]), name))
        return [self.armature.pose.bones[name] for name in order]

    def nearest(self, name, names):
        """The closest of the named bones above a bone."""
        return next((parent for parent in self.above[name] if parent in names), None)

    def ancestors(self, names):
        return {parent for name in names for parent in self.above[name]}


def unique(items):
    result = []
    for item in items:
        if item not in result:
            result.append(item)
    return result


def acting_constraints(armature):
    """{bone: constraints that may move it}. An IK constraint moves the whole chain above its bone."""
    animated = set()
    if armature.animation_data:
        animated = {driver.data_path for driver in armature.animation_data.drivers}
    acting = {}
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            driven = constraint.path_from_id("mute") in animated
            if (constraint.mute and not driven) or not constraint.is_valid:
                continue
            for name in reach(bone, constraint):
                acting.setdefault(name, []).append(constraint)
    return acting


def reach(bone, constraint):
    """Names of the bones that a constraint on the given bone moves."""
    chain = [bone, *bone.parent_recursive]
    if constraint.type not in {"IK", "SPLINE_IK"}:
        return [bone.name]
    if constraint.type == "IK" and not constraint.use_tail:
        chain = chain[1:]
    return [one.name for one in chain[:constraint.chain_count or None]]


def looks_outside(constraint, armature, inside):
    """Whether a constraint depends on anything but bones that move along."""
    targets = list(constraint.targets) if constraint.type == "ARMATURE" else [constraint]
    ends = [(getattr(one, "target", None), getattr(one, "subtarget", "")) for one in targets]
    ends.append((getattr(constraint, "pole_target", None), getattr(constraint, "pole_subtarget", "")))
    return any(target is not None and (target != armature or name not in inside) for target, name in ends)
