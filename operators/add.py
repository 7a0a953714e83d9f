# SPDX-License-Identifier: GPL-3.0-or-later
"""Add > Trapeze: demo scenes to look at, to simulate and to take apart."""

import bpy
from bpy.props import EnumProperty
from bpy.types import Menu, Operator

from ..rig.artists import artists
from ..rig.demos import DEMOS
from ..rig.giant import giant_swing
from ..rig.shove import shove
from .setup import Reporting

BUILD = {**DEMOS, "GIANT": giant_swing, "ARTISTS": artists, "SHOVE": shove}
ITEMS = (
    ("HIGH_BAR", "High Bar", "A gymnast swings on a bar and lets go with one hand after the other"),
    ("GIANT", "Giant Swing", "A gymnast swings over the top of a bar by the work of his muscles"),
    ("SWING", "Swing", "A swing breaks down while somebody is playing on it"),
    ("ARTISTS", "Two Trapeze Artists", "A flyer lets go of a trapeze, turns over in the air and is caught"),
    ("SHOVE", "Shove", "Somebody who stands is pushed, sways and comes back, and has to step when pushed harder"))
ICONS = {
    "HIGH_BAR": "ARMATURE_DATA", "GIANT": "FORCE_VORTEX", "SWING": "CON_PIVOT", "ARTISTS": "COMMUNITY",
    "SHOVE": "FORCE_FORCE"}


class TRAPEZE_OT_add_demo(Reporting, Operator):
    """Add a demo scene with everything in it that a simulation needs. Sets frame range, frame rate and camera"""

    bl_idname, bl_label, bl_options = "trapeze.add_demo", "Add Demo Scene", {"REGISTER", "UNDO"}

    demo: EnumProperty(name="Demo", description="Which scene", items=ITEMS)

    @classmethod
    def description(cls, context, properties):
        return f"{next(text for name, _, text in ITEMS if name == properties.demo)}. Then press Simulate"

    def run(self, context):
        BUILD[self.demo](context.scene)
        if getattr(context.space_data, "type", "") == "VIEW_3D" and context.region_data:
            context.region_data.view_perspective = "CAMERA"  # as the scene is meant to be seen
        self.report({"INFO"}, "Press Simulate in the Trapeze tab of the sidebar")
        return {"FINISHED"}


class TRAPEZE_MT_add(Menu):
    bl_idname, bl_label = "TRAPEZE_MT_add", "Trapeze"

    def draw(self, context):
        for name, label, _ in ITEMS:
            self.layout.operator(TRAPEZE_OT_add_demo.bl_idname, text=label, icon=ICONS[name]).demo = name


CLASSES = (TRAPEZE_OT_add_demo, TRAPEZE_MT_add)


def draw_menu(menu, context):
    menu.layout.menu(TRAPEZE_MT_add.bl_idname, icon="CON_ARMATURE")


def register():
    bpy.types.VIEW3D_MT_add.append(draw_menu)


def unregister():
    bpy.types.VIEW3D_MT_add.remove(draw_menu)
