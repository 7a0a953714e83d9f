# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of all grips of the scene: who holds what, and when."""

from bpy.types import UIList

from ..rig.hold import ends_of
from ..rig.intervals import grips
from ..rig.overview import when_text
from . import settings

ICONS = {
    "BALL": "SPHERE", "FIXED": "PINNED", "HINGE": "DRIVER_ROTATIONAL_DIFFERENCE", "SLIDER": "DRIVER_DISTANCE",
    "CYLINDER": "MESH_CYLINDER", "PLANE": "MESH_PLANE"}


class TRAPEZE_UL_grips(UIList):
    """Grips among the objects of the scene"""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        first, second = ends_of(item)
        row = layout.row(align=True)
        row.prop(item.trapeze.grip, "active", text="")
        row.label(text=f"{first} on {second}" if second.owner else f"{first}", icon=ICONS[item.trapeze.grip.joint])
        times = row.row()
        times.alignment = "RIGHT"
        times.label(text=when_text(context.scene, item))

    def filter_items(self, context, data, propname):
        owners = getattr(data, propname)
        shown = [self.bitflag_filter_item if owner.trapeze.role == "GRIP" else 0 for owner in owners]
        return shown, []


def chosen_grip(context):
    """The grip that is meant: the active object, or the one chosen in the list."""
    owner, index = context.active_object, context.scene.trapeze.grip_index
    if owner and owner.trapeze.role == "GRIP":
        return owner
    owners = context.scene.objects
    listed = owners[index] if 0 <= index < len(owners) else None
    return listed if listed and listed.trapeze.role == "GRIP" else None


def draw_list(layout, context):
    """The list and the settings of the grip that is meant."""
    if not grips(context.scene):
        layout.label(text="No grips yet", icon="INFO")
        return
    layout.template_list("TRAPEZE_UL_grips", "", context.scene, "objects", context.scene.trapeze, "grip_index", rows=3)
    owner = chosen_grip(context)
    if owner:
        header, body = layout.panel("trapeze_grip")
        header.label(text=owner.name, icon="EMPTY_ARROWS")
        if body:
            settings.grip_settings(body, owner)


CLASSES = (TRAPEZE_UL_grips,)
