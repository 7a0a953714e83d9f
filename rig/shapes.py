# SPDX-License-Identifier: GPL-3.0-or-later
"""How mass is spread in a body: capsules, solids bounded by triangles, and the skin around a bone.

A shape is `Shape(volume, centre, spread)`: its volume, its centre of mass, and the mean of (x - centre)(x -
centre)' over it, per unit of mass. An inertia tensor follows for any mass: mass (trace(spread) I - spread). Plain
numpy, any unit of length.
"""

from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    volume: float
    centre: np.ndarray  # (3,)
    spread: np.ndarray  # (3, 3), symmetric, no negative eigenvalues

    def tensor(self, mass):
        """Inertia tensor about the centre of mass."""
        return mass * (np.trace(self.spread) * np.eye(3) - self.spread)


def capsule_volume(length, radius):
    """Volume of a capsule that is `length` from tip to tip; one that is too short for its radius is a ball."""
    ball = 4.0 / 3.0 * np.pi * radius**3
    return ball + np.pi * radius**2 * max(length - 2.0 * radius, 0.0)


def capsule_radius(length, volume):
    """Radius of the capsule of the given length from tip to tip that has the given volume."""
    ball = np.cbrt(0.75 * volume / np.pi)
    if 2.0 * ball >= length:
        return float(ball)
    # length r^2 - 2/3 r^3 = volume / pi rises monotonically up to r = length; start above the root.
    radius = 0.5 * length
    for _ in range(60):
        error = length * radius**2 - 2.0 / 3.0 * radius**3 - volume / np.pi
        step = error / (2.0 * radius * (length - radius))
        radius -= step
        if abs(step) < 1e-14 * length:
            break
    return float(radius)


