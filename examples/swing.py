# SPDX-License-Identifier: GPL-3.0-or-later
"""The swing of paper 000 §VII-B, Fig. 21: what happens if a swing breaks down while you are playing on it?

    python -m examples.swing [--out FILE]

The plate comes off the left rod, the thighs slide off the plate, the hands hold on to the rods. Paper 001 §5.2 says
what the swing is made of: the rods hang on spherical joints, the hands hold them by spherical joints too, and each
thigh slides sideways on the plate. The joints of the figure (16), the rods (2 x 3), the hands (2 x 3) and the
thighs (2 x 1) make 30, which leaves none for a free base. So the figure hangs in the tree by its right hand:

    world -(3)- right rod -(0)- plate
                right rod -(3)- right forearm -(1)- right upper arm -(3)- torso -(3)- ...
    world -(3)- left rod

and four virtual links close the rest: the left hand (3), the thighs (1 and 1), the plate on the left rod (0). There are
30 at first, still 30 when the plate comes off (a fixed joint has none), then 29, and 28 at the end. With the figure on
a free base the same swing has 36 at first and 34 at the end, the same mobility and the same motion.
"""

import numpy as np

from dynamics import Chain, Cut, Inertia, Joint, Pose, Travel, simulate
from examples.figure import BODIES, FIST, HIP, Figure, about_y
from examples.report import count_freedoms, options, summary, tell

BEAM = 3.1  # m above the ground
ROD = 2.1  # m
HALF = 0.27  # m from the middle of the plate to each rod
HANDS = 0.98  # m above the plate
HIPS = np.array((-0.10, 0.0, 0.10))  # on the plate
LEAN = 0.5  # rad, back
START = 0.6  # rad behind the plumb line
BREAKS, END = 0.80, 2.05  # s
STEP = 1 / 480
WORDS = {"hanger": "plate off the left rod", "left seat": "left thigh off", "right seat": "right thigh off"}
SIDES = (("left", 1.0), ("right", -1.0))


def sit(figure, state):
    """Bend a figure so that it sits and reaches for the rods."""
    upright = Pose(rotation=about_y(LEAN))  # what is level, as seen from the leaning torso
    for side, sign in SIDES:
        figure.bend(state, f"{side} thigh", rotation=about_y(LEAN - 0.5 * np.pi))
        figure.bend(state, f"{side} shank", angle=1.35)
        hand = upright.apply(np.array((0.0, sign * HALF, HANDS)) - HIPS)
        figure.reach(state, side, hand, elbow_towards=upright.apply((-0.3, sign, -0.6)))


def build(free_base=False):
    """Figure and swing at rest, held back by START: chain, state, figure.

    free_base   describe the figure on a free base instead, with a virtual link for the right hand as well
    """
    chain = Chain()
    rods = {}
    for side, sign in SIDES:
        inertia = Inertia.box(2.0, (0.03, 0.03, ROD), (0.0, 0.0, -0.5 * ROD))
        rods[side] = chain.add(f"{side} rod", None, Joint.spherical(), Pose((0.0, sign * HALF, BEAM)), inertia)
    board = Inertia.box(4.0, (0.28, 2.0 * HALF, 0.03))
    plate = chain.add("plate", rods["right"], Joint.fixed(), Pose((0.0, HALF, -ROD)), board)

    # Sitting on a free base, in axes of the plate, tells where the torso and the hands are.
    model = Figure(Chain())
    seated = model.chain.state()
    sit(model, seated)
    seated.set(model.links["torso"], position=HIPS, rotation=about_y(-LEAN))
    swung = Pose((0.0, 0.0, BEAM), about_y(START)) @ Pose((0.0, 0.0, -ROD))  # the plate's middle
    if free_base:
        figure = Figure(chain)
        state = chain.state()
        torso = swung @ seated.pose(model.links["torso"])
        state.set(figure.links["torso"], position=torso.position, rotation=torso.rotation)
    else:
        fist = Pose((0.0, 0.0, HANDS - ROD))
        figure = Figure(chain, "right forearm", FIST["right"], rods["right"], Joint.spherical(), fist)
        state = chain.state()
        state.set(figure.links["right forearm"], rotation=seated.pose(model.links["right forearm"]).rotation)
    sit(figure, state)
    for rod in rods.values():
        state.set(rod, rotation=about_y(START))

    chain.connect(plate, rods["left"], Joint.fixed(), Pose((0.0, HALF, 0.0)), state=state, name="hanger")
    for side, _ in SIDES if free_base else SIDES[:1]:
        forearm = f"{side} forearm"
        fist = Pose(figure.inside(forearm, FIST[side]))
        chain.connect(figure.links[forearm], rods[side], Joint.spherical(), fist, state=state, name=f"{side} hand")
    for side, _ in SIDES:
        thigh, sideways = f"{side} thigh", Joint.prismatic((0.0, 1.0, 0.0))
        middle = Pose(figure.inside(thigh, BODIES[thigh].centre))
        chain.connect(figure.links[thigh], plate, sideways, middle, state=state, name=f"{side} seat")
    return chain, state, figure


def play(integrator="rkmk4", step=STEP, free_base=False):
    """The whole motion: the run and the figure."""
    chain, state, figure = build(free_base)
    events = [Cut(BREAKS, "hanger")]
    for side, sign in SIDES:
        # a thigh is off the plate when its middle passes either end
        seat, place = f"{side} seat", sign * HIP[1]
        events.append(Cut(Travel(seat, -HALF - place, HALF - place), seat))
    return simulate(chain, state, END, step, integrator, events), figure


def draw(path, run, figure, counts):
    # here, so that the simulation can be had without matplotlib
    from examples.drawing import FAINT, INK, WOOD, Stroke, View, contact_sheet, figure_strokes, pick_panels

    panels = pick_panels(run, counts, 10)
    for panel in panels:
        state = run.state(panel.instant)
        plate = state.pose("plate")
        corners = [plate.apply((x, y, 0.0)) for x, y in ((0.12, HALF), (0.12, -HALF), (-0.12, -HALF), (-0.12, HALF))]
        panel.strokes = [
            Stroke(np.array([(0.0, -1.0, BEAM), (0.0, 1.0, BEAM)]), 0.05, INK),
            Stroke(np.array(corners), 0.035, WOOD, filled=True),
            *figure_strokes(figure, state),
        ]
        for side, _ in SIDES:
            rod = state.pose(f"{side} rod")
            panel.strokes.append(Stroke(np.array([rod.position, rod.apply((0.0, 0.0, -ROD))]), 0.03, FAINT))
    view = View(azimuth=0.75 - 0.5 * np.pi, elevation=0.12, window=(-1.75, 1.75, -0.1, 3.4))
    return contact_sheet(path, "Swing", summary(run), panels, view)


def main():
    out = options(__doc__.splitlines()[0], "build/swing.png").out
    run, figure = play()
    counts = count_freedoms(run, "hands and thighs hold", WORDS)
    tell(f"Swing, rkmk4 at {1000 * STEP:.2f} ms", run, counts)
    print(f"  picture: {draw(out, run, figure, counts)}")


if __name__ == "__main__":
    main()
