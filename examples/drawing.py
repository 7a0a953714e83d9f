# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact sheets: instants of a run side by side, as plain line drawings. Needs matplotlib."""

from dataclasses import dataclass, field
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Circle

from examples.figure import BODIES, FIST, HEAD, HIP, SHANK, SHOULDER, TIES

PAPER, FRAME, INK, FAINT, ACCENT = "#fbfaf7", "#dcd8cf", "#2b2f38", "#8f897e", "#c4452f"
TORSO, LEFT, RIGHT, WOOD = "#39465c", "#5f7596", "#d98a52", "#a8875c"
WIDTHS = {"upper arm": 0.085, "forearm": 0.07, "thigh": 0.135, "shank": 0.10}  # m
PANEL = 2.5  # inches


@dataclass
class Stroke:
    """A round-ended line through points in space; a single point is a disc."""

    points: np.ndarray
    width: float  # m
    colour: str
    nearer: float = 0.0  # m: drawn as if it were that much closer to the eye
    filled: bool = False


@dataclass
class Panel:
    instant: int  # of the run
    caption: str
    note: str
    accent: str  # what has just happened
    strokes: list = field(default_factory=list)
    trail: np.ndarray | None = None  # (n, 3) a dotted path


@dataclass
class View:
    """A parallel projection."""

    azimuth: float  # rad: 0 looks from the front (+X), -pi/2 from the right
    elevation: float  # rad above level
    window: tuple  # m on the sheet: left, right, low, high

    def project(self, points):
        """(n, 2) places on the sheet, and (n) how near they are to the eye."""
        ca, sa, ce, se = np.cos(self.azimuth), np.sin(self.azimuth), np.cos(self.elevation), np.sin(self.elevation)
        right, up, eye = (-sa, ca, 0.0), (-se * ca, -se * sa, ce), (ce * ca, ce * sa, se)
        points = np.asarray(points, dtype=float).reshape(-1, 3)
        return points @ np.array([right, up]).T, points @ np.array(eye)


def pick_panels(run, counts, number):
    """Empty panels for instants at equal distances; the first one after each event says so."""
    panels, shown = [], 1
    for i in np.linspace(0, len(run) - 1, number).round().astype(int):
        past = [count for count in counts if count.time < run.times[i] + 1e-9]
        accent = ", ".join(count.what for count in past[shown:])
        panels.append(Panel(int(i), f"{run.times[i]:.2f} s", f"{past[-1].joints} degrees of freedom", accent))
        shown = len(past)
    return panels


def figure_strokes(figure, state):
    """The lines of a figure: limbs, torso, head, feet."""
    poses = {name: state.pose(link) for name, link in figure.links.items()}

    def spot(name, place):
        return poses[name].apply(figure.inside(name, place))

    strokes = []
    for side, colour in (("left", LEFT), ("right", RIGHT)):
        joints = {tie.outer: tie.place for tie in TIES if tie.outer.startswith(side)}
        sole = joints[f"{side} shank"] + (0.0, 0.0, -SHANK)
        elbow, knee = joints[f"{side} forearm"], joints[f"{side} shank"]
        ends = {"upper arm": elbow, "forearm": FIST[side], "thigh": knee, "shank": sole}
        for part, end in ends.items():
            name = f"{side} {part}"
            strokes.append(Stroke(np.array([spot(name, joints[name]), spot(name, end)]), WIDTHS[part], colour))
        shank = f"{side} shank"
        strokes.append(Stroke(np.array([spot(shank, sole), spot(shank, sole + (0.15, 0.0, -0.02))]), 0.07, colour))
        strokes.append(Stroke(spot(f"{side} forearm", FIST[side])[None], 0.085, colour, nearer=0.05))
    corners = [SHOULDER * (1, 0.75, 0.94), SHOULDER * (1, -0.75, 0.94), HIP * (1, -0.7, 1), HIP * (1, 0.7, 1)]
    strokes.append(Stroke(np.array([spot("torso", corner) for corner in corners]), 0.15, TORSO, filled=True))
    neck = np.array([spot("torso", HEAD * (1, 1, 0.8)), spot("torso", HEAD)])
    strokes.append(Stroke(neck, 0.09, TORSO, nearer=-0.1))
    strokes.append(Stroke(spot("torso", HEAD)[None], 0.21, TORSO))
    return strokes


