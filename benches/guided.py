"""What a profile-guided build brings: its wheel and a plain one, in turn, and in instructions.

    make wheel && mv dist target/plain && make release-wheel
    python benches/guided.py target/plain/*.whl dist/*.whl        # writes benches/guided.csv

Whole processes: `copyback run` with the configurations below, start-up and preparation in it. Both
builds must find out the same, but for what the run cost. Instructions are callgrind's, where it
is: they do not mind what else the machine does.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from instructions import compiler
from timed import machine

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
STORED = Path(__file__).with_name("guided.csv")
COLUMNS = ["work", "plain_cpu_s", "guided_cpu_s", "plain_instructions", "guided_instructions"]
COLUMNS += ["rounds", "compiler", "machine"]
TLC = ROOT / "crates/copyback/benches/simulator/tlc-nvme-64gb.toml"
REQUESTS = 'workload={{ type = "synthetic", requests = {}, request_size = "4KiB", read_share = {}, '
REQUESTS += "sequential_share = 0.0, iodepth = 32 }}"
TRACE = "a trace"
#: None of these runs is one that the build is trained with.
WORKS: dict[str, list[str]] = {
    "random writes, TLC drive": [str(TLC), "--set", REQUESTS.format(600_000, 0.0)],
    "random reads, TLC drive": [str(TLC), "--set", REQUESTS.format(600_000, 1.0)],
    "heavy collection, Lee device": [
        "--preset",
        "pgc-2011",
        "--set",
        REQUESTS.format(600_000, 0.0),
    ],
    TRACE: [
        *("--preset", "tlc-unbuffered-64gb", "--trace", str(ROOT / "examples/linux-mysql.load.gz")),
        *("--set", 'workload.beyond_device="wrap"'),
    ],
}
#: Instructions are counted on a small drive, since callgrind is slow; those of a drive without
#: work are taken off.
SMALL = ["--set", "ssd.geometry.pages_per_block=64", "--set", "ssd.geometry.blocks_per_plane=64"]
UNPREPARED = ["precondition.fill=0.0", "precondition.overwrites=0.0"]


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("plain", type=Path)
    parser.add_argument("guided", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with TemporaryDirectory() as name:
        home = Path(name)
        pythons = [
            installed(wheel, home / build)
            for build, wheel in (("plain", asked.plain), ("guided", asked.guided))
        ]
        rows = [list(row(work, pythons, home, asked.rounds)) for work in WORKS]
    with STORED.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


def row(work: str, pythons: list[Path], home: Path, rounds: int) -> Iterator[object]:
    """Measure a piece of work with both builds."""
    taken = [[run(work, python, home) for python in pythons] for _ in range(rounds)]
    if len({digest for each in taken for _, digest in each}) != 1:
        raise SystemExit(f"{work}: the builds find out different things")
    yield work
    for build in range(2):
        yield f"{statistics.median(each[build][0] for each in taken):.3f}"
    for python in pythons:
        yield instructions(work, python, home)
    yield from (rounds, compiler(), machine())
    print(work, [[cpu for cpu, _ in each] for each in taken], flush=True)


def installed(wheel: Path, home: Path) -> Path:
    """Install a wheel in an environment of its own."""
    uv = shutil.which("uv") or str(ROOT / "target/uv/bin/uv")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, home], check=True)
    python = home / "bin" / "python"
    install = [uv, "pip", "install", "--quiet", "--python", python, wheel.absolute()]
    subprocess.run(install, check=True)
    return python


def command(work: str, python: Path) -> list[str]:
    """Return what runs a piece of work; isolated, so that the sources are no package."""
    return [str(python), "-I", "-m", "copyback", "run", *WORKS[work], "--json", "--quiet"]


def run(work: str, python: Path, home: Path) -> tuple[float, str]:
    """Run once. Returns CPU seconds and a digest of what it found out."""
    with (home / "output").open("w+b") as output:
        process = subprocess.Popen(command(work, python), cwd=home, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        summary = json.loads(output.read())
    del summary["simulator"]
    told = json.dumps(summary, sort_keys=True).encode()
    return usage.ru_utime + usage.ru_stime, hashlib.sha256(told).hexdigest()


def instructions(work: str, python: Path, home: Path) -> int:
    """Count instructions, preparation included and start-up not; 0 without valgrind."""
    if shutil.which("valgrind") is None:
        return 0
    key = "limit" if work == TRACE else "requests"
    settings = [f"workload.{key}=50000"], [f"workload.{key}=1", *UNPREPARED]
    whole, start_up = (
        count([*command(work, python), *SMALL, *sets(keys)], home) for keys in settings
    )
    return whole - start_up


def count(command: list[str], home: Path) -> int:
    """Count the instructions of a whole process."""
    profile = home / "callgrind.out"
    valgrind = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={profile}"]
    subprocess.run([*valgrind, *command], check=True, cwd=home, stdout=subprocess.DEVNULL)
    total = re.search(r"^(?:totals|summary): (\d+)", profile.read_text(), re.MULTILINE)
    if total is None:
        raise SystemExit("callgrind has left no total")
    return int(total[1])


def sets(keys: list[str]) -> list[str]:
    """Set keys on the command line."""
    return [word for key in keys for word in ("--set", key)]


if __name__ == "__main__":
    main()
