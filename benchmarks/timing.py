# SPDX-License-Identifier: GPL-3.0-or-later
"""How long something takes: the best of several repeats, since whatever disturbs a measurement makes it longer."""

import gc
from time import perf_counter


def best_time(work, prepare=None, repeats=7, count=1):
    """Shortest time of work() in microseconds, divided by count; prepare() runs before each repeat, uncounted."""
    shortest = float("inf")
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(repeats):
            if prepare is not None:
                prepare()
            begin = perf_counter()
            work()
            shortest = min(shortest, perf_counter() - begin)
    finally:
        if enabled:
            gc.enable()
    return 1e6 * shortest / count
