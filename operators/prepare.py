# SPDX-License-Identifier: GPL-3.0-or-later
"""Get the kernels ready: the first simulation after an installation compiles them, which takes about a minute.

A thread does it, which touches nothing of Blender's, so that the window stays awake, says what it waits for and hears
Esc. Later sessions load what was compiled in a second or two.
"""

from threading import Thread

from ..dynamics import Chain, Connect, Cut, Inertia, Joint, Pose, simulate

PATIENCE = 0.1  # seconds between two looks; the less the window works, the sooner it is done

_thread = None


def prepare():
    """Yield until the kernels are ready: at once from the second time on. Closing the generator stops nothing."""
    global _thread
    if _thread is None:
        _thread = Thread(target=rehearse, name="Trapeze", daemon=True)
        _thread.start()
    while _thread.is_alive():
        _thread.join(PATIENCE)
        yield


def rehearse():
    """A simulation of no account that comes by everything: joints of all sorts, taking hold, letting go."""
    chain = Chain()
    body = Inertia.box(1.0, (0.1, 0.1, 0.1))
    chain.add("trunk", joint=Joint.free(), inertia=body)
    for name, joint in (("arm", Joint.spherical()), ("leg", Joint.revolute((1, 0, 0)))):
        chain.add(name, "trunk", joint, at=Pose((0, 0, 0.1)), inertia=body)
    state = chain.state()
    grip = chain.connect("arm", chain.world, Joint.cylindrical((1, 0, 0)), state=state)
    events = [Connect(0.01, "leg", chain.world, Joint.spherical()), Cut(0.02, grip)]
    simulate(chain, state, duration=0.03, step=0.005, events=events)
