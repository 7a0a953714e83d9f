# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lists of grips and of pushes share: they show the objects of the scene that have a role."""


class Listed:
    """Mixin of a UIList that shows the objects with the role `role` among those of the scene."""

    def filter_items(self, context, data, propname):
        owners = getattr(data, propname)
        return [self.bitflag_filter_item if owner.trapeze.role == self.role else 0 for owner in owners], []


def chosen(context, role, index):
    """The object of a role that is meant: the active object, or the one chosen in the list."""
    owner, owners = context.active_object, context.scene.objects
    if owner and owner.trapeze.role == role:
        return owner
    listed = owners[index] if 0 <= index < len(owners) else None
    return listed if listed and listed.trapeze.role == role else None
