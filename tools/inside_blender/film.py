# SPDX-License-Identifier: GPL-3.0-or-later
"""Film a saved demo scene, also as a picture that moves, and put ten of its frames on one sheet.

    python -m tools.inside_blender.film FILE.blend

The pictures come from Workbench, the renderer that is quick without a graphics card. It needs OpenGL all the same, and
a missing libEGL kills the process: that is why this is a process of its own. With --drawn after the file the sheet is
made of plain lines instead, without any renderer, and there is no film.
"""

import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np

from tools.inside_blender.drawn import bones, draw_bones, in_view
from tools.inside_blender.moving import write_moving
from tools.inside_blender.sheet import contact_sheet
from tools.inside_blender.start import leave_after

FILM = (640, 360)  # pixels
PANELS, HEIGHT = 10, 240  # of the contact sheet
LARGER, EVERY = 340, 2  # height of the moving picture, and frames from one of its pictures to the next


def film(file, how=""):
    file = Path(file)
    bpy.ops.wm.open_mainfile(filepath=str(file))
    scene = bpy.context.scene
    frames = np.linspace(scene.frame_start, scene.frame_end, PANELS).round().astype(int)
    panel = panel_size(scene, frames.tolist())
    if how == "--drawn":
        with full_height(scene.camera.data):
            pictures = [draw_bones(scene, frame, panel) for frame in frames.tolist()]
    else:
        light(scene)
        render_film(scene, file.with_suffix(".mp4"))
        with full_height(scene.camera.data), tempfile.TemporaryDirectory(prefix="trapeze-") as folder:
            pictures = [still(scene, frame, panel, Path(folder)) for frame in frames.tolist()]
            often = range(scene.frame_start, scene.frame_end + 1, EVERY)
            large = [LARGER * side // HEIGHT for side in panel]
            moving = [still(scene, frame, large, Path(folder)) for frame in often]
        write_moving(moving, scene.render.fps // EVERY, file.with_suffix(".apng"))
    save(contact_sheet(pictures), file.with_suffix(".png"))


def panel_size(scene, frames):
    """Pixels of a panel: as narrow as the figures allow, since the middle of the film is where they are."""
    scene.render.resolution_x, scene.render.resolution_y = FILM
    reach = 0.0
    for frame in frames:
        scene.frame_set(frame)
        for ends in bones(scene):
            reach = max(reach, *(abs(in_view(scene, end)[0] - 0.5) for end in ends))
    whole = HEIGHT * FILM[0] / FILM[1]
    return round(min(max(2.0 * (reach + 0.06) * whole, 1.2 * HEIGHT), whole)), HEIGHT


def light(scene):
    """The look of both film and stills: the solid view with shadows, colours as they are given."""
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.dither_intensity = 0.0  # its noise would make the sheet three times as large
    scene.view_settings.view_transform, scene.view_settings.exposure = "Standard", 0.6
    scene.display.render_aa = "8"
    shading = scene.display.shading
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_shadows, shading.shadow_intensity = True, 0.4
    shading.show_cavity = True


def render_film(scene, path):
    render, settings = scene.render, scene.render.image_settings
    if hasattr(settings, "media_type"):  # Blender 5.0 asks first whether it is a video
        settings.media_type = "VIDEO"
    settings.file_format = "FFMPEG"
    render.ffmpeg.format, render.ffmpeg.codec, render.ffmpeg.constant_rate_factor = "MPEG4", "H264", "HIGH"
    render.resolution_x, render.resolution_y, render.resolution_percentage = *FILM, 100
    render.filepath = str(path)
    bpy.ops.render.render(animation=True)
    if not path.exists():
        raise SystemExit(f"{path.name} was not written")


def still(scene, frame, size, folder):
    """The picture (rows from below, columns, 3) of one frame."""
    render, settings = scene.render, scene.render.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "IMAGE"
    settings.file_format, settings.color_mode = "PNG", "RGB"
    render.resolution_x, render.resolution_y = size
    path = folder / f"{frame}.png"
    render.filepath = str(path)
    scene.frame_set(frame)
    bpy.ops.render.render(write_still=True)
    return load(path)


@contextmanager
def full_height(camera):
    """Inside, pictures of any shape show as much from top to bottom as the film does, and less at the sides."""
    before = camera.sensor_fit, camera.sensor_height
    camera.sensor_height = camera.sensor_width * FILM[1] / FILM[0]
    camera.sensor_fit = "VERTICAL"
    try:
        yield
    finally:
        camera.sensor_fit, camera.sensor_height = before


def load(path):
    image = bpy.data.images.load(str(path))
    values = np.empty(image.size[0] * image.size[1] * image.channels, dtype=np.float32)
    image.pixels.foreach_get(values)
    return values.reshape(image.size[1], image.size[0], image.channels)[..., :3]


def save(picture, path):
    """Write a picture (rows from below, columns, 3) as PNG."""
    height, width, _ = picture.shape
    image = bpy.data.images.new(path.name, width, height, alpha=False)
    image.pixels.foreach_set(np.dstack([picture, np.ones((height, width), dtype=np.float32)]).ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()


if __name__ == "__main__":
    leave_after(film, *sys.argv[1:])
