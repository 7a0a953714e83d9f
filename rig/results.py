# SPDX-License-Identifier: GPL-3.0-or-later
"""From a run back to the scene: actions for all figures and dynamic props, written together or not at all."""

import numpy as np

from .anchors import Place, showing
from .sample import frame_kept
from .switch import keep_result, show_result, show_source
from .write import write_object_result, write_result

TOLD = 5  # how many missed bones are named
SEEN = 2e-4  # metres, radians: Blender's own rest poses are only true to a tenth of this


def written_frames(read, run):
    """How many frames of the range the run has reached."""
    return (len(run) - 1) // read.substeps + 1 if len(run) else 0


def write_results(scene, read, run):
    """Give every figure and dynamic prop its result and let it play. Returns warnings. Nothing is left of a failure."""
    count = written_frames(read, run)
    rows = slice(0, (count - 1) * read.substeps + 1, read.substeps)
    positions, rotations = run.positions[rows] / read.metre, run.rotations[rows]
    frames = np.array(read.frames[:count])
    written = {}
    try:
        with frame_kept(scene), showing(read.owners, read.continued):
            for figure in read.figures:
                names = [link.name for link in figure.links]
                merged = {bone: link.name for link in figure.links for bone in link.bones if bone != link.name}
                places = [read.links[Place(figure.owner, name)].index for name in names]
                written[figure.owner] = write_result(
                    scene, figure.owner, frames, names, positions[:, places], rotations[:, places], merged)
            for prop in read.props:
                place = read.links[Place(prop.owner)].index
                written[prop.owner] = write_object_result(
                    scene, prop.owner, frames, positions[:, place], rotations[:, place])
    except BaseException:
        for one in written.values():
            one.discard()
        raise
    with frame_kept(scene):
        for owner, one in written.items():
            show_source(owner)
            keep_result(owner, one)
            show_result(owner)
    return _missed(read, written)


def _missed(read, written):
    """Sentences about what locks and drivers kept from its pose."""
    missed = [
        (distance, angle, name, owner) for owner, one in written.items()
        for name, (distance, angle) in one.missed.items() if max(distance * read.metre, angle) > SEEN]
    missed.sort(key=lambda one: -max(one[:2]))
    told = [
        f"{name} of {owner.name} is kept from its place by {distance * read.metre * 1000.0:.3g} mm and "
        f"{np.degrees(angle):.3g}° by locks or drivers" for distance, angle, name, owner in missed[:TOLD]]
    return told + ([f"{len(missed) - TOLD} more bones are kept from their places"] if len(missed) > TOLD else [])
