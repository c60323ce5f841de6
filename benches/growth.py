"""Instructions a page operation as drives grow, and as the work gets longer, row by row.

    python benches/growth.py                # writes benches/growth.csv; goes on where it stopped
    python benches/growth.py --again reads  # measures a row anew

Rows of the benches on the smallest drives, then with 8 and 64 times their blocks and the same
requests, then with 4 and 16 times the requests. Counted as `instructions.py` does.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass
from pathlib import Path

import instructions

STORED = Path(__file__).with_name("growth.csv")
COLUMNS = ["row", "times_blocks", "length", "page_operations", "instructions", "compiler"]
ROWS = ["reads", "over-channel", "two-registers", "tlc-writes", "tlc-reads", "semi-preemptive"]
ROWS += ["demand-paged", "log-block", "raid-5", "raid-0"]


@dataclass(frozen=True)
class Point:
    """How large, how long."""

    times_blocks: int
    length: int

    @property
    def flags(self) -> list[str]:
        """Tell the program of the benches."""
        return [f"--times={self.times_blocks}", f"--length={self.length}"]


POINTS = [Point(1, 1), Point(8, 1), Point(64, 1), Point(1, 4), Point(1, 16)]


def main() -> None:
    """Count what has not been counted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--again", nargs="*", default=[], metavar="ROW")
    parser.add_argument("--program", type=Path, help="count in this program; else build it")
    options = parser.parse_args()
    program = options.program or instructions.built()
    known = [row for row in stored() if row["row"] not in options.again]
    for point in POINTS:
        for name in ROWS:
            if (name, point) not in {place(row) for row in known}:
                known.append(count(program, name, point))
                store(known)


def place(row: dict[str, str]) -> tuple[str, Point]:
    """Say what was counted in a row of the file."""
    return row["row"], Point(int(row["times_blocks"]), int(row["length"]))


def count(program: Path, name: str, point: Point) -> dict[str, str]:
    """Count a row on drives of a size, with work of a length."""
    counted = instructions.count(program, name, *point.flags)
    values = [name, point.times_blocks, point.length]
    values += [counted.page_operations, counted.instructions, instructions.compiler()]
    print(*values, flush=True)
    return dict(zip(COLUMNS, map(str, values), strict=True))


def stored() -> list[dict[str, str]]:
    """Read what has been counted."""
    if not STORED.exists():
        return []
    with STORED.open(newline="") as file:
        return list(csv.DictReader(file))


def store(rows: list[dict[str, str]]) -> None:
    """Write what has been counted, in the order of the table."""
    rows = sorted(rows, key=lambda row: (ROWS.index(row["row"]), POINTS.index(place(row)[1])))
    with STORED.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
