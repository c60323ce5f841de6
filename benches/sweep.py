"""How the throughput of a sweep grows with its processes: the same sweep with one and with several.

    make bench-sweep                                     # one process, then one a core
    python benches/sweep.py --processes 1 2 4 --rounds 5

Each round runs the sweep with each number of processes, in turn, so that what else the machine
does meets all of them alike; the ratio is of medians. They are stored in benches/sweep.csv, from
which `make generated` writes the table of docs/performance.md. What a sweep costs once (starting
processes, importing, the page) is in the numbers. On a busy machine the ratio says little; the CPU
times do: the sweep's own process hands out all runs, so what it spends on one bounds how many
processes help.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory

from timed import machine

import copyback
from copyback.process import cores

STORED = Path(__file__).with_name("sweep.csv")
COLUMNS = ["processes", "runs", "rounds", "wall_s", "process_ms", "here_ms", "machine"]

CONFIG = {
    "ssd": {"geometry": {"planes_per_die": 4, "blocks_per_plane": 64}},
    "workload": {"preset": "stand-in-tpc-c", "requests": 40_000},
}
OVER = {
    "ssd.gc.victim": ["greedy", "fifo"],
    "ssd.gc.preemption": ["none", "semi_preemptive", "partial"],
    "ssd.gc.width": ["serial", "blind"],
}


@dataclass(frozen=True)
class Spent:
    """What a sweep took, in seconds: by the clock, and of CPU time here and in its processes."""

    wall: float
    here: float
    processes: float


def main() -> None:
    """Measure, store and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, nargs="+", default=[1, cores()])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=4)
    asked = parser.parse_args()
    sweep(1, 1)  # what this process imports once is no part of the first number
    rounds = [
        {jobs: sweep(jobs, asked.seeds) for jobs in asked.processes} for _ in range(asked.rounds)
    ]
    runs = math.prod(map(len, OVER.values())) * asked.seeds
    rows = [row(jobs, runs, [spent[jobs] for spent in rounds]) for jobs in asked.processes]
    with STORED.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerows([COLUMNS, *rows])
    print(*COLUMNS)
    for one in rows:
        print(*one)


def row(jobs: int, runs: int, spent: list[Spent]) -> list[object]:
    """Return the medians of a number of processes; CPU time in milliseconds a run."""
    wall, here, processes = (
        statistics.median(getattr(one, part) for one in spent)
        for part in ("wall", "here", "processes")
    )
    each = [f"{1000 * cpu / runs:.1f}" for cpu in (processes, here)]
    return [jobs, runs, len(spent), f"{wall:.2f}", *each, machine()]


def sweep(jobs: int, seeds: int) -> Spent:
    """Run the sweep and return what it took."""
    wall, here, processes = time.perf_counter(), cpu(RUSAGE_SELF), cpu(RUSAGE_CHILDREN)
    with TemporaryDirectory() as out:
        copyback.compare(CONFIG, over=OVER, seeds=seeds, jobs=jobs, out=Path(out) / "sweep")
    return Spent(
        time.perf_counter() - wall, cpu(RUSAGE_SELF) - here, cpu(RUSAGE_CHILDREN) - processes
    )


def cpu(who: int) -> float:
    """Return CPU seconds of this process, or of those that it has waited for."""
    used = getrusage(who)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
