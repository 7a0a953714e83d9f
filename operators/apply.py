# SPDX-License-Identifier: GPL-3.0-or-later
"""Show the source or the result, and hand the result over."""

from bpy.props import EnumProperty
from bpy.types import Operator

from ..rig import switch
from ..rig.actions import Motion
from ..rig.errors import RigError
from ..rig.thin import thin_result


class Results:
    """Works on all figures and props of the scene that have a result: they were simulated together."""

    @classmethod
    def poll(cls, context):
        if switch.results(context.scene):
            return True
        cls.poll_message_set("There is no result yet; simulate first")
        return False

    def execute(self, context):
        owners = switch.results(context.scene)
        try:
            for owner in owners:  # before anything is changed
                switch.check_free(owner)
            self.work(context, owners)
        except RigError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.view_layer.update()
        return {"FINISHED"}


class TRAPEZE_OT_show_source_result(Results, Operator):
    """Switch between the motion you keyed and the motion of the last simulation"""

    bl_idname = "trapeze.show_source_result"
    bl_label = "Source / Result"
    bl_options = {"REGISTER", "UNDO"}

    show: EnumProperty(
        name="Show", description="Which motion plays",
        items=(
            ("OTHER", "The Other", "The one that does not play now"),
            ("SOURCE", "Source", "The motion you keyed"),
            ("RESULT", "Result", "The motion of the last simulation")),
        default="OTHER")

    def work(self, context, owners):
        show = self.show
        if show == "OTHER":
            show = "SOURCE" if any(switch.is_showing_result(owner) for owner in owners) else "RESULT"
        for owner in owners:
            switch.show_result(owner) if show == "RESULT" else switch.show_source(owner)


class TRAPEZE_OT_apply(Results, Operator):
    """Make the result the action of each figure and prop for good, with as few keys as the tolerance allows"""

    bl_idname = "trapeze.apply"
    bl_label = "Apply"
    bl_options = {"REGISTER", "UNDO"}

    def work(self, context, owners):
        settings = context.scene.trapeze
        before = after = 0
        for owner in owners:
            switch.show_result(owner)
        context.view_layer.update()
        for owner in owners:
            if settings.use_reduction:
                state = switch.playing(owner)
                counts = thin_result(
                    context.scene, owner, Motion(state.result, state.result_slot), switch.written_channels(owner),
                    settings.tolerance_angle, settings.tolerance_distance / 1000.0)
                before, after = before + counts[0], after + counts[1]
            switch.hand_over(owner)
        message = f"Applied to {', '.join(owner.name for owner in owners)}"
        self.report({"INFO"}, f"{message}: {after} keys of {before}" if settings.use_reduction else message)


CLASSES = TRAPEZE_OT_show_source_result, TRAPEZE_OT_apply
