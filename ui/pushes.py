# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of all pushes of the scene: what they strike, how hard, when."""

from bpy.types import UIList

from ..rig.pushes import push_text, pushes
from . import settings


class TRAPEZE_UL_pushes(UIList):
    """Pushes among the objects of the scene"""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        layout.label(text=push_text(item), icon="EMPTY_SINGLE_ARROW")

    def filter_items(self, context, data, propname):
        owners = getattr(data, propname)
        shown = [self.bitflag_filter_item if owner.trapeze.role == "PUSH" else 0 for owner in owners]
        return shown, []


def chosen_push(context):
    """The push that is meant: the active object, or the one chosen in the list."""
    owner, index, owners = context.active_object, context.scene.trapeze.push_index, context.scene.objects
    if owner and owner.trapeze.role == "PUSH":
        return owner
    listed = owners[index] if 0 <= index < len(owners) else None
    return listed if listed and listed.trapeze.role == "PUSH" else None


def draw_list(layout, context):
    """The list and the settings of the push that is meant."""
    if not pushes(context.scene):
        return
    layout.template_list("TRAPEZE_UL_pushes", "", context.scene, "objects", context.scene.trapeze, "push_index", rows=2)
    owner = chosen_push(context)
    if owner:
        header, body = layout.panel("trapeze_push")
        header.label(text=owner.name, icon="EMPTY_SINGLE_ARROW")
        if body:
            settings.push_settings(body, owner)


CLASSES = (TRAPEZE_UL_pushes,)