def centre_of_mass(figure, state):
    moment, mass = np.zeros(3), 0.0
    for name, body in BODIES.items():
        moment += body.mass * state.pose(figure.links[name]).apply(figure.inside(name, body.centre))
        mass += body.mass
    return moment / mass


def contact_sheet(path, title, subtitle, panels, view, columns=5):
    """Write the panels to a picture file."""
    rows = -(-len(panels) // columns)
    left, right, low, high = view.window
    height = PANEL * (high - low) / (right - left)
    margin, head, foot, gap = 0.35, 0.85, 0.36, 0.14
    size = (2 * margin + columns * PANEL + (columns - 1) * gap, head + rows * (height + foot) + 0.15)
    sheet = plt.figure(figsize=size, facecolor=PAPER)
    sheet.text(margin / size[0], 1 - 0.36 / size[1], title, size=15, color=INK, weight="bold", va="center")
    sheet.text(margin / size[0], 1 - 0.63 / size[1], subtitle, size=9.5, color=FAINT, va="center")
    for n, panel in enumerate(panels):
        row, column = divmod(n, columns)
        x = margin + column * (PANEL + gap)
        y = size[1] - head - row * (height + foot) - height
        axes = sheet.add_axes((x / size[0], y / size[1], PANEL / size[0], height / size[1]))
        _draw(axes, panel, view, 72.0 * PANEL / (right - left))
        words = dict(size=9, va="center")
        sheet.text(x / size[0], (y - 0.13) / size[1], panel.caption, color=INK, **words)
        note, colour = (panel.accent, ACCENT) if panel.accent else (panel.note, FAINT)
        sheet.text((x + PANEL) / size[0], (y - 0.13) / size[1], note, color=colour, ha="right", **words)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.savefig(path, dpi=110, facecolor=PAPER)
    plt.close(sheet)
    return path


def _draw(axes, panel, view, points_per_metre):
    left, right, low, high = view.window
    axes.set(xlim=(left, right), ylim=(low, high), xticks=[], yticks=[], facecolor="white")
    for spine in axes.spines.values():
        spine.set(color=ACCENT if panel.accent else FRAME, linewidth=1.2 if panel.accent else 0.8)
    if panel.trail is not None and len(panel.trail):
        path, _ = view.project(panel.trail)
        axes.plot(path[:, 0], path[:, 1], color=FAINT, linewidth=0.9, linestyle=(0, (1, 2.2)), zorder=1)
    for stroke in panel.strokes:
        flat, near = view.project(stroke.points)
        order = 10.0 + near.mean() + stroke.nearer
        if len(flat) == 1:
            rim = dict(edgecolor="white", linewidth=0.7, zorder=order)
            axes.add_patch(Circle(flat[0], 0.5 * stroke.width, facecolor=stroke.colour, **rim))
            continue
        if stroke.filled:
            flat = np.vstack([flat, flat[:2]])
        width = stroke.width * points_per_metre
        caps = dict(solid_capstyle="round", solid_joinstyle="round", zorder=order)
        if width > 4.0:  # a thin white rim keeps limbs apart that lie behind each other
            axes.plot(flat[:, 0], flat[:, 1], color="white", linewidth=width + 1.4, **caps)
        if stroke.filled:
            axes.fill(flat[:, 0], flat[:, 1], color=stroke.colour, linewidth=0.0, zorder=order)
        axes.plot(flat[:, 0], flat[:, 1], color=stroke.colour, linewidth=width, **caps)
