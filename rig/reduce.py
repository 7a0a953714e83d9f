# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys for the same motion: long Bezier segments in place of one key per frame.

The problem: given values at many times, keep as few of them as keys as possible such that the curve between kept keys
stays within a tolerance at every time. Each segment is a cubic with handles a third of its length away, which makes
it a plain polynomial of time; its two handles are fitted by least squares, the keys themselves are exact. From each
key the next one is put as far away as the tolerance lets it. Several channels (the numbers of one rotation) share
their keys. Plain numpy, no Blender data.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@dataclass
class Thinned:
    """Kept keys of some channels: their places among the given times, and their handles."""

    kept: np.ndarray  # (k,) places, rising, the first and the last included
    left: np.ndarray  # (k, n) values of the handles before the keys
    right: np.ndarray  # (k, n) values of the handles after the keys
    values: np.ndarray  # (F, n) the thinned curve at the given times


def thin(times, values, tolerance, error):
    """Keep the keys that are needed: times (F,), values (F, n), error(fitted, values) -> (F,) below the tolerance."""
    times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    last = len(times) - 1
    kept, fitted = [0], values.copy()
    left, right = [values[0]], []
    while kept[-1] < last:
        start = kept[-1]
        end, handles, curve = farthest(times, values, start, tolerance, error)
        right.append(handles[0])
        left.append(handles[1])
        fitted[start:end + 1] = curve
        kept.append(end)
    right.append(values[last])
    return Thinned(np.array(kept), np.array(left), np.array(right), fitted)


def farthest(times, values, start, tolerance, error):
    """The longest segment from a key that stays within the tolerance: its end, its handles (2, n), its values.

    The reach is doubled until a segment fails and halved in between: as many tries as the length has binary digits.
    """
    last = len(times) - 1
    good, best = start + 1, fit(times, values, start, start + 1)
    step, bad = 2, last + 1
    while good < last and bad - good > 1:
        end = min(start + step, last) if bad > last else (good + bad) // 2
        handles, curve = fit(times, values, start, end)
        wanted = values[start:end + 1]
        if error(curve, wanted).max() <= tolerance:
            good, best = end, (handles, curve)
            step *= 2
        else:
            bad = end
    return good, *best


def fit(times, values, start, end):
    """Handles (2, n) of the cubic between two keys that comes closest to the values between them, and its values."""
    span = (times[start:end + 1] - times[start]) / (times[end] - times[start])
    first, last = values[start], values[end]
    straight = first + span[:, None] * (last - first)
    basis, solver = bernstein(tuple(np.round(span, 9)))
    bend = solver @ (values[start:end + 1] - straight)
    thirds = np.stack([first + (last - first) / 3.0, last - (last - first) / 3.0])
    return thirds + bend, straight + basis @ bend


@lru_cache(maxsize=4096)
def bernstein(span):
    """How much the handles count at each place of a segment, and the least squares solver for them.

    The least-norm solution bends no more than needed where there are fewer places than handles.
    """
    span = np.array(span)
    basis = np.stack([3.0 * span * (1.0 - span) ** 2, 3.0 * span**2 * (1.0 - span)], -1)
    return basis, np.linalg.pinv(basis)
