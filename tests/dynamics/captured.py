# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured motion (BVH) on the reference figure, read with numpy and scipy alone.

BVH files have y up, z forward and x left, and their own zero pose (arms level, legs apart). The figure has z up and x
forward, arms and legs hanging down. A link of the figure turns like the captured bone, after a fixed turn that takes
its zero direction to the bone's.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dynamics import JointMotion
from dynamics.samples import FIGURE

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "cmu"
UNIT = 0.0564444  # m
AXES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # captured axes in the figure's
BONES = {
    "pelvis": "Hips", "chest": "Spine1", "head": "Head", "lclav": "LeftShoulder", "luarm": "LeftArm",
    "lfarm": "LeftForeArm", "lhand": "LeftHand", "rclav": "RightShoulder", "ruarm": "RightArm",
    "rfarm": "RightForeArm", "rhand": "RightHand", "lthigh": "LeftUpLeg", "lshank": "LeftLeg", "lfoot": "LeftFoot",
    "rthigh": "RightUpLeg", "rshank": "RightLeg", "rfoot": "RightFoot",
}  # fmt: skip
ENDS = {
    "luarm": "LeftForeArm", "lfarm": "LeftHand", "lhand": "LeftHandIndex1", "ruarm": "RightForeArm",
    "rfarm": "RightHand", "rhand": "RightHandIndex1", "lthigh": "LeftLeg", "lshank": "LeftFoot",
    "rthigh": "RightLeg", "rshank": "RightFoot",
}  # fmt: skip


def read(name):
    """Bones {name: (parent, offset)}, their world turns {name: Rotation of all frames}, hip places (T, 3), seconds a
    frame; skips the test where the file is missing.
    """
    file = FOLDER / f"{name}.bvh"
    if not file.exists():
        pytest.skip(f"the captured motion {name} is not in this clone")
    words = iter(file.read_text().split())
    bones, channels, line = {}, [], []
    for word in words:
        if word in ("ROOT", "JOINT"):
            line.append(next(words))
        elif word == "End":
            line.append(None)
        elif word == "OFFSET":
            offset = np.array([float(next(words)) for _ in range(3)])
            if line[-1]:
                bones[line[-1]] = (line[-2] if len(line) > 1 else None, offset)
        elif word == "CHANNELS":
            channels += [(line[-1], next(words)) for _ in range(int(next(words)))]
        elif word == "}":
            line.pop()
        elif word == "Frames:":
            count = int(next(words))
        elif word == "Time:":
            step = float(next(words))
            break
    table = np.array([float(word) for word in words]).reshape(count, len(channels))
    place = {channel: k for k, channel in enumerate(channels)}
    turns = {}
    for bone, (parent, _) in bones.items():
        angles = np.stack([table[:, place[bone, f"{axis}rotation"]] for axis in "ZYX"], axis=1)
        own = Rotation.from_euler("ZYX", angles, degrees=True)
        turns[bone] = turns[parent] * own if parent else own
    hips = np.stack([table[:, place["Hips", f"{axis}position"]] for axis in "XYZ"], axis=1)
    return bones, turns, hips, step


def keys(name, first, last, every=5):
    """{part's name: (times, joint coordinates)} of the figure for frames first to last, and its root's places."""
    bones, turns, hips, step = read(name)
    frames = slice(first, last + 1, every)
    count = len(range(*frames.indices(len(hips))))
    times = every / round(1.0 / step) * np.arange(count)
    axes = Rotation.from_matrix(AXES)
    world = {}
    for part in FIGURE:
        turn = axes * turns[BONES[part.name]][frames] * axes.inv()
        if part.name in ENDS:
            along = AXES @ bones[ENDS[part.name]][1]
            turn = turn * Rotation.align_vectors([along / np.linalg.norm(along)], [(0.0, 0.0, -1.0)])[0]
        world[part.name] = turn
    found = {}
    for part in FIGURE:
        turn = world[part.name] if part.parent is None else world[part.parent].inv() * world[part.name]
        if part.joint == "hinge":
            along = turn.apply((0.0, 0.0, -1.0))
            found[part.name] = times, np.unwrap(np.arctan2(-along[:, 0], -along[:, 2]))
            # what the hinge cannot do is left out, and the links beyond it turn with it
            world[part.name] = world[part.parent] * Rotation.from_euler("y", found[part.name][1][:, None])
        else:
            found[part.name] = times, np.roll(turn.as_quat(), 1, axis=1)
    return found, UNIT * hips[frames] @ AXES.T


def goals(name, first, last):
    """{part's name: JointMotion} of the joints but the root, the root's keys and places."""
    found, places = keys(name, first, last)
    root = FIGURE[0].name
    return {part: JointMotion(*value) for part, value in found.items() if part != root}, found[root], places
