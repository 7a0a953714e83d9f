# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of all grips of the scene: who holds what, and when."""

from bpy.types import UIList

from ..rig.hold import ends_of
from ..rig.intervals import grips
from ..rig.overview import when_text
from . import settings
from .listed import Listed, chosen

ICONS = {
    "BALL": "SPHERE", "FIXED": "PINNED", "HINGE": "DRIVER_ROTATIONAL_DIFFERENCE", "SLIDER": "DRIVER_DISTANCE",
    "CYLINDER": "MESH_CYLINDER", "PLANE": "MESH_PLANE"}


class TRAPEZE_UL_grips(Listed, UIList):
    """Grips among the objects of the scene"""

    role = "GRIP"

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        first, second = ends_of(item)
        row = layout.row(align=True)
        row.prop(item.trapeze.grip, "active", text="")
        row.label(text=f"{first} on {second}" if second.owner else f"{first}", icon=ICONS[item.trapeze.grip.joint])
        times = row.row()
        times.alignment = "RIGHT"
        times.label(text=when_text(context.scene, item))


def draw_list(layout, context):
    """The list and the settings of the grip that is meant."""
    if not grips(context.scene):
        layout.label(text="No grips yet", icon="INFO")
        return
    layout.template_list("TRAPEZE_UL_grips", "", context.scene, "objects", context.scene.trapeze, "grip_index", rows=3)
    owner = chosen(context, "GRIP", context.scene.trapeze.grip_index)
    if owner:
        header, body = layout.panel("trapeze_grip")
        header.label(text=owner.name, icon="EMPTY_ARROWS")
        if body:
            settings.grip_settings(body, owner)


CLASSES = (TRAPEZE_UL_grips,)
