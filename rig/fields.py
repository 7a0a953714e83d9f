# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields as forces on links: wind, force, turbulence and drag.

A field's number is a force for each kilogram, in the units of the scene's gravity: a wind of 9.81 pushes a body as hard
as gravity pulls it. A figure's share is spread over its links not by mass but by the surface of their capsules, a
quarter of which a body shows to a wind on average (Cauchy): light wide limbs are blown more than the trunk. Shape,
falloff, direction and noise follow Blender's own; what may change over time is looked at frame by frame.
"""

import numpy as np
from mathutils import noise

from .anchors import Place, pose_now
from .channels import matrix_from_quaternion
from .sample import Source, frame_kept, go_to, moves

KINDS = ("WIND", "FORCE", "TURBULENCE", "DRAG")
SHAPES = ("POINT", "LINE", "PLANE")
NUMBERS = ("strength", "flow", "linear_drag", "quadratic_drag", "noise")
GUST = 0.1  # s between two random strengths of a field with noise
OCTAVES, EVEN = 3, 4.0 / 7.0  # of turbulence, and what brings their sum into -1 to 1


def read_field(read, scene, depsgraph, owners):
    """The force fields among the objects as one function for simulate(), or None; and warnings."""
    fields, warnings = [], []
    for owner in owners:
        settings = owner.field
        if settings is None or settings.type == "NONE" or not settings.apply_to_location:
            continue
        if settings.type not in KINDS or settings.shape not in SHAPES:
            what = settings.type if settings.type not in KINDS else f"{settings.type} from {settings.shape}"
            warnings.append(
                f"{owner.name} is ignored: figures do not feel a force field of the kind {what.lower()}, but wind, "
                "force, turbulence and drag that start from a point, line or plane")
        else:
            fields.append(_Field(read, scene, owner))
    weights = [_Weight(read, scene, figure.owner, _shares(read, figure)) for figure in read.figures]
    weights += [
        _Weight(read, scene, prop.owner, {read.links[Place(prop.owner)].index: prop.link.inertia.mass})
        for prop in read.props]
    if not fields:
        return None, warnings
    with frame_kept(scene):
        for number, frame in enumerate(read.frames):
            looking = [one for one in (*fields, *weights) if one.animated or number == 0]
            if not looking:
                break
            go_to(scene, frame)
            for one in looking:
                one.look(depsgraph)
    return _Together(read, fields, weights), warnings


def _shares(read, figure):
    """{link: kilograms that count for a field}: the figure's mass by the surface of the capsules."""
    areas = np.array([sum(_surface(one) for one in link.capsules) for link in figure.links])
    masses = np.array([link.mass for link in figure.links])
    shares = masses.sum() * areas / areas.sum() if areas.sum() > 0.0 else masses
    places = [read.links[Place(figure.owner, link.name)].index for link in figure.links]
    return dict(zip(places, shares, strict=True))


def _surface(capsule):
    return 2.0 * np.pi * capsule.radius * (np.linalg.norm(capsule.end - capsule.start) + 2.0 * capsule.radius)


class _Together:
    """All fields on all links, as simulate() asks for them."""

    def __init__(self, read, fields, weights):
        self.fields, self.weights, self.metre, self.seconds = fields, weights, read.metre, read.seconds
        self.start = read.frames[0]

    def __call__(self, time, places, velocities):
        frame = time / self.seconds - self.start
        shares = np.zeros(len(places))
        for one in self.weights:
            weight = one.now(frame)
            for number, share in one.shares.items():
                shares[number] = weight * share
        push, drag = np.zeros_like(places), np.zeros(len(places))
        for field in self.fields:
            field.add(time, frame, places / self.metre, velocities / self.metre, push, drag)
        return shares[:, None] * push * self.metre, shares * drag, np.zeros_like(places)


class _Weight:
    """How much of the fields a figure or prop feels."""

    def __init__(self, read, scene, owner, shares):
        self.group = owner.trapeze.figure if owner.trapeze.role == "FIGURE" else owner.trapeze.prop
        self.animated = Source(scene, owner).animated(self.group.path_from_id("field_weight"))
        self.shares, self.values = shares, []

    def look(self, depsgraph):
        self.values.append(self.group.field_weight)

    def now(self, frame):
        return float(np.interp(frame, np.arange(len(self.values)), self.values))


