# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions, the same in every Blender: 4.2 keeps F-curves in the action, 4.4 and later in the channels of a slot.

Everything else in Trapeze knows a `Motion`: an action as one object plays it. Only this file knows about slots,
layers and strips. A slot is remembered by its identifier, which survives saving and undo; "" stands for no slot.
"""

from dataclasses import dataclass

import bpy

SLOTTED = bpy.app.version >= (4, 4, 0)
GROUP_BY_NAME = bpy.app.version >= (5, 0, 0)  # F-curves take the name of their group when they are made


@dataclass(frozen=True)
class Motion:
    """An action, and the slot of it that moves the object."""

    action: bpy.types.Action
    slot: str = ""

    def curves(self):
        """The F-curves of the object: a Blender collection, empty where nothing was keyed yet."""
        if not SLOTTED:
            return self.action.fcurves
        bag = self._bag()
        return bag.fcurves if bag else ()

    def add(self, path, index, group):
        """A new, empty F-curve in a group of the given name."""
        if not SLOTTED:
            return self.action.fcurves.new(path, index=index, action_group=group)
        bag = self._bag(ensure=True)
        if GROUP_BY_NAME:
            return bag.fcurves.new(path, index=index, group_name=group)
        curve = bag.fcurves.new(path, index=index)
        curve.group = bag.groups.get(group) or bag.groups.new(group)
        return curve

    def remove(self, curve):
        self.curves().remove(curve)

    def assign(self, owner):
        """Let the object play this action through this slot."""
        animation = owner.animation_data or owner.animation_data_create()
        animation.action = self.action
        if SLOTTED:
            slot = self._slot() or next(iter(animation.action_suitable_slots), None)
            animation.action_slot = slot if self.slot else None

    def copy(self, name):
        """A copy of the action with nothing in it but this object's channels."""
        action = self.action.copy()
        action.name = name
        if SLOTTED:
            for slot in list(action.slots):
                if slot.identifier != self.slot:
                    action.slots.remove(slot)
        return Motion(action, self.slot)

    def open_groups(self):
        """Let new curves play in any group: where a group is silent, its curves are silenced one by one instead."""
        for group in () if SLOTTED else self.action.groups:
            if group.mute:
                for curve in group.channels:
                    curve.mute = True
                group.mute = False

    def _slot(self):
        return next((slot for slot in self.action.slots if slot.identifier == self.slot), None)

    def _bag(self, ensure=False):
        slot = self._slot()
        if slot is None:
            return None
        for layer in self.action.layers:
            for strip in layer.strips:
                bag = strip.channelbag(slot)
                if bag:
                    return bag
        if not ensure:
            return None
        layer = self.action.layers[0] if self.action.layers else self.action.layers.new("Layer")
        strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
        return strip.channelbag(slot, ensure=True)


def is_muted(curve):
    """Whether a curve has no effect. The groups of a slot have a mute switch, too, but it does nothing."""
    return curve.mute or bool(not SLOTTED and curve.group and curve.group.mute)


def new_motion(name, owner):
    """An empty action with a slot for the object."""
    action = bpy.data.actions.new(name)
    if not SLOTTED:
        action.id_root = "OBJECT"
        return Motion(action)
    return Motion(action, action.slots.new(id_type="OBJECT", name=owner.name).identifier)


def motion_of(owner):
    """What the object plays now, apart from its NLA tracks; None without an action."""
    animation = owner.animation_data
    if animation is None or animation.action is None:
        return None
    slot = animation.action_slot.identifier if SLOTTED and animation.action_slot else ""
    return Motion(animation.action, slot)


def strip_motion(strip):
    """What a strip of an NLA track plays."""
    slot = strip.action_slot.identifier if SLOTTED and strip.action_slot else ""
    return Motion(strip.action, slot)


def clear(owner):
    """Take the action off the object."""
    if owner.animation_data:
        owner.animation_data.action = None
