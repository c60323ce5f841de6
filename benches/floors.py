"""Time the rows that have a floor with time against it, and store the medians.

    python benches/floors.py PROGRAM --rounds 5                       # writes benches/floors.csv

`cargo bench --bench simulator --no-run` says where the program is. Nothing else should run
meanwhile. A row and its floor take turns in one process, some tens of milliseconds each. The mean
response times of both show that the floor does the same work; `make generated` writes the table of
docs/performance.md from what is stored.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tools"))

from commits import commit
from timed import machine, timed

STORED = Path(__file__).parent / "floors.csv"
#: Rows that have a floor with time.
ROWS = ["reads", "read-mostly", "mixed", "heavy-gc", "tlc-reads", "raid-0"]
COLUMNS = ["ns_per_host_page", "timed_floor_ns", "timed_ratio", "mean_us", "timed_floor_mean_us"]


def main() -> int:
    """Time the rows. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    commit(12)  # of the program, before its results change the checkout
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in ROWS}
    for _ in range(options.rounds):
        for name in ROWS:
            taken[name].append(timed(options.program, name))
    with STORED.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["row", "commit", "rounds", *COLUMNS, "machine"])
        for name, rounds in taken.items():
            medians = [statistics.median(one[column] for one in rounds) for column in COLUMNS]
            cells = [f"{median:.4g}" for median in medians]
            table.writerow([name, commit(12), options.rounds, *cells, machine()])
    return 0


if __name__ == "__main__":
    sys.exit(main())
