"""Long traces: what it takes to write one, to look at it and to replay it.

    make bench-long                                      # benches/long.csv
    python benches/long.py --requests 1 10 100           # millions

Single pages, 99% reads, at random over a sixth of the device of Lee et al., Poisson arrivals. Each
step is a process of its own, whose CPU time and peak memory are Python's, too.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from timed import machine

STORED = Path(__file__).with_name("long.csv")
COLUMNS = ["step", "requests", "cpu_s", "peak_mib", "file_mib", "machine"]
WORKLOAD = """preset = "pgc-2011"
[workload]
type = "synthetic"
requests = {requests}
request_size = "4KiB"
read_share = 0.99
sequential_share = 0.0
inter_arrival = "20us"
footprint = 0.16
"""


def main() -> None:
    """Measure, store and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, nargs="+", default=[10, 100], metavar="MILLIONS")
    asked = parser.parse_args()
    rows = [row for millions in asked.requests for row in steps(1_000_000 * millions)]
    with STORED.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


def steps(requests: int) -> list[list[object]]:
    """Write a trace, look at it, replay it."""
    with TemporaryDirectory() as name:
        home = Path(name)
        (home / "workload.toml").write_text(WORKLOAD.format(requests=requests))
        trace = home / "long.parquet"
        commands = {
            "trace convert": ["trace", "convert", "workload.toml", trace],
            "trace info": ["trace", "info", trace],
            "run": ["run", "--preset", "pgc-2011", "--trace", trace, "--json"],
        }
        rows = []
        for step, command in commands.items():
            used = took([str(word) for word in command], home)
            rows.append([step, requests, *used, f"{trace.stat().st_size / 2**20:.0f}", machine()])
            print(*rows[-1], flush=True)
        return rows


def took(command: list[str], home: Path) -> list[str]:
    """Run a command. Returns CPU seconds, and the peak of its memory in MiB."""
    program = Path(sys.executable).parent / "copyback"
    with (home / "output").open("wb") as output:
        process = subprocess.Popen([program, *command], cwd=home, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit((home / "output").read_text())
    return [f"{usage.ru_utime + usage.ru_stime:.1f}", f"{usage.ru_maxrss / 1024:.0f}"]


if __name__ == "__main__":
    main()
