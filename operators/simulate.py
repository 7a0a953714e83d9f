# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate everything in the scene and let the result play."""

from time import perf_counter

import bpy
from bpy.app.handlers import persistent
from bpy.types import Operator

from ..dynamics import Run, SimulationDiverged, simulate
from ..rig.books import keep_books
from ..rig.errors import RigError
from ..rig.explain import diverged, in_words, jumps
from ..rig.giving import keep_giving
from ..rig.read import read_scene
from ..rig.results import write_results, written_frames
from ..rig.stored import forget, remember
from .job import Job
from .prepare import prepare


def simulate_scene(context, watch=None):
    """Simulate the scene of the context: a generator of progress that returns sentences to tell. Raises RigError.

    watch(read, run)   is called once, before the first step; the run grows from then on
    """
    scene = context.scene
    read, run, told = read_scene(context), Run(), []
    if watch:
        watch(read, run)
    try:
        yield from simulate(read.chain, read.state, iterate=True, run=run, **read.solver)
    except SimulationDiverged as error:
        told.append(diverged(read, error))
        if not scene.trapeze.keep_failed or written_frames(read, run) < 2:
            raise RigError(told[0]) from error
    except ValueError as error:
        raise RigError(in_words(read, str(error))) from error
    told += read.warnings + jumps(read, run) + write_results(scene, read, run)
    told += keep_books(scene, run) + keep_giving(scene, read, run)
    remember(scene, read, run)
    return told


class TRAPEZE_OT_simulate(Job, Operator):
    """Simulate all figures and props of the scene and play the result. The motion you keyed stays as it is"""

    bl_idname, bl_label, bl_options = "trapeze.simulate", "Simulate", {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not any(owner.trapeze.role in ("FIGURE", "PROP") for owner in context.scene.objects):
            cls.poll_message_set("Set up a figure first")
            return False
        if context.mode not in ("OBJECT", "POSE"):
            cls.poll_message_set("Go to Object Mode or Pose Mode")
            return False
        return True

    read = run = None  # until everything is ready

    def job(self, context):
        for _ in prepare():
            yield 0.0
        begin = perf_counter()
        told = yield from simulate_scene(context, self.watch)
        for sentence in told:
            self.report({"WARNING"}, sentence)
        count = written_frames(self.read, self.run)
        self.report({"INFO"}, f"Simulated {count} frames in {perf_counter() - begin:.2f} s")

    def watch(self, read, run):
        self.read, self.run = read, run

    def status(self, progress):
        if self.read is None:
            return "Getting ready. The first time after installing, this takes about a minute"
        frames = self.read.frames
        return f"Simulating frame {frames[0] + int(progress * (len(frames) - 1))} of {frames[-1]}  ({progress:.0%})"


@persistent
def forget_runs(*_):
    forget()


CLASSES = (TRAPEZE_OT_simulate,)


def register():
    bpy.app.handlers.load_pre.append(forget_runs)


def unregister():
    bpy.app.handlers.load_pre.remove(forget_runs)
    forget()
