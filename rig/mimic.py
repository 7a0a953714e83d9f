# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones whose hinge follows that of another bone: twist bones, fingers, linkages (paper 003)."""

from math import degrees, radians

from .anchors import Place
from .errors import RigError

FAR = radians(1.0)  # a bone that starts this far from its keys is worth a word
JOINTS = {"BALL": "a ball joint", "FIXED": "a fixed joint"}


def problem(bone):
    """Why a pose bone cannot follow the bone that is set, as a sentence; "" if it can, or follows none."""
    name = bone.trapeze_follows
    if not name or bone.trapeze_part != "LINK":
        return ""
    leader = bone.id_data.pose.bones.get(name)
    if leader is None:
        return f"{bone.name} follows {name}, which is no bone of {bone.id_data.name}; choose another or clear it"
    if leader.trapeze_part != "LINK" or leader.parent is None:
        return f"{bone.name} follows {name}, which has no joint of its own; choose a bone that is a link"
    for one in (bone, leader):
        if one.trapeze_joint != "HINGE":
            return (
                f"{bone.name} follows {name}, but {one.name} has {JOINTS[one.trapeze_joint]}; "
                "both must be hinges: set its joint to Hinge and give it an axis")
    if bone.trapeze_follow_factor == 0.0:
        return f"{bone.name} follows {name} with a factor of 0; set its joint to Fixed instead"
    way = [bone.name, name]
    while leader is not None and leader.trapeze_follows:
        if leader.trapeze_follows in way:
            return f"{' follows '.join([*way, leader.trapeze_follows])}: bones cannot follow in a circle; clear one"
        way.append(leader.trapeze_follows)
        leader = bone.id_data.pose.bones.get(leader.trapeze_follows)
    return ""


def add_mimics(read):
    """Let hinges follow others as their bones say. The state must be set; followers go where their leaders put them."""
    for figure in read.figures:
        bones = figure.owner.pose.bones
        links = {one.name: read.links[Place(figure.owner, one.name)] for one in figure.links}
        started = {name: read.state.coordinates(link)[0] for name, link in links.items()}
        for name, link in links.items():
            follows = bones[name].trapeze_follows
            wrong = problem(bones[name])
            if wrong:
                raise RigError(wrong)
            if follows and (follows not in links or min(one.joint.freedoms for one in (link, links[follows])) != 1):
                raise RigError(f"{name} follows {follows}, but one of them is a root and has no hinge; clear it")
            if link.follows is not None:
                read.chain.mimic(link)
        for name, link in links.items():
            bone = bones[name]
            if bone.trapeze_follows:
                leader = links[bone.trapeze_follows]
                read.chain.mimic(link, leader, bone.trapeze_follow_factor, bone.trapeze_follow_offset)
        for name, link in links.items():
            if link.follows is not None:
                away = abs(read.state.coordinates(link)[0][0] - started[name][0])
                if away > FAR:
                    read.warnings.append(
                        f"{name} starts {degrees(away):.0f}° from where it is keyed, since it follows "
                        f"{bones[name].trapeze_follows}")
