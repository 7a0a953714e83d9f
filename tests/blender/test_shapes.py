# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes, centres and inertia tensors against closed forms, and against a capsule cut into small blocks."""

from importlib import import_module
from math import pi

import bpy
import numpy as np
import pytest


@pytest.fixture
def shapes(trapeze):
    return import_module(f"{trapeze.__name__}.rig.shapes")


def surface(build):
    """Points and triangles of one of Blender's own meshes."""
    build()
    mesh = bpy.context.object.data
    mesh.calc_loop_triangles()
    points = np.array([vertex.co for vertex in mesh.vertices], dtype=float)
    return points, np.array([tuple(triangle.vertices) for triangle in mesh.loop_triangles])


def test_a_box_has_the_textbook_tensor(shapes):
    points, triangles = surface(lambda: bpy.ops.mesh.primitive_cube_add(size=1.0))
    sides = np.array([1.0, 2.0, 3.0])
    box = shapes.solid(points * sides + 5.0, triangles)
    assert box.volume == pytest.approx(6.0)
    assert box.centre == pytest.approx([5.0, 5.0, 5.0])
    x, y, z = sides**2
    assert box.tensor(12.0) == pytest.approx(np.diag([y + z, x + z, x + y]), abs=1e-9)


def test_a_surface_turned_inside_out_is_the_same_body(shapes):
    points, triangles = surface(lambda: bpy.ops.mesh.primitive_cube_add(size=2.0))
    inside, outside = shapes.solid(points, triangles[:, ::-1]), shapes.solid(points, triangles)
    assert inside.volume == pytest.approx(outside.volume)
    assert inside.spread == pytest.approx(outside.spread)


def test_a_capsule_agrees_with_itself_cut_into_blocks(shapes):
    length, radius, count = 1.0, 0.2, 60
    axes = np.linspace(-0.5, 0.5, count, endpoint=False) + 0.5 / count
    x, y, z = np.meshgrid(2 * radius * axes, 2 * radius * axes, length * axes, indexing="ij")
    above = np.maximum(np.abs(z) - (0.5 * length - radius), 0.0)
    inside = x**2 + y**2 + above**2 <= radius**2
    block = (2 * radius) ** 2 * length / count**3
    found = shapes.capsule((0, 0, -0.5), (0, 0, 0.5), radius)
    assert found.volume == pytest.approx(inside.sum() * block, rel=3e-3)  # blocks of 7 mm and 17 mm at the surface
    assert np.diag(found.spread) == pytest.approx(
        [np.mean(x[inside] ** 2), np.mean(y[inside] ** 2), np.mean(z[inside] ** 2)], rel=5e-3)


def test_a_short_capsule_is_a_ball_and_a_thin_one_a_rod(shapes):
    ball = shapes.capsule((0, 0, 0), (0, 0, 0.1), 0.3)
    assert ball.tensor(5.0) == pytest.approx(np.eye(3) * 0.4 * 5.0 * 0.3**2)
    rod = shapes.capsule((0, 0, 0), (0, 2, 0), 1e-6)
    assert rod.tensor(3.0) == pytest.approx(np.diag([1.0, 0.0, 1.0]) * 3.0 * 4.0 / 12.0, abs=1e-5)


@pytest.mark.parametrize("length, radius", [(1.0, 0.1), (0.3, 0.14), (0.1, 0.4), (100.0, 1e-3)])
def test_the_radius_gives_the_volume_back(shapes, length, radius):
    volume = shapes.capsule_volume(length, radius)
    assert shapes.capsule_radius(length, volume) == pytest.approx(radius, rel=1e-9)


def tube(radius, heights, count):
    """The side of a cylinder along Z as points and triangles."""
    angles = np.linspace(0.0, 2.0 * pi, count, endpoint=False)
    circle = np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])
    points = np.concatenate([np.column_stack([circle, np.full(count, height)]) for height in heights])
    this = np.arange(count)
    follow = (this + 1) % count
    triangles = []
    for low in range(0, count * (len(heights) - 1), count):
        high = low + count
        triangles += [np.stack([this + low, follow + low, follow + high], 1)]
        triangles += [np.stack([this + low, follow + high, this + high], 1)]
    return points, np.concatenate(triangles)


def test_the_skin_of_a_limb_is_the_limb(shapes):
    """A cylinder shared by two bones: each gets the half around it, though neither half is closed."""
    points, triangles = tube(0.1, np.linspace(-1.0, 1.0, 41), 256)
    weights = np.arange(len(points)), (points[:, 2] > 0.0).astype(int), np.ones(len(points))
    starts, ends = np.array([[0, 0, -1.0], [0, 0, 0]]), np.array([[0, 0, 0], [0, 0, 1.0]])
    found = shapes.skin(points, triangles, weights, starts, ends)
    for bone, middle in ((0, -0.5), (1, 0.5)):
        # The ring of triangles at the joint, 5 cm high, belongs to both.
        assert found[bone].volume == pytest.approx(pi * 0.01, rel=0.03)
        assert found[bone].centre == pytest.approx([0, 0, middle], abs=0.02)
        assert np.diag(found[bone].spread) == pytest.approx([0.0025, 0.0025, 1 / 12], rel=0.06)
    assert found[0].volume + found[1].volume == pytest.approx(2 * pi * 0.01, rel=5e-3)


@pytest.fixture
def props(trapeze):
    return import_module(f"{trapeze.__name__}.rig.props")


def inertia(props, owner):
    return props.prop_inertia(owner, bpy.context.evaluated_depsgraph_get())


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_a_prop_weighs_what_its_volume_weighs(scene, props, unit):
    scene.unit_settings.scale_length = unit
    bpy.ops.mesh.primitive_cube_add(size=1.0 / unit)
    cube = bpy.context.object
    cube.scale = (2.0, 2.0, 2.0)
    cube.trapeze.prop.density = 500.0
    bpy.context.view_layer.update()
    mass, centre, tensor = inertia(props, cube)
    assert mass == pytest.approx(4000.0, rel=1e-6)
    assert centre == pytest.approx([0, 0, 0], abs=1e-6)
    assert tensor == pytest.approx(np.eye(3) * 4000.0 * 4.0 / 6.0, rel=1e-5)


def test_an_open_mesh_counts_as_its_hull(props):
    bpy.ops.mesh.primitive_cylinder_add(vertices=64, radius=1.0, depth=1.0, end_fill_type="NOTHING")
    mass, _, _ = inertia(props, bpy.context.object)
    assert mass == pytest.approx(700.0 * pi, rel=2e-3)  # 64 corners


def test_a_flat_prop_needs_a_mass(trapeze, props):
    errors = import_module(f"{trapeze.__name__}.rig.errors")
    bpy.ops.mesh.primitive_plane_add(size=2.0)
    plane = bpy.context.object
    with pytest.raises(errors.RigError, match="Plane has no volume"):
        inertia(props, plane)
    plane.trapeze.prop.use_volume = False
    plane.trapeze.prop.mass = 3.0
    _, _, tensor = inertia(props, plane)
    assert tensor == pytest.approx(np.diag([1.0, 1.0, 2.0]), rel=1e-6)  # m a^2 / 12


def test_an_empty_prop_says_so(trapeze, props):
    errors = import_module(f"{trapeze.__name__}.rig.errors")
    bpy.ops.object.empty_add()
    with pytest.raises(errors.RigError, match="Empty has no faces"):
        inertia(props, bpy.context.object)