class _Field:
    """One force field over time."""

    def __init__(self, read, scene, owner):
        self.owner, self.settings, self.metre = owner, owner.field, read.metre
        source = Source(scene, owner)
        self.animated = moves(scene, owner) or any(path.startswith("field.") for path in source.keyed | source.blended)
        self.numbers, self.origins, self.axes = [], [], []
        self.random = np.random.default_rng(self.settings.seed)
        self.gusts = self.random.uniform(-1.0, 1.0, 2 + int(read.clock(len(read.frames)) / GUST))
        self.begin = read.clock(read.frames[0])

    def look(self, depsgraph):
        pose = pose_now(Place(self.owner), depsgraph)
        self.numbers.append([getattr(self.settings, name) for name in NUMBERS])
        self.origins.append(np.array(pose.position) / self.metre)
        self.axes.append(matrix_from_quaternion(np.array(pose.rotation)))

    def add(self, time, frame, places, velocities, push, drag):
        """Add its push and drag for each kilogram, at places in Blender units."""
        strength, flow, linear, quadratic, unrest = _between(self.numbers, frame)
        strength += unrest * np.interp((time - self.begin) / GUST, np.arange(len(self.gusts)), self.gusts)
        origin, axes = _between(self.origins, frame), _between(self.axes, frame)
        axis = axes[:, 2] / np.linalg.norm(axes[:, 2])
        relative = places - origin
        along = (relative @ axis)[:, None] * axis
        away = {"POINT": relative, "LINE": relative - along, "PLANE": along}[self.settings.shape]
        distance = np.linalg.norm(away, axis=1)
        falloff = self.falloff(distance, relative, axis)
        kind = self.settings.type
        if kind == "DRAG":
            drag += falloff * (linear + quadratic * np.linalg.norm(velocities, axis=1))
            return
        drag += flow * falloff
        if kind == "WIND":
            push += (strength * falloff)[:, None] * axis
        elif kind == "FORCE":
            size = strength * falloff / np.maximum(distance, 1e-9)
            if self.settings.use_gravity_falloff:
                size = size / np.maximum(distance, 1e-9) ** 2
            push += size[:, None] * away
        else:
            here = places if self.settings.use_global_coords else relative + axis
            push += (strength * falloff)[:, None] * np.array([self.swirl(place) for place in here])

    def swirl(self, place):
        """Smooth noise in space: three octaves of Perlin noise for each axis."""
        x, y, z = place / max(self.settings.size, 1e-6)
        return [
            EVEN * noise.turbulence(one, OCTAVES, False, noise_basis="PERLIN_NEW")
            for one in ((x, y, z), (y, z, x), (z, x, y))]

    def falloff(self, distance, relative, axis):
        """How much of it is left at places so far away: from 1 nearby to 0. Tube and cone are those of the object."""
        one, height = self.settings, relative @ axis
        if one.falloff_type == "SPHERE":
            left = _left(distance, one.use_min_distance and one.distance_min, one.use_max_distance and one.distance_max,
                         one.falloff_power)
        else:
            across = np.linalg.norm(relative - height[:, None] * axis, axis=1)
            if one.falloff_type == "CONE":
                across = np.degrees(np.arctan2(across, height))
            left = _left(
                np.abs(height), one.use_min_distance and one.distance_min, one.use_max_distance and one.distance_max,
                one.falloff_power)
            left = left * _left(
                across, one.use_radial_min and one.radial_min, one.use_radial_max and one.radial_max,
                one.radial_falloff)
        if one.z_direction != "BOTH":
            left = np.where((height >= 0.0) == (one.z_direction == "POSITIVE"), left, 0.0)
        return left


def _left(distance, least, most, power):
    """All up to the least distance, nothing beyond the most, a power law between; False stands for no such distance."""
    beyond = np.maximum(distance - (least or 0.0), 0.0)
    left = (1.0 + beyond) ** -power
    return left if most is False else np.where(distance > most, 0.0, left)


def _between(samples, frame):
    """Values between the samples of two frames."""
    frame = min(max(frame, 0.0), len(samples) - 1.0)
    first = min(int(frame), max(len(samples) - 2, 0))
    part = frame - first
    if part == 0.0 or len(samples) == 1:
        return np.array(samples[first], dtype=float)
    return (1.0 - part) * np.array(samples[first], dtype=float) + part * np.array(samples[first + 1], dtype=float)
