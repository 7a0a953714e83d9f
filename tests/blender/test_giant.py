# SPDX-License-Identifier: GPL-3.0-or-later
"""The giant swing: over the top of the bar by keyed pumping, and not without it."""

import bpy
import numpy as np
from figures import centre_of_mass, shown


def swing(scene, pump=True):
    """Angle (degrees) of the gymnast's hips about the bar over the frames, 0 hanging, 180 on top; and the figure."""
    assert bpy.ops.trapeze.add_demo(demo="GIANT") == {"FINISHED"}
    gymnast, bar = bpy.data.objects["Gymnast"], bpy.data.objects["Bar"]
    if not pump:
        gymnast.animation_data_clear()
    assert bpy.ops.trapeze.simulate() == {"FINISHED"}
    hips = shown(scene, gymnast, range(scene.frame_start, scene.frame_end + 1), ["hips"])[:, 0, :3, 3]
    around = np.array(hips) - np.array(bar.matrix_world.translation)
    return np.degrees(np.unwrap(np.arctan2(around[:, 1], -around[:, 2]))), gymnast


def test_pumping_carries_the_gymnast_over_the_bar(scene):
    angle, gymnast = swing(scene)
    assert angle.min() < -360.0
    top = scene.frame_start + int(np.argmax(angle < -180.0))
    height = bpy.data.objects["Bar"].matrix_world.translation.z
    assert centre_of_mass(scene, gymnast, [top])[0, 2] > height + 0.3  # stretched on top, not curled up around the bar
    hands = shown(scene, gymnast, range(1, scene.frame_end + 1), ["hand.L", "hand.R"])[:, :, :3, 3]
    assert np.linalg.norm(hands[..., 1:] - [0.0, height], axis=-1).max() < 0.15  # and he never lets go


def test_without_pumping_he_does_not_get_there(scene):
    """No muscle adds energy while the keyed pose stays: he stays below where he started."""
    angle, _ = swing(scene, pump=False)
    assert angle.min() > -angle[0]
    assert angle.max() <= angle[0] + 1e-3
