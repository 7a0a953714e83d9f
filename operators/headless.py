# SPDX-License-Identifier: GPL-3.0-or-later
"""Trapeze without a window: blender --background FILE --command trapeze simulate|apply|info [options].

Does what the buttons do, through the same operators. Exit codes: 0 done, 1 something in the file cannot be simulated or
the simulation broke off, 2 the command is wrong. What went wrong is one sentence on stderr.
"""

import argparse
import sys
from math import radians

import bpy

from ..rig.books import books_text, stored_books
from ..rig.errors import RigError
from ..rig.overview import overview

_handle = None


def main(arguments):
    """Run one command on the file that is open. Returns the exit code."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stopped:  # argparse has said what is wrong, or printed its help
        return int(stopped.code or 0)
    if options.scene:
        if options.scene not in bpy.data.scenes:
            return complain(f"There is no scene {options.scene} in this file", 2)
        bpy.context.window.scene = bpy.data.scenes[options.scene]
    if options.verb is not info and not options.output and not bpy.data.filepath:
        return complain("There is no file to save to; name one with --output", 2)
    try:
        options.verb(bpy.context, options)
    except (RigError, RuntimeError) as error:
        # operators raise RuntimeError with what they report, or with why they cannot be used now
        reason = str(error).removeprefix("Error: ").rpartition(".poll() ")[2].removeprefix("failed, ")
        return complain(reason.strip(), 1)
    if options.verb is not info:
        path = options.output or bpy.data.filepath
        bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
        print(f"Saved {path}")
    return 0


def complain(sentence, code):
    print(f"trapeze: {sentence}", file=sys.stderr)
    return code


def simulate(context, options):
    settings = context.scene.trapeze
    if options.start is not None or options.end is not None:
        settings.frame_start = context.scene.frame_start if options.start is None else options.start
        settings.frame_end = context.scene.frame_end if options.end is None else options.end
        settings.use_scene_range = False
    if options.substeps is not None:
        settings.substeps = options.substeps
    if options.integrator is not None:
        settings.integrator = options.integrator.upper()
    bpy.ops.trapeze.simulate()
    print(books_text(stored_books(context.scene)))


def apply(context, options):
    settings = context.scene.trapeze
    if options.angle is not None:
        settings.tolerance_angle = radians(options.angle)
    if options.distance is not None:
        settings.tolerance_distance = options.distance
    if options.every_frame:
        settings.use_reduction = False
    bpy.ops.trapeze.apply()


def info(context, options):
    print(overview(context))


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def parser():
    top = argparse.ArgumentParser("blender --background FILE --command trapeze", description=__doc__.splitlines()[0])
    verbs = top.add_subparsers(required=True, metavar="simulate|apply|info")
    one = verbs.add_parser("simulate", help="simulate the figures and props of the scene and save the result")
    one.set_defaults(verb=simulate)
    one.add_argument("--start", type=int, help="first frame; otherwise as set in the file")
    one.add_argument("--end", type=int, help="last frame")
    one.add_argument("--substeps", type=positive, help="steps in one frame")
    one.add_argument("--integrator", choices=("midpoint", "rkmk4", "semi_implicit", "euler"))
    two = verbs.add_parser("apply", help="hand the result over as the action of each figure and prop, and save")
    two.set_defaults(verb=apply)
    two.add_argument("--angle", type=float, help="tolerance in degrees")
    two.add_argument("--distance", type=float, help="tolerance in millimetres")
    two.add_argument("--every-frame", action="store_true", help="keep one key on every frame")
    three = verbs.add_parser("info", help="say what would be simulated")
    three.set_defaults(verb=info, output="")
    for verb in (one, two):
        verb.add_argument("--output", default="", metavar="FILE", help="where to save; otherwise the file itself")
    for verb in (one, two, three):
        verb.add_argument("--scene", default="", help="name of the scene; otherwise the one that was open when saved")
    return top


def register():
    global _handle
    _handle = bpy.utils.register_cli_command("trapeze", main)


def unregister():
    global _handle
    if _handle is not None:
        bpy.utils.unregister_cli_command(_handle)
        _handle = None
