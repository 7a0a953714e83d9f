# SPDX-License-Identifier: GPL-3.0-or-later
"""All measurements as tables, and as a JSON file if asked: python -m benchmarks [--json FILE] [--only NAME ...]"""

import argparse
import json
import os
from pathlib import Path

from benchmarks.tables import table

# One thread for every library; it has to be said before any of them is imported.
for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

PARTS = ("speed", "muscles", "structure", "startup", "scaling", "accuracy")


def show_speed(cases, calls, goals):
    columns = ["case", "ours", "MuJoCo", "Pinocchio*", "ratio", "goal", "ours, 1 per call", "MuJoCo, 1 per call"]
    rows = [[name, *case.values(), goals[name], *calls[name].values()] for name, case in cases.items()]
    table("Reference figure, µs per step", columns, rows)
    print("  * accelerations only, once")


def show_scaling(scaling):
    for key, title in (("figures", "Unconnected figures"), ("hanging_chain", "Hanging chain of links on ball joints")):
        rows = [[n, row["ours_us"], row["mujoco_us"]] for n, row in scaling[key].items() if isinstance(row, dict)]
        table(f"{title}, µs per step", ["number", "ours", "MuJoCo"], rows)
    print(f"\n  sixteen figures over one: {scaling['figures']['ours_ratio']:.1f} (goal 17)")


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to this file as well")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="NAME", help=", ".join(PARTS))
    options = parser.parse_args()
    from benchmarks import accuracy, scaling, speed, startup

    result = {}
    if "speed" in options.only:
        result["cases"], result["one_step_per_call"] = speed.measure_cases()
        show_speed(result["cases"], result["one_step_per_call"], {name: case[-1] for name, case in speed.CASES.items()})
    if "muscles" in options.only:
        result["muscles"] = speed.measure_muscles()
        rows = [[how, *row.values(), 1.25] for how, row in result["muscles"].items()]
        table("Muscles in all joints, µs per step of midpoint", ["hands", "limp", "driven", "ratio", "goal"], rows)
    if "structure" in options.only:
        result["structure_change_us"] = speed.measure_structure_change()
        print(f"\nStructure change (connect, compile, impact): {result['structure_change_us']:.0f} µs (goal 300)")
    if "startup" in options.only:
        result["cold_compile_s"], result["cached_start_s"] = startup.measure_startup()
        print(f"\nKernels ready: {result['cold_compile_s']:.1f} s cold (goal 30),", end=" ")
        print(f"{result['cached_start_s']:.2f} s from the cache (goal 2)")
    if "scaling" in options.only:
        result["scaling"] = scaling.measure_scaling()
        show_scaling(result["scaling"])
    if "accuracy" in options.only:
        result["accuracy"] = accuracy.measure_accuracy()
        rows = [[row["who"], row["step_s"], row["hand_error_m"], row["energy_error"]] for row in result["accuracy"]]
        columns = ["", "step, s", "largest hand error, m", "energy error / peak kinetic"]
        table("Two seconds on the bar, welded hands", columns, rows)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
