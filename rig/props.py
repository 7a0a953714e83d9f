# SPDX-License-Identifier: GPL-3.0-or-later
"""What a prop weighs and how its mass is spread: from the volume of its mesh as evaluated, in metres and kilograms."""

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from .errors import RigError
from .shapes import is_closed, shell, solid
from .skeleton import uniform_scale


def set_motion(owner, motion):
    """Make the object a prop that is STATIC, ANIMATED or DYNAMIC, or none with NONE. Raises RigError."""
    if owner.library is not None:
        raise RigError(f"{owner.name} is linked from another file; make a library override of it first")
    owner.trapeze.role = "NONE" if motion == "NONE" else "PROP"
    if motion != "NONE":
        owner.trapeze.prop.motion = motion


def prop_inertia(owner, depsgraph):
    """Mass, centre of mass (3,) and tensor (3, 3) about it, in the object's own axes. Raises RigError.

    A mesh with holes counts as its convex hull; one without volume as a sheet, if its mass is given.
    """
    prop = owner.trapeze.prop
    size = uniform_scale(owner, owner.evaluated_get(depsgraph).matrix_world)
    points, triangles = _surface(owner, depsgraph)
    if not len(triangles):
        raise RigError(f"{owner.name} has no faces to take a shape from; give it a mesh or do not make it dynamic")
    points = points * size * depsgraph.scene.unit_settings.scale_length
    shape = _body(points, triangles)
    if shape is None and prop.use_volume:
        raise RigError(f"{owner.name} has no volume; switch off Mass from Volume and give it a mass")
    mass = shape.volume * prop.density if prop.use_volume else prop.mass
    shape = shape or shell(points, triangles)
    return mass, shape.centre, shape.tensor(mass)


def _body(points, triangles):
    """The solid that the surface bounds; None if it is flat."""
    shape = solid(points, triangles) if is_closed(triangles) else None
    size = np.ptp(points, axis=0).max()
    if shape is None or shape.volume < 1e-9 * size**3:
        try:
            shape = solid(*_hull(points))
        except QhullError:
            return None
    return shape if shape.volume > 1e-9 * size**3 else None


def _hull(points):
    """Points and outward triangles of the convex hull."""
    hull = ConvexHull(points)
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = (normals * hull.equations[:, :3]).sum(axis=1) < 0.0
    simplices = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    return points, simplices


def _surface(owner, depsgraph):
    """Points and triangles of whatever the object looks like; empty for an object without a surface."""
    nothing = np.empty((0, 3)), np.empty((0, 3), dtype=int)
    if owner.type not in {"MESH", "CURVE", "SURFACE", "FONT", "META"}:
        return nothing
    seen = owner.evaluated_get(depsgraph)
    mesh = seen.to_mesh()
    try:
        if mesh is None:
            return nothing
        mesh.calc_loop_triangles()
        points = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
        mesh.vertices.foreach_get("co", points)
        triangles = np.empty(len(mesh.loop_triangles) * 3, dtype=np.int32)
        mesh.loop_triangles.foreach_get("vertices", triangles)
        return points.reshape(-1, 3).astype(float), triangles.reshape(-1, 3)
    finally:
        seen.to_mesh_clear()
