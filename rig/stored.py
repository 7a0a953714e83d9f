# SPDX-License-Identifier: GPL-3.0-or-later
"""The last run of each scene, kept in memory so that a simulation can go on from any of its frames exactly.

Nothing of this is in the file. After loading a file, and where the result has been changed since, a simulation starts
from what the result shows instead: its poses, and its velocities by differences from frame to frame.
"""

from dataclasses import dataclass

import numpy as np

from ..dynamics import Run

NEAR = 1e-4  # metres, radians: a result that lies further from the run is another one

_last = {}  # {session_uid of the scene: Stored}


@dataclass
class Stored:
    run: Run
    start: int  # frame
    substeps: int
    seconds: float  # of a frame
    spans: dict  # {name of a hold: frame of taking hold}
    stops: dict  # {name of a link: (the range asked for, its stop)}

    def state(self, frame):
        """The complete state at a frame; None if the run does not reach it."""
        number = (frame - self.start) * self.substeps
        return self.run.state(number) if 0 <= number < len(self.run) else None


def remember(scene, read, run):
    spans = {one.name: one.start for one in read.holds}
    _last[scene.session_uid] = Stored(run, read.frames[0], read.substeps, read.seconds, spans, read.stops)


def recall(scene):
    """The last run of the scene, or None."""
    return _last.get(scene.session_uid)


def forget():
    _last.clear()


def go_on(scene, read):
    """Replace chain and state by those of the last run at the start frame, if they are what the scene shows.

    Returns the names of the holds that the chain has already. A hold that broke in the last run stays broken.
    """
    stored = recall(scene)
    old = stored and stored.seconds == read.seconds and stored.state(read.frames[0])
    if not old or not _fits(read.chain, read.state, old):
        return set()
    chain = old.chain.copy()
    for link in read.chain.links:
        chain[link.name].motion = link.motion
    state = old.copy()
    state.chain, state.time = chain, read.state.time
    read.chain, read.state, read.stops = chain, state, dict(stored.stops)
    read.links = {place: chain[link.name] for place, link in read.links.items()}
    now = {one.name: one for one in read.holds if one.start <= read.frames[0]}
    made = {
        name for name, start in stored.spans.items()
        if name in now and now[name].start == start and (name not in chain or chain[name].joint == now[name].joint)}
    read.holds = [one for one in read.holds if one.name not in made or one.name in chain]
    for grip in list(chain.connections):
        if grip.name not in made:
            chain.cut(grip)
    return made


def _fits(chain, state, old):
    """Whether the old state has the same links as the new one, in the same places."""
    if [link.name for link in chain.links] != [link.name for link in old.chain.links]:
        return False
    return np.allclose(chain.gravity, old.chain.gravity) and all(
        _alike(link, old.chain[link.name]) and _near(state.pose(link), old.pose(link.name)) for link in chain.links)


def _alike(link, twin):
    here, there = link.inertia, twin.inertia
    return (
        link.joint == twin.joint and link.parent.name == twin.parent.name
        and np.isclose(here.mass, there.mass) and np.allclose(here.com, there.com, atol=1e-6)
        and np.allclose(here.tensor, there.tensor, rtol=1e-4, atol=1e-9))


def _near(here, there):
    turn = 2.0 * np.linalg.norm(here.rotation - there.rotation * np.sign(here.rotation @ there.rotation))
    return np.abs(here.position - there.position).max() < NEAR and turn < NEAR
