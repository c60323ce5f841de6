"""Time every row of the benches in one program or in several in turn, and store the medians.

    python benches/timed.py now=PROGRAM before=OTHER --rounds 3       # writes benches/timed.csv

`cargo bench --bench simulator --no-run` says where the program is. Nothing else should run
meanwhile. Each row is held against the bare loop, which takes turns with it in the same process,
so that ratios hold though the machine's speed changes; `make generated` writes the table of
docs/performance.md from what is stored. `log-block` moves a thousand pages for each that is
written, so that preparing the drive alone would take hours: it is timed on the small drive that
its instructions are counted on.
"""

from __future__ import annotations

import argparse
import csv
import platform
import statistics
import subprocess
import sys
from pathlib import Path

STORED = Path(__file__).parent / "timed.csv"
#: A tenth of the work, on the drives of the benches; and what is timed another way.
LENGTH = ["--quick", "--base"]
LENGTHS = {"log-block": ["--small", "--length=40"]}
COLUMNS = ["page_operations", "page_operations_per_cpu_s", "ns_per_host_page", "floor_ns"]
COLUMNS += ["ratio", "bytes_per_page"]
#: What a program prints of a row, in this order; what it does not have is a dash.
PRINTED = [*COLUMNS[:-1], "timed_floor_ns", "timed_ratio", "mean_us", "timed_floor_mean_us"]
PRINTED += ["bytes_per_page"]


def main() -> int:
    """Time the rows. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("programs", nargs="+", metavar="NAME=PROGRAM")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", nargs="*", help="these rows; else all")
    options = parser.parse_args()
    programs = dict(given.split("=", 1) for given in options.programs)
    last = list(programs.values())[-1]
    names = (
        options.rows
        or subprocess.run(
            [last, "--list"], check=True, capture_output=True, text=True
        ).stdout.split()
    )
    with STORED.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["row", "program", "rounds", *COLUMNS, "machine"])
        for name in names:
            taken: dict[str, list[list[float]]] = {program: [] for program in programs}
            for _ in range(options.rounds):
                for program, path in programs.items():
                    numbers = timed(path, name)
                    taken[program].append([numbers[column] for column in COLUMNS])
            for program, rounds in taken.items():
                medians = [statistics.median(column) for column in zip(*rounds, strict=True)]
                rounded = [f"{median:.4g}" if median % 1 else int(median) for median in medians]
                table.writerow([name, program, options.rounds, *rounded, machine()])
                print(name, program, *rounded, flush=True)
            file.flush()
    return 0


def timed(program: str, name: str) -> dict[str, float]:
    """Run a row, and read the numbers that the program prints, by their columns."""
    command = [program, *LENGTHS.get(name, LENGTH), f"={name}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    fields = dict(zip(PRINTED, lines[1].split()[1:], strict=True))
    return {column: float(field.rstrip("x")) for column, field in fields.items() if field != "-"}


def machine() -> str:
    """Name the processor as the system does."""
    try:
        known = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in known if line.startswith("model name"))
    return next(names, platform.processor())


if __name__ == "__main__":
    sys.exit(main())
