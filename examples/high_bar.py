# SPDX-License-Identifier: GPL-3.0-or-later
"""The high bar of paper 000 §VII-B, Fig. 20: a limp figure swings, lets go with the right hand, then with the left.

    python -m examples.high_bar [--out FILE]

Each hand holds the bar by a rotational joint, that is by a virtual link whose real link is the forearm. With the six
degrees of freedom of the free base and the two hand joints the figure has 16 + 6 + 2 = 24 in total, 23 after one hand
is off, and 22 in flight.
"""

import numpy as np

from dynamics import Chain, Cut, Joint, Pose, simulate
from examples.figure import FIST, SHOULDER, Figure, about_y
from examples.report import count_freedoms, options, summary, tell

BAR = np.array((0.0, 0.0, 2.75))
GRIP = 0.27  # m from the middle of the bar to each hand
REACH = 0.60  # m from shoulder to fist: nearly straight arms
START = 1.6  # rad from hanging: level, face down, feet behind
RIGHT_OFF, LEFT_OFF, END = 0.85, 1.78, 2.10  # s
STEP = 1 / 480
WORDS = {"right hand": "right hand off", "left hand": "left hand off"}  # what the cuts mean


def build():
    """The figure on the bar at rest: chain, state, figure."""
    chain = Chain()
    figure = Figure(chain)
    state = chain.state()
    # the bar as seen from the torso, straight above the head
    above = SHOULDER[2] + np.sqrt(REACH**2 - (GRIP - SHOULDER[1]) ** 2)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        figure.reach(state, side, (0.0, sign * GRIP, above), elbow_towards=(1.0, 0.0, 0.0))
        figure.bend(state, f"{side} shank", angle=0.1)
    turned = Pose(rotation=about_y(START))
    state.set(figure.links["torso"], rotation=turned.rotation, position=BAR - turned.apply((0.0, 0.0, above)))
    for side in ("left", "right"):
        forearm = figure.links[f"{side} forearm"]
        bar_in_hand = state.pose(forearm).inverse() @ Pose(BAR)
        axis = bar_in_hand.matrix @ (0.0, 1.0, 0.0)
        at = Pose(figure.inside(f"{side} forearm", FIST[side]))
        chain.connect(forearm, chain.world, Joint.revolute(axis), at, state=state, name=f"{side} hand")
    return chain, state, figure


def swing(integrator="rkmk4", step=STEP):
    """The whole motion: the run and the figure."""
    chain, state, figure = build()
    events = [Cut(RIGHT_OFF, "right hand"), Cut(LEFT_OFF, "left hand")]
    return simulate(chain, state, END, step, integrator, events), figure


def draw(path, run, figure, counts):
    # here, so that the simulation can be had without matplotlib
    from examples.drawing import FAINT, INK, Stroke, View, centre_of_mass, contact_sheet, figure_strokes, pick_panels

    ends = BAR + (0.0, -0.8, 0.0), BAR + (0.0, 0.8, 0.0)
    stand = [Stroke(np.array([end, end * (1, 1, 0)]), 0.035, FAINT, nearer=-5.0) for end in ends]
    stand.append(Stroke(np.array(ends), 0.035, INK))
    path_of_centre = np.array([centre_of_mass(figure, run.state(i)) for i in range(len(run))])
    panels = pick_panels(run, counts, 10)
    for panel in panels:
        panel.strokes = stand + figure_strokes(figure, run.state(panel.instant))
        panel.trail = path_of_centre[: panel.instant + 1]
    view = View(azimuth=0.45 - 0.5 * np.pi, elevation=0.12, window=(-2.15, 2.05, -0.15, 3.35))
    return contact_sheet(path, "High bar", summary(run), panels, view)


def main():
    out = options(__doc__.splitlines()[0], "build/high_bar.png").out
    run, figure = swing()
    counts = count_freedoms(run, "both hands on the bar", WORDS)
    tell(f"High bar, rkmk4 at {1000 * STEP:.2f} ms", run, counts)
    print(f"  picture: {draw(out, run, figure, counts)}")


if __name__ == "__main__":
    main()
