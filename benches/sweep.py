"""How the throughput of a sweep grows with its processes: the same sweep with one and with several.

    make bench-sweep                                     # one process, then one a core
    python benches/sweep.py --processes 1 2 4 --rounds 5

Each round runs the sweep with each number of processes, in turn, so that what else the machine does
meets all of them alike; the ratio is of medians. What a sweep costs once (starting processes,
importing, the page) is in the numbers. A ratio well below the number of processes means that the
machine was busy, or that something does not scale: the CPU time a run, beside it, tells which.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import copyback
from copyback.sweep.local import cores

CONFIG = {
    "ssd": {"geometry": {"planes_per_die": 4, "blocks_per_plane": 64}},
    "workload": {"preset": "stand-in-tpc-c", "requests": 40_000},
}
OVER = {
    "ssd.gc.victim": ["greedy", "fifo"],
    "ssd.gc.preemption": ["none", "semi_preemptive", "partial"],
    "ssd.gc.width": ["serial", "blind"],
}


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, nargs="+", default=[1, cores()])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=4)
    asked = parser.parse_args()
    spent: dict[int, list[float]] = {jobs: [] for jobs in asked.processes}
    cpu: dict[int, list[float]] = {jobs: [] for jobs in asked.processes}
    for _ in range(asked.rounds):
        for jobs in spent:
            wall, own = sweep(jobs, asked.seeds)
            spent[jobs].append(wall)
            cpu[jobs].append(own)
    first = statistics.median(spent[asked.processes[0]])
    print(f"{'processes':>9}  {'wall s':>7}  {'runs/s':>7}  {'ratio':>5}  {'CPU s a run':>11}")
    runs = len(OVER["ssd.gc.victim"]) * 6 * asked.seeds
    for jobs, walls in spent.items():
        wall = statistics.median(walls)
        per_run = statistics.median(cpu[jobs]) / runs
        print(f"{jobs:9}  {wall:7.2f}  {runs / wall:7.2f}  {first / wall:5.2f}  {per_run:11.3f}")


def sweep(jobs: int, seeds: int) -> tuple[float, float]:
    """Run the sweep; return wall and CPU seconds, those of the processes it started included."""
    begun, own = time.perf_counter(), cpu_seconds()
    with TemporaryDirectory() as out:
        copyback.compare(CONFIG, over=OVER, seeds=seeds, jobs=jobs, out=Path(out) / "sweep")
    return time.perf_counter() - begun, cpu_seconds() - own


def cpu_seconds() -> float:
    """Return what this process and those that it waited for have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


if __name__ == "__main__":
    main()
