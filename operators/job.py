# SPDX-License-Identifier: GPL-3.0-or-later
"""Work that takes a while: one generator, driven by the button with progress and Esc, and at one go by scripts.

The generator yields its progress from 0 to 1. It changes the file only after its last yield, so that closing it at any
moment leaves everything as it was.
"""

from time import perf_counter

import bpy

from ..rig.errors import RigError

SLICE = 0.04  # seconds of work between two redraws
PAUSE = 0.01
# Looking around does no harm while the work goes on; everything else waits.
LOOKING = {
    "MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "TRACKPADPAN", "TRACKPADZOOM",
    "MOUSEROTATE", "NDOF_MOTION", "WINDOW_DEACTIVATE"}

running = None  # the Job that works now, for the status bar and the viewport


class Job:
    """An operator with a generator job(context), which yields progress, and status(progress), one line of text."""

    def execute(self, context):
        try:
            for _ in self.job(context):
                pass
        except RigError as error:
            return self.fail(error)
        return {"FINISHED"}

    def invoke(self, context, event):
        if bpy.app.background or context.window is None:
            return self.execute(context)
        global running
        if running is not None:
            return self.fail("Another simulation is running; wait for it or press Esc")
        self.work, self.progress = self.job(context), 0.0
        manager = context.window_manager
        self.timer = manager.event_timer_add(PAUSE, window=context.window)
        manager.progress_begin(0, 100)
        manager.modal_handler_add(self)
        running = self
        redraw(context)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, f"{self.bl_label} was cancelled; nothing has changed")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"} if event.type in LOOKING else {"RUNNING_MODAL"}
        before = self.progress
        try:
            done = self.advance()
        except RigError as error:
            self.end(context)
            return self.fail(error)
        except BaseException:
            self.end(context)
            raise
        if done:
            self.end(context)
            return {"FINISHED"}
        context.window_manager.progress_update(round(100 * self.progress))
        context.workspace.status_text_set(f"{self.status(self.progress)}    Esc: cancel")
        if self.progress != before:
            redraw(context)
        return {"RUNNING_MODAL"}

    def advance(self):
        """Work for a moment; returns whether all is done."""
        until = perf_counter() + SLICE
        while perf_counter() < until:
            try:
                self.progress = next(self.work)
            except StopIteration:
                return True
        return False

    def cancel(self, context):
        """Esc, or Blender is closing."""
        self.work.close()
        self.end(context)

    def end(self, context):
        global running
        running = None
        context.window_manager.event_timer_remove(self.timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        redraw(context)

    def fail(self, error):
        self.report({"ERROR"}, str(error))
        return {"CANCELLED"}

    def status(self, progress):
        return self.bl_label


def redraw(context):
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "PROPERTIES"):
                area.tag_redraw()
