# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of all pushes of the scene: what they strike, how hard, when."""

from bpy.types import UIList

from ..rig.pushes import push_text, pushes
from . import settings
from .listed import Listed, chosen


class TRAPEZE_UL_pushes(Listed, UIList):
    """Pushes among the objects of the scene"""

    role = "PUSH"

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        layout.label(text=push_text(item), icon="EMPTY_SINGLE_ARROW")


def draw_list(layout, context):
    """The list and the settings of the push that is meant."""
    if not pushes(context.scene):
        return
    layout.template_list("TRAPEZE_UL_pushes", "", context.scene, "objects", context.scene.trapeze, "push_index", rows=2)
    owner = chosen(context, "PUSH", context.scene.trapeze.push_index)
    if owner:
        header, body = layout.panel("trapeze_push")
        header.label(text=owner.name, icon="EMPTY_SINGLE_ARROW")
        if body:
            settings.push_settings(body, owner)


CLASSES = (TRAPEZE_UL_pushes,)
