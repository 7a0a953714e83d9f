# SPDX-License-Identifier: GPL-3.0-or-later
"""Moving pictures that every browser shows: an animated PNG, written with the standard library alone.

After the first picture only the box that has changed is stored, which keeps a still camera's film small
(https://www.w3.org/TR/png-3, acTL, fcTL and fdAT).
"""

import struct
import zlib

import numpy as np

UP = 2  # the filter of a row that holds differences from the one above it


def write_moving(pictures, rate, path):
    """Write pictures (rows from below, columns, 3), numbers from 0 to 1, as a film that repeats for ever."""
    frames = [np.round(255.0 * np.clip(picture[::-1], 0.0, 1.0)).astype(np.uint8) for picture in pictures]
    height, width, _ = frames[0].shape
    parts = [
        b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        chunk(b"acTL", struct.pack(">II", len(frames), 0))]
    number, before = 0, None
    for frame in frames:
        top, bottom, left, right = changed(before, frame)
        box = right - left, bottom - top, left, top
        parts.append(chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, *box, 1, rate, 0, 0)))
        number += 1
        data = zlib.compress(filtered(frame[top:bottom, left:right]), 9)
        if before is None:
            parts.append(chunk(b"IDAT", data))
        else:
            parts.append(chunk(b"fdAT", struct.pack(">I", number) + data))
            number += 1
        before = frame
    path.write_bytes(b"".join([*parts, chunk(b"IEND", b"")]))


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def changed(before, frame):
    """Rows and columns (top, bottom, left, right) that differ; at least one pixel."""
    if before is None:
        return 0, frame.shape[0], 0, frame.shape[1]
    differs = (before != frame).any(axis=2)
    rows, columns = (np.flatnonzero(differs.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return 0, 1, 0, 1
    return int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1


def filtered(picture):
    """Rows of bytes, each the difference from the one above it."""
    rows = picture.reshape(len(picture), -1)
    above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
    return np.hstack([np.full((len(rows), 1), UP, dtype=np.uint8), rows - above]).tobytes()
