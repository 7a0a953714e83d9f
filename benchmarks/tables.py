# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurements as tables."""


def table(title, columns, rows):
    """Prints rows under columns, numbers to three digits."""
    text = [[f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [columns, *text]) for i in range(len(columns))]
    print(f"\n{title}")
    for line in [columns, *text]:
        cells = [cell.rjust(width) for cell, width in zip(line, widths)]
        cells[0] = line[0].ljust(widths[0])
        print("  " + "  ".join(cells))
