"""What policies written in Python cost, beside those that are built in.

    make bench-policies                                  # benches/policies.csv

Random 4 KiB writes, 32 at a time, to the device of Lee et al. with two planes a die; built-in
policies and classes take turns. `argmin` breaks ties otherwise than `greedy`, so that it does not
move the same pages.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from timed import machine

import copyback

STORED = Path(__file__).with_name("policies.csv")
COLUMNS = ["policy", "blocks_per_plane", "rounds", "ns_each", "machine"]
CLASSES = """
import copyback
from copyback import Admit, Point


class FewestValid(copyback.VictimPolicy):
    def choose(self, plane):
        return plane.valid_pages.argmin()


class HostFirst(copyback.SchedulePolicy):
    def admitted(self, situation):
        if situation.point is Point.BEFORE_WRITE or situation.write_finds_no_block:
            return Admit.NOBODY
        return Admit.ALL
"""
VICTIMS: dict[str, Any] = {
    "`greedy`": "greedy",
    "a class: `plane.valid_pages.argmin()`": {"type": "python", "policy": "classes.py:FewestValid"},
}
SEP_BIT = Path(__file__).parents[1] / "examples" / "policies" / "sep_bit.py"
PLACEMENTS: dict[str, Any] = {
    "`sepbit`": "sepbit",
    "a class: SepBIT, `examples/policies/sep_bit.py`": {
        "type": "python",
        "policy": f"{SEP_BIT}:SepBit",
        "classes": 6,
        "host_classes": 2,
    },
}
SCHEDULES: dict[str, Any] = {
    "`semi_preemptive`": "semi_preemptive",
    "a class: the host before each step": {"type": "python", "policy": "classes.py:HostFirst"},
}


def main() -> None:
    """Measure, store and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    cases = [
        (name, blocks, {"ssd__gc__victim": it})
        for name, it in VICTIMS.items()
        for blocks in (64, 2048)
    ]
    cases += [(name, 64, {"ssd__gc__preemption": it}) for name, it in SCHEDULES.items()]
    cases += [
        (f"{name}, {size} commands", 512, {"ssd__ftl__placement": it, **sorted_by(size)})
        for size in ("128 KiB", "4 KiB")
        for name, it in PLACEMENTS.items()
    ]
    with TemporaryDirectory() as folder:
        (Path(folder) / "classes.py").write_text(CLASSES)
        rounds = [
            [cost(blocks, settings, folder) for _, blocks, settings in cases]
            for _ in range(asked.rounds)
        ]
    with STORED.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for (name, blocks, _), each in zip(cases, zip(*rounds, strict=True), strict=True):
            row = [name, blocks, asked.rounds, f"{statistics.median(each):.0f}", machine()]
            table.writerow(row)
            print(*row)


def sorted_by(size: str) -> dict[str, Any]:
    """Return commands of this size, and a drive with room for the open blocks of six classes."""
    return {
        "workload__request_size": size.replace(" ", ""),
        "workload__requests": 600_000 // (32 if size == "128 KiB" else 1),
        "workload__address": {"type": "hot_cold", "pages": 0.2, "requests": 0.8},
        "ssd__ftl__over_provisioning": 0.2,
    }


def cost(blocks: int, settings: dict[str, Any], folder: str) -> float:
    """Run once. Returns nanoseconds of CPU time a page operation, preparation left out."""
    settings = {
        key: {**it, "policy": str(Path(folder) / it["policy"])}
        if isinstance(it, dict) and "policy" in it
        else it
        for key, it in settings.items()
    }
    drive = {
        "preset": "pgc-2011",
        "precondition": {"fill": 1.0, "overwrites": 1.0 if blocks == 64 else 0.3},
        "workload": {
            "type": "synthetic",
            "requests": 150_000,
            "request_size": "4KiB",
            "read_share": 0.0,
            "sequential_share": 0.0,
            "iodepth": 32,
        },
    }
    shape = {"ssd__geometry__planes_per_die": 2, "ssd__geometry__blocks_per_plane": blocks}
    used = copyback.run(drive, **shape, **settings).summary.simulator
    return 1e9 / used.page_operations_per_cpu_s


if __name__ == "__main__":
    main()
