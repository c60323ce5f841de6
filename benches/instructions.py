"""Instructions an operation of each row of the benches, held to what was recorded.

    make check-instructions     # exit status 1 where a row is more than 2% off
    make record-instructions    # write benches/instructions.csv anew, in a commit of its own

Counted by valgrind's callgrind on small drives, preparation not counted: the counts hardly depend
on the machine, but on the compiler, whose version is recorded beside them.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
RECORDED = Path(__file__).parent / "instructions.csv"
# What may differ before somebody is to say why.
TOLERANCE = 0.02
# What is counted: a slice of a row's work.
COUNTED = "*Work*go_on*"


@dataclass(frozen=True)
class Row:
    """What a row of the benches took."""

    name: str
    page_operations: int
    instructions: int

    @property
    def each(self) -> float:
        """Instructions a page operation."""
        return self.instructions / self.page_operations


def main() -> int:
    """Count the rows, and compare or record them. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="*", help="these rows; else all")
    parser.add_argument("--record", action="store_true", help=f"write {RECORDED.name} anew")
    parser.add_argument("--program", type=Path, help="count in this program; else build it")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("instructions are not counted: no valgrind here")
        return 0
    program = options.program or built()
    names = options.rows or row_names(program)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = list(pool.map(lambda name: count(program, name), names))
    if options.record:
        record(counted)
        return 0
    return compare(counted, recorded())


def built(*, lines: bool = False) -> Path:
    """Build the program of the benches, with the lines of its code or without; say where it is."""
    # With the features that the package wants, and without lines, the simulator is the release's.
    command = ["cargo", "bench", "--quiet", "--package", "copyback", "--package", "copyback-python"]
    command += ["--bench", "simulator", "--no-run", "--message-format", "json"]
    settings = {} if lines else {"CARGO_PROFILE_BENCH_DEBUG": "false"}
    environment = {**os.environ, **settings}
    told = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout
    artifacts = (json.loads(line) for line in told.splitlines())
    programs = [found for artifact in artifacts if (found := artifact.get("executable"))]
    return Path(programs[-1])


def row_names(program: Path) -> list[str]:
    """Ask the program which rows it has."""
    output = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout
    return output.split()


def count(program: Path, name: str, *flags: str) -> Row:
    """Run a row on small drives, with these flags of the program, and count."""
    with TemporaryDirectory() as directory:
        profile = Path(directory) / "callgrind.out"
        row = subprocess.run(
            [*command(program, name, profile), *flags], check=True, capture_output=True, text=True
        )
        total = re.search(r"^(?:totals|summary): (\d+)", profile.read_text(), re.MULTILINE)
    if total is None:
        raise SystemExit(f"{name}: callgrind has left no total")
    return Row(name, operations(row.stdout), int(total[1]))


def command(program: Path, name: str, profile: Path) -> list[str]:
    """Return what counts a row on small drives."""
    valgrind = ["valgrind", "--quiet", "--tool=callgrind", f"--toggle-collect={COUNTED}"]
    if platform.machine() == "x86_64":
        # The program says when its drive is prepared, which takes a fraction of the time so.
        valgrind += ["--instr-atstart=no"]
    valgrind += [f"--callgrind-out-file={profile}", "--"]
    return [*valgrind, str(program), "--small", "--alone", f"={name}"]


def operations(told: str) -> int:
    """Read from what the program prints how many page operations a row had."""
    after_name = re.search(r"^\S+(?: x\d+)? +(\d+)", told.splitlines()[-1])
    if after_name is None:
        raise SystemExit(f"the program of the benches has told no page operations: {told}")
    return int(after_name[1])


def compiler() -> str:
    """Name the compiler, and what it compiles for: its version decides the counts."""
    version = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    release = re.search(r"^release: (.*)$", version, re.MULTILINE)
    host = re.search(r"^host: (.*)$", version, re.MULTILINE)
    return f"rustc {release[1] if release else '?'} {host[1] if host else '?'}"


def record(rows: list[Row]) -> None:
    """Write the counts."""
    with RECORDED.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["row", "page_operations", "instructions", "compiler"])
        for row in rows:
            table.writerow([row.name, row.page_operations, row.instructions, compiler()])


def recorded() -> dict[str, tuple[Row, str]]:
    """Read the counts that were written, and the compiler of each."""
    with RECORDED.open(newline="") as file:
        return {
            row["row"]: (
                Row(row["row"], int(row["page_operations"]), int(row["instructions"])),
                row["compiler"],
            )
            for row in csv.DictReader(file)
        }


def compare(counted: list[Row], before: dict[str, tuple[Row, str]]) -> int:
    """Print the rows beside what was recorded. Returns 1 if one is off, with the same compiler."""
    is_off = False
    print(f"{'row':<16} {'recorded':>9} {'now':>9}   instructions a page operation")
    for row in counted:
        if row.name not in before:
            print(f"{row.name:<16} {'-':>9} {row.each:>9.1f}   not recorded")
            is_off = True
            continue
        then, compiled_by = before[row.name]
        change = row.each / then.each - 1
        off = abs(change) > TOLERANCE
        note = f"{change:+.1%}" + (": more than 2%" if off else "")
        if compiled_by != compiler():
            note += f" (recorded with {compiled_by}, this is {compiler()}: not held)"
        elif off:
            is_off = True
        print(f"{row.name:<16} {then.each:>9.1f} {row.each:>9.1f}   {note}")
    if is_off:
        print(
            "\nsay in the commit what costs more or less, "
            "and `make record-instructions` in one of its own",
            file=sys.stderr,
        )
    return int(is_off)


if __name__ == "__main__":
    sys.exit(main())