def capsule(start, end, radius):
    """The capsule from tip to tip between two points; a ball about the middle where they are closer than that."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(end - start))
    height = max(length - 2.0 * radius, 0.0)
    caps, barrel = 4.0 / 3.0 * np.pi * radius**3, np.pi * radius**2 * height
    volume = caps + barrel
    if volume <= 0.0:
        along, across = length**2 / 12.0, 0.0
    else:
        # A cap's points lie height/2 + u above the middle, with mean u = 3/8 r and mean u^2 = r^2/5.
        cap = height**2 / 4.0 + height * radius * 3.0 / 8.0 + radius**2 / 5.0
        along = (caps * cap + barrel * height**2 / 12.0) / volume
        across = (caps * radius**2 / 5.0 + barrel * radius**2 / 4.0) / volume
    axis = (end - start) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    spread = across * np.eye(3) + (along - across) * np.outer(axis, axis)
    return Shape(volume, 0.5 * (start + end), spread)


def solid(points, triangles):
    """The body inside a closed surface: points (n, 3), triangles (m, 3) of point numbers, outward or inward alike."""
    corners = np.asarray(points, dtype=float)[np.asarray(triangles)]
    return _gather(*_tetrahedra(corners, corners.mean(axis=(0, 1))))


def shell(points, triangles):
    """The surface itself, as a sheet of even thickness; its `volume` is its area."""
    corners = np.asarray(points, dtype=float)[np.asarray(triangles)]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    moments = _products(corners, 12.0)
    return _gather(areas, areas[:, None] * corners.mean(axis=1), areas[:, None, None] * moments)


def merge(masses, shapes):
    """The shape of several bodies together: total mass, and a Shape of it."""
    total = float(np.sum(masses))
    shares = np.asarray(masses) / total if total > 0.0 else np.full(len(shapes), 1.0 / len(shapes))
    centre = sum(share * shape.centre for share, shape in zip(shares, shapes))
    spread = sum(
        share * (shape.spread + np.outer(shape.centre - centre, shape.centre - centre))
        for share, shape in zip(shares, shapes))
    return total, Shape(sum(shape.volume for shape in shapes), centre, spread)


def is_closed(triangles):
    """Whether every edge has a triangle on either side."""
    triangles = np.asarray(triangles)
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] == 2).all())


def skin(points, triangles, weights, starts, ends):
    """The flesh around each bone: Shape for every bone that a surface follows, as {bone: Shape}.

    points (n, 3), triangles (m, 3), weights: arrays (vertex, bone, weight), starts and ends (b, 3) of the segments.
    Each triangle and the segment have a wedge between them, from the triangle to the nearest points of the segment. The
    wedges of a bone fill what its skin encloses, without asking for a closed surface at the joints.
    """
    vertices, bones, amounts = weights
    points, triangles = np.asarray(points, dtype=float), np.asarray(triangles)
    # Which bones each triangle follows: a third of the weight of each corner.
    order = np.argsort(vertices, kind="stable")
    vertices, bones, amounts = vertices[order], bones[order], amounts[order]
    first = np.searchsorted(vertices, np.arange(len(points) + 1))
    pairs = {}
    for corner in range(3):
        count = (first[1:] - first[:-1])[triangles[:, corner]]
        triangle = np.repeat(np.arange(len(triangles)), count)
        entry = np.repeat(first[:-1][triangles[:, corner]], count) + _running(count)
        keys = triangle.astype(np.int64) * len(starts) + bones[entry]
        pairs[corner] = keys, amounts[entry] / 3.0
    keys, back = np.unique(np.concatenate([keys for keys, _ in pairs.values()]), return_inverse=True)
    share = np.bincount(back.ravel(), np.concatenate([amount for _, amount in pairs.values()]), len(keys))
    triangle, bone = keys // len(starts), (keys % len(starts)).astype(int)

    corners = points[triangles[triangle]]
    axis = (ends - starts)[bone]
    reach = np.maximum((axis * axis).sum(axis=1), 1e-24)
    along = np.clip(((corners - starts[bone][:, None]) * axis[:, None]).sum(axis=2) / reach[:, None], 0.0, 1.0)
    feet = starts[bone][:, None] + along[..., None] * axis[:, None]
    a, b, c = np.moveaxis(corners, 1, 0)
    d, e, f = np.moveaxis(feet, 1, 0)
    wedge = [_tetrahedra(np.stack(face, axis=1), d) for face in ((a, b, c), (b, f, c), (b, e, f))]
    volume, first_moment, second_moment = (sum(part) for part in zip(*wedge))
    found = {}
    count = len(starts)
    total = np.bincount(bone, share * volume, count)
    first_moment = np.stack([np.bincount(bone, share * first_moment[:, i], count) for i in range(3)], axis=1)
    second = np.stack([
        np.bincount(bone, share * second_moment[:, i, j], count) for i in range(3) for j in range(3)], axis=1)
    for number in np.flatnonzero(np.abs(total) > 0.0):
        found[int(number)] = _shape(total[number], first_moment[number], second[number].reshape(3, 3))
    return {number: shape for number, shape in found.items() if shape.volume > 0.0}


def _running(count):
    """0, 1, ... count[0]-1, 0, 1, ... count[1]-1, and so on."""
    total = int(count.sum())
    return np.arange(total) - np.repeat(np.cumsum(count) - count, count)


def _products(corners, factor):
    """Mean of x x' over simplices with corners (n, k, 3): (sum of corners squared + sum of squares) / factor."""
    total = corners.sum(axis=1)
    return (total[:, :, None] * total[:, None, :] + np.einsum("nki,nkj->nij", corners, corners)) / factor


def _tetrahedra(corners, apex):
    """Signed volumes, first and second moments of tetrahedra between triangles (n, 3, 3) and apices (n, 3) or (3,)."""
    apex = np.broadcast_to(apex, corners[:, 0].shape)
    sides = corners - apex[:, None]
    volume = np.einsum("ni,ni->n", sides[:, 0], np.cross(sides[:, 1], sides[:, 2])) / 6.0
    four = np.concatenate([corners, apex[:, None]], axis=1)
    return volume, volume[:, None] * four.mean(axis=1), volume[:, None, None] * _products(four, 20.0)


def _gather(volume, first, second):
    return _shape(volume.sum(), first.sum(axis=0), second.sum(axis=0))


def _shape(volume, first, second):
    if volume == 0.0:
        return Shape(0.0, np.zeros(3), np.zeros((3, 3)))
    centre = first / volume
    spread = second / volume - np.outer(centre, centre)
    values, vectors = np.linalg.eigh(0.5 * (spread + spread.T))
    # Surfaces that fold through themselves can leave a direction with less than nothing.
    return Shape(abs(float(volume)), centre, (vectors * np.maximum(values, 0.0)) @ vectors.T)
