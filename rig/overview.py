# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene has to simulate, as text: figures with their links and masses, props, grips with their intervals."""

from math import isfinite

from .anchors import showing
from .hold import ends_of
from .intervals import grips, is_blended, keyed_intervals
from .links import read_links
from .props import prop_inertia
from .pushes import push_text, pushes
from .read import frame_range, taking_part


def overview(context):
    """Everything that takes part."""
    depsgraph, scene = context.evaluated_depsgraph_get(), context.scene
    figures, props = taking_part(depsgraph)
    start, end = frame_range(scene)
    lines = [f"Scene {scene.name}: frames {start} to {end}, {scene.render.fps / scene.render.fps_base:g} fps"]
    for owner in figures:
        lines += _figure(owner, depsgraph)
    for owner in props:
        mass = prop_inertia(owner, depsgraph)[0]
        lines.append(f"Prop {owner.name}: dynamic, {mass:.4g} kg")
    lines += [f"Grip {grip.name}: {grip_text(scene, grip)}" for grip in grips(scene)]
    lines += [f"Push {push.name}: {push_text(push)}" for push in pushes(scene)]
    return "\n".join(lines)


def _figure(owner, depsgraph):
    with showing([owner]):
        links = read_links(owner, depsgraph)
    yield f"Figure {owner.name}: {len(links)} links, {sum(link.mass for link in links):.4g} kg"
    for link in links:
        on = f" on {links[link.parent].name}" if link.parent >= 0 else ""
        merged = f", with {', '.join(link.bones[1:])}" if len(link.bones) > 1 else ""
        yield f"  {link.name}: {link.joint.lower()}{on}, {link.mass:.4g} kg{merged}"


def grip_text(scene, grip):
    """Who holds what, how and when."""
    first, second = ends_of(grip)
    kind = f"{grip.trapeze.grip.hold.lower()} {grip.trapeze.grip.joint.lower()}"
    return f"{first} holds {second}, {kind}, {when_text(scene, grip)}"


def when_text(scene, grip):
    """The intervals of a grip in a few words."""
    if is_blended(scene, grip):
        return "by driver or NLA"
    spans = keyed_intervals(scene, grip)
    if not spans:
        return "never"
    return ", ".join(_span(start, end) for start, end in spans)


def _span(start, end):
    if not isfinite(start):
        return f"until {end:g}" if isfinite(end) else "always"
    return f"{start:g} to {end:g}" if isfinite(end) else f"from {start:g}"
