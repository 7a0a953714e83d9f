# SPDX-License-Identifier: GPL-3.0-or-later
"""What went wrong in a simulation, in the words of the scene: bones, grips and frames."""

import numpy as np

from ..dynamics import Act, Keyed

JUMP = 5.0  # degrees that nobody sees in one frame


def in_words(read, text):
    """A message of the library with the names of the scene in it."""
    names = {link.name: str(place) for place, link in read.links.items()}
    names |= {one.name: one.grip.name for one in read.holds}
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, names[name])
    return text[0].upper() + text[1:]


def diverged(read, error):
    """Why a run broke off, where and at which frame."""
    frame = error.time / read.seconds
    when = f"at frame {frame:.4g}"
    grip = next((one.grip for one in read.holds if one.name == error.link.name), None)
    if grip is None:
        reason = in_words(read, str(error).rpartition(", t =")[0])
        return f"{reason} {when}; use more substeps, or look at its mass and grips"
    chain = error.run.chain(-1) if len(error.run) else read.chain
    keyed = keyed_beside(read, chain, error.link)
    if keyed:
        return f"{grip.name} cannot hold {when} against the keys of {', '.join(keyed)}; set some of them to Driven"
    others = sorted({one.grip.name for one in read.holds if one.name in chain} - {grip.name})
    if not others:
        return f"{grip.name} cannot hold {when}: what it joins moves apart; make it soft or end it before"
    return (
        f"{grip.name} cannot hold {when} together with {' and '.join(others)}; "
        "make one of them soft, end it before, or let it close over more frames")


def keyed_beside(read, chain, grip):
    """Bones between the ends of a grip and the roots of their figures whose joints move exactly as keyed."""
    bones, found = {link.name: place for place, link in read.links.items()}, []
    for link in (chain[grip.name].real, chain[grip.name].parent) if grip.name in chain else ():
        while link is not chain.world:
            if isinstance(link.acting.muscle, Keyed) and link.name in bones:
                found.append(bones[link.name].bone or bones[link.name].owner.name)
            link = link.parent
    return found


def jumps(read, run):
    """Sentences about joints that become keyed while physics has them elsewhere: they jump to their keys."""
    found = []
    bones = {link.name: place.bone for place, link in read.links.items()}
    acts = [event for event in read.events if isinstance(event, Act) and event.time <= run.times[-1]]
    for event in acts:
        number = max(int(np.searchsorted(run.times, event.time - 1e-9)) - 1, 0)
        state = run.state(number)
        for link, muscle in event.muscles.items():
            before = state.chain[link.name]
            if not isinstance(muscle, Keyed) or isinstance(before.acting.muscle, Keyed) or before.joint.freedoms == 6:
                continue
            away = np.degrees(_apart(state.coordinates(link.name)[0], muscle.goal.sample(run.times[[number]])[0][0]))
            if away > JUMP:
                frame = event.time / read.seconds
                found.append(
                    f"{bones[link.name]} jumps by {away:.0f}° at frame {frame:.4g}, where it becomes Keyed; "
                    "set it to Driven some frames before, or keep it Driven")
    return found


def _apart(here, there):
    """Angle between two turns of a hinge, or of a ball joint (quaternions)."""
    if len(here) == 1:
        return abs(here[0] - there[0])
    return 2.0 * np.arccos(min(abs(float(here @ there)), 1.0))
