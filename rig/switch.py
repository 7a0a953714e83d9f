# SPDX-License-Identifier: GPL-3.0-or-later
"""Which motion plays: the source, which is the person's own, or the result of a simulation.

Switching exchanges the action and its slot. Two things besides belong to the source and would be lost with it: values
of channels that only the result keys (an unkeyed pose, the mute switch of a constraint), and how the action is blended
with NLA tracks. They are put aside when the result comes on and brought back with the source.
"""

import json

import bpy

from . import actions
from .errors import RigError

ASIDE, WRITTEN = "aside", "written"  # custom properties in the settings of the figure or prop
BLEND = {"action_blend_type": "REPLACE", "action_influence": 1.0, "action_extrapolation": "HOLD"}


def playing(owner):
    """The two motions of a figure or prop; None for everything else."""
    role = owner.trapeze.role
    return owner.trapeze.figure if role == "FIGURE" else owner.trapeze.prop if role == "PROP" else None


def results(scene):
    """The objects of the scene that have a result."""
    return [owner for owner in scene.objects if playing(owner) and playing(owner).result]


def keep_result(owner, written):
    """Make what was written the object's result, in place of an earlier one. The source must be showing."""
    state = playing(owner)
    old = state.result
    state.result, state.result_slot = written.motion.action, written.motion.slot
    state[WRITTEN] = json.dumps(written.channels)
    if old and old != state.result and not old.users:
        name = old.name
        bpy.data.actions.remove(old)
        state.result.name = name


def written_channels(owner):
    """What the simulation wrote, as opposed to what was copied from the source: {(data path, index)}."""
    return {(path, index) for path, index in json.loads(playing(owner).get(WRITTEN, "[]"))}


def show_result(owner):
    """Play the result. What only the source knows is put aside."""
    state = playing(owner)
    if state.result is None:
        raise RigError(f"{owner.name} has no result; simulate first")
    if is_showing_result(owner):
        return
    check_free(owner)
    source, result = actions.motion_of(owner), actions.Motion(state.result, state.result_slot)
    aside = {
        "action": source.action.name if source else "", "values": unkeyed_values(owner, source, result),
        "nla": put_aside_nla(owner)}
    result.assign(owner)
    state.source, state.source_slot = (source.action, source.slot) if source else (None, "")
    state[ASIDE] = json.dumps(aside)
    state.showing = "RESULT"


def show_source(owner):
    """Play the source and bring back what was put aside. An action that was assigned since then stays."""
    state = playing(owner)
    if state.showing != "RESULT":
        return
    check_free(owner)
    current = actions.motion_of(owner)
    if current is None or current.action == state.result:
        if state.source:
            actions.Motion(state.source, state.source_slot).assign(owner)
        else:
            actions.clear(owner)
    aside = json.loads(state.get(ASIDE, "{}"))
    bring_back_nla(owner, aside.get("nla", {}))
    for path, value in aside.get("values", {}).items():
        set_value(owner, path, value)
    forget(state)


def hand_over(owner):
    """Let the result be the object's own action from now on; the source stays in the file."""
    show_result(owner)
    state = playing(owner)
    if state.source:
        state.source.use_fake_user = True
    forget(state)
    state.result, state.result_slot = None, ""
    if WRITTEN in state:
        del state[WRITTEN]


def is_showing_result(owner):
    state, current = playing(owner), actions.motion_of(owner)
    return state.showing == "RESULT" and current is not None and current.action == state.result


def lost_source(owner):
    """Name of the action that was the source and has been deleted while the result plays; "" if all is well."""
    state = playing(owner)
    if state.source or not is_showing_result(owner):
        return ""
    return json.loads(state.get(ASIDE, "{}")).get("action", "")


def forget(state):
    state.showing, state.source, state.source_slot = "SOURCE", None, ""
    if ASIDE in state:
        del state[ASIDE]


def check_free(owner):
    """Raise what keeps the object's action from being exchanged."""
    if owner.animation_data and owner.animation_data.use_tweak_mode:
        raise RigError(f"{owner.name} is in NLA tweak mode; leave it first (Tab in the Nonlinear Animation editor)")
    if not owner.is_editable:
        raise RigError(f"{owner.name} is linked from another file; make a library override of it first")


def unkeyed_values(owner, source, result):
    """{data path: value} of what the result keys and the source does not, or not all of it."""
    curves = [curve for curve in source.curves() if not actions.is_muted(curve)] if source else []
    keyed = {(curve.data_path, curve.array_index) for curve in curves}
    written = {(curve.data_path, curve.array_index) for curve in result.curves()}
    values = {}
    for path in {path for path, _ in written - keyed}:
        try:
            value = owner.path_resolve(path)
        except ValueError:  # the curve belongs to something that is gone
            continue
        values[path] = value if isinstance(value, bool | int | float | str) else list(value)
    return values


def set_value(owner, path, value):
    holder, _, name = path.rpartition(".")
    try:
        setattr(owner.path_resolve(holder) if holder else owner, name, value)
    except (ValueError, AttributeError):  # it is gone
        return


def put_aside_nla(owner):
    """Let the action alone decide over its channels, above the NLA tracks that played so far."""
    animation = owner.animation_data
    if animation is None:
        return {}
    before = {name: getattr(animation, name) for name in BLEND}
    for name, value in BLEND.items():
        setattr(animation, name, value)
    solo = next((track for track in animation.nla_tracks if track.is_solo), None)
    if solo:  # a solo track silences the action; the other tracks are silenced instead
        before["solo"] = solo.name
        before["muted"] = {track.name: track.mute for track in animation.nla_tracks}
        solo.is_solo = False
        for track in animation.nla_tracks:
            track.mute = track != solo or track.mute
    return before


def bring_back_nla(owner, before):
    animation = owner.animation_data
    for name in BLEND.keys() & before.keys():
        setattr(animation, name, before[name])
    for name, mute in before.get("muted", {}).items():
        if name in animation.nla_tracks:
            animation.nla_tracks[name].mute = mute
    if before.get("solo", "") in animation.nla_tracks:
        animation.nla_tracks[before["solo"]].is_solo = True
