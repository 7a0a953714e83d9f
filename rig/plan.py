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
        acting = acting_constraints(armature)
        written = set(names)
        below = {bone.name for bone in bones if written & {parent.name for parent in bone.parent_recursive}}
        if merged is None:
            merged = {name: nearest(bones[name], written) for name in below - written if bones[name].bone.use_deform}
        carried = {
            name: link for name, link in merged.items()
            if name in bones and name not in written
            and (nearest(bones[name], {link}) is None
                 or any(looks_outside(one, armature, written | below) for one in acting.get(name, ())))}
        for name in ancestors(bones, written | set(carried)) & below - written - set(carried):
            if name in acting:
                carried[name] = nearest(bones[name], written)
        self.carried = carried
        self.moved = moved = written | set(carried)
        self.riding = ancestors(bones, moved) & below - moved
        above = ancestors(bones, moved) - below - moved
        self.held = any(name in acting for name in above)  # outside bones that channels alone do not explain
        touching = {bones[name].parent.name for name in moved | self.riding if bones[name].parent} - moved - self.riding
        self.above, self.touching = above, touching
        self.muted = unique(one for name in moved for one in acting.get(name, ()))
        self.freed = {name for name in moved if name in acting}

    def order(self, stepped):
        """All bones to compute, parents first; outside bones only where they touch, if their poses are sampled."""
        names = set(self.names) | set(self.carried) | self.riding | (self.touching if stepped else self.above)
        bones = [self.armature.pose.bones[name] for name in names]
        return sorted(bones, key=lambda bone: (len(bone.parent_recursive), bone.name))


def nearest(bone, names):
    """The closest bone above with one of the names."""
    return next((parent.name for parent in bone.parent_recursive if parent.name in names), None)


def ancestors(bones, names):
    return {parent.name for name in names for parent in bones[name].parent_recursive}


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
