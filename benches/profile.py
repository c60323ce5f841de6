"""Where the instructions of each row of the benches go, by the rooms of the engine.

    make bench-profile      # writes benches/profile.csv (needs valgrind)

Counted as `benches/instructions.py` counts, on the same small drives; an instruction belongs to the
file that its line is in, also where the compiler has put it into another function. A line of a
library (a vector's index, a comparison) belongs to the function that it was put into.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from instructions import built, command, compiler, operations, row_names

if TYPE_CHECKING:
    from collections.abc import Iterable

STORED = Path(__file__).with_name("profile.csv")
COLUMNS = ["row", "room", "instructions", "page_operations", "compiler"]
#: Names of files, given in full once and by number after that, where the lines after them belong.
PLACE = re.compile(r"^(fl|fi|fe|cfi|cfl)=\((\d+)\)(?: (.*))?$")
#: Where a called function is.
CALLED = ("cfi", "cfl")
#: A called function's cost stands in the line after its call and is its own, too.
CALL = "calls="
COST = re.compile(r"^[+\-*\d]\S* (\d+)$")
#: Libraries, and what serves all rooms.
OTHER = "other"
#: Directories and files of the engine by room; a name that is not here is a room of its own.
ROOMS = {
    "event": "engine",
    "drive": "drive",
    "ssd": "drive",
    "whole": "drive",
    "transaction": "scheduler",
    "backend": "drive",
    "nand": "flash",
    "placement": "ftl",
    "victim": "ftl",
    "observer": "metrics",
    "idle": "collector",
    "run": "engine",
    "simulation": "engine",
    "lib": OTHER,
    "slots": OTHER,
    "ids": OTHER,
    "one_of": OTHER,
    "lists": OTHER,
    "places": OTHER,
    "steady": "metrics",
}
ENGINE = re.compile(r"(?:^|/)crates/copyback/src/(\w+)")


def main() -> None:
    """Profile the rows and store what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="*", help="these rows; else all")
    parser.add_argument("--program", type=Path, help="profile this program; else build it")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise SystemExit("nothing is profiled: no valgrind here")
    program = options.program or built(lines=True)
    names = options.rows or row_names(program)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda name: profile(program, name), names))
    with STORED.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for name, (done, rooms) in zip(names, found, strict=True):
            for room, instructions in sorted(rooms.items()):
                table.writerow([name, room, instructions, done, compiler()])


def profile(program: Path, name: str) -> tuple[int, Counter[str]]:
    """Run a row. Returns its page operations, and the instructions of each room."""
    with TemporaryDirectory() as directory:
        costs = Path(directory) / "callgrind.out"
        row = subprocess.run(
            command(program, name, costs), check=True, capture_output=True, text=True
        )
        with costs.open() as lines:
            return operations(row.stdout), by_room(lines)


def by_room(lines: Iterable[str]) -> Counter[str]:
    """Add up what callgrind's file says of each room.

    >>> dict(by_room(["fl=(1) crates/copyback/src/ftl/wear.rs", "7 30", "fi=(2) /rustc/x/vec.rs",
    ...               "+1 5", "calls=1 9", "* 100", "fe=(1)", "+3 4"]))
    {'ftl': 39}
    """
    files: dict[str, str] = {}
    rooms: Counter[str] = Counter()
    function = room = OTHER
    called = False
    for line in map(str.rstrip, lines):
        if place := PLACE.match(line):
            what, number, path = place.groups()
            if path is not None:
                files[number] = room_of(path)
            if what == "fl":
                function = files[number]
            if what not in CALLED:
                room = function if files[number] == OTHER else files[number]
        elif line.startswith(CALL):
            called = True
        elif cost := COST.match(line):
            if not called:
                rooms[room] += int(cost[1])
            called = False
    return rooms


def room_of(path: str) -> str:
    """Name the room that a source file belongs to."""
    if found := ENGINE.search(path):
        return ROOMS.get(found[1], found[1])
    return "workload" if "copyback-workload" in path else OTHER


if __name__ == "__main__":
    main()
