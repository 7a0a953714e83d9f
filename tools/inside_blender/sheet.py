# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures as arrays (rows from below, columns, 3), as Blender has them: a sheet of several, and lines."""

import numpy as np

COLUMNS, GAP = 5, 4


def contact_sheet(pictures):
    """Pictures of one size in rows, the first one at the top left, with white lines between."""
    height, width, _ = pictures[0].shape
    rows = -(-len(pictures) // COLUMNS)
    sheet = np.ones((rows * (height + GAP) + GAP, COLUMNS * (width + GAP) + GAP, 3), dtype=np.float32)
    for number, picture in enumerate(pictures):
        low = (rows - 1 - number // COLUMNS) * (height + GAP) + GAP
        left = number % COLUMNS * (width + GAP) + GAP
        sheet[low:low + height, left:left + width] = picture
    return sheet


def draw_line(picture, start, end, colour, thickness):
    """Blend a round line between two points, in pixels, into a picture."""
    rows, columns = np.mgrid[:picture.shape[0], :picture.shape[1]] + 0.5
    along = end - start
    share = ((columns - start[0]) * along[0] + (rows - start[1]) * along[1]) / max(along @ along, 1e-9)
    share = np.clip(share, 0.0, 1.0)
    distance = np.hypot(columns - start[0] - share * along[0], rows - start[1] - share * along[1])
    cover = np.clip(thickness + 0.5 - distance, 0.0, 1.0)[..., None]
    picture += cover * (colour - picture)
