# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands around the figures of a demo scene: ground, bars, ropes, light, camera, colours."""

from math import pi

import bpy
from mathutils import Matrix, Vector

COLOURS = {  # linear red, green, blue; roughness
    "Skin": ((0.72, 0.42, 0.29), 0.6),
    "Red Suit": ((0.55, 0.03, 0.04), 0.45),
    "Blue Suit": ((0.03, 0.12, 0.45), 0.45),
    "Steel": ((0.55, 0.57, 0.6), 0.25),
    "Wood": ((0.36, 0.18, 0.08), 0.6),
    "Rope": ((0.6, 0.5, 0.34), 0.9),
    "Ground": ((0.6, 0.6, 0.58), 0.9),
    "Mat": ((0.1, 0.25, 0.28), 0.95),
}


def material(name):
    """A material of the demo scenes, the same in the solid and in the rendered view."""
    found = bpy.data.materials.get(name)
    if found:
        return found
    colour, roughness = COLOURS[name]
    made = bpy.data.materials.new(name)
    made.diffuse_color, made.roughness = (*colour, 1.0), roughness
    if made.node_tree is None:
        made.use_nodes = True
    shader = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    shader.inputs["Metallic"].default_value = 1.0 if name == "Steel" else 0.0
    return made


def add_mesh(collection, name, points, faces, look, smooth=False):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(point) for point in points], [], faces)
    mesh.polygons.foreach_set("use_smooth", [smooth] * len(faces))
    mesh.materials.append(material(look))
    owner = bpy.data.objects.new(name, mesh)
    collection.objects.link(owner)
    return owner


def add_box(collection, name, size, place, look):
    """A box with its origin in its middle."""
    corners = [Vector((x, y, z)) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    owner = add_mesh(collection, name, [Vector(size) * corner for corner in corners], faces, look)
    owner.location = place
    return owner


def add_rod(collection, name, start, end, radius, look, around=16):
    """A round rod between two points, its origin at the start and its Z axis along it."""
    owner = add_mesh(collection, name, *rod((end - start).length, radius, around), look, smooth=True)
    for face in owner.data.polygons:
        face.use_smooth = len(face.vertices) == 4
    owner.matrix_world = along(start, end)
    return owner


def add_high_bar(collection, place):
    """A bar along X with its middle at a place above the origin, and its two posts; returns the bar."""
    half = Vector((1.2, 0, 0))
    for sign in (-1, 1):
        foot = half * sign
        add_rod(collection, "Post", foot, foot + place + Vector((0, 0, 0.05)), 0.03, "Steel")
    return add_rod(collection, "Bar", place - half, place + half, 0.016, "Steel")


def rod(length, radius, around=16):
    """Points and faces of a closed rod from the origin along Z."""
    ring = [Matrix.Rotation(2.0 * pi * step / around, 3, "Z") @ Vector((radius, 0, 0)) for step in range(around)]
    points = [point + Vector((0, 0, height)) for height in (0.0, length) for point in ring]
    faces = [(step, (step + 1) % around, around + (step + 1) % around, around + step) for step in range(around)]
    return points, [*faces, tuple(reversed(range(around))), tuple(range(around, 2 * around))]


def along(start, end):
    """A frame at the start whose Z axis points to the end."""
    turn = Vector((0, 0, 1)).rotation_difference(end - start).to_matrix().to_4x4()
    return Matrix.Translation(start) @ turn


def join(collection, name, parts, place):
    """One object of several meshes, its origin at the given place."""
    bpy.context.view_layer.update()
    points, faces, looks, materials = [], [], [], []
    for part in parts:
        look = part.data.materials[0]
        if look not in materials:
            materials.append(look)
        faces += [[len(points) + corner for corner in face.vertices] for face in part.data.polygons]
        looks += [materials.index(look)] * len(part.data.polygons)
        points += [part.matrix_world @ vertex.co - place for vertex in part.data.vertices]
        mesh = part.data
        bpy.data.objects.remove(part)
        bpy.data.meshes.remove(mesh)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(point) for point in points], [], faces)
    for look in materials:
        mesh.materials.append(look)
    mesh.polygons.foreach_set("material_index", looks)
    mesh.polygons.foreach_set("use_smooth", [len(face) == 4 for face in faces])
    owner = bpy.data.objects.new(name, mesh)
    owner.location = place
    collection.objects.link(owner)
    return owner


def add_surroundings(scene, collection, eye, target, lens=35.0, ground=12.0):
    """Ground, sun, fill light and a camera that looks from one point to another."""
    add_box(collection, "Ground", (2 * ground, 2 * ground, 0.2), (0, 0, -0.1), "Ground")
    for name, kind, energy, place, aimed in (
            ("Sun", "SUN", 3.0, (4, -6, 9), (0, 0, 1)), ("Fill", "AREA", 600.0, (-6, -5, 6), (0, 0, 2))):
        lamp = bpy.data.lights.new(name, kind)
        lamp.energy = energy
        if kind == "AREA":
            lamp.size = 5.0
        else:
            lamp.angle = 0.1
        light = bpy.data.objects.new(name, lamp)
        collection.objects.link(light)
        light.matrix_world = looking(Vector(place), Vector(aimed))
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens = lens
    collection.objects.link(camera)
    camera.matrix_world = looking(Vector(eye), Vector(target))
    scene.camera = camera
    if scene.world is None:
        scene.world = bpy.data.worlds.new("World")
        scene.world.color = (0.4, 0.5, 0.6)


def looking(eye, target):
    """A camera's frame at a point, looking at another, upright."""
    return Matrix.Translation(eye) @ (target - eye).to_track_quat("-Z", "Y").to_matrix().to_4x4()
