"""Whole processes: how long one took, and what it did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Protocol

#: Seconds of the clock after which a program is taken for one that never ends.
LONGEST_S = 1_800


@dataclass(frozen=True)
class Did:
    """What a simulator says that it did, preparation by requests included.

    Attributes
    ----------
    completed
        Requests that it completed.
    programs
        Pages programmed, those that were moved among them.
    erases
        Blocks erased.
    """

    completed: int
    programs: int
    erases: int


@dataclass(frozen=True)
class Took:
    """What a process took, and what it did."""

    cpu_s: float
    did: Did


class Peer(Protocol):
    """A simulator, and the loads that it is measured with."""

    name: str

    @property
    def loads(self) -> tuple[str, ...]:
        """The names of the loads."""

    def prepare(self, load: str, home: Path, directory: Path) -> int:
        """Write what both programs read, `drive.toml` for ours. Returns the number of requests."""

    def run(self, home: Path, directory: Path) -> Took:
        """Run the simulator that was built in `home`."""


def run(command: list[Path | str], directory: Path, given: str = "") -> tuple[float, str]:
    """Run a program to its end. Returns its CPU time and what it printed."""
    (directory / "input").write_text(given)
    with (directory / "input").open() as source, (directory / "output").open("w+b") as output:
        words = [str(word) for word in command]
        process = subprocess.Popen(words, cwd=directory, stdin=source, stdout=output)
        watch = Timer(LONGEST_S, process.kill)
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        watch.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    # One of SSDsim's ways to say that all went well is 1.
    if process.returncode not in {0, 1}:
        raise SystemExit(f"{command[0]}: ended with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, text


def copyback(directory: Path) -> Took:
    """Run Copyback, start-up of the interpreter included."""
    program = Path(sys.executable).parent / "copyback"
    cpu, text = run([program, "run", "drive.toml", "--json"], directory)
    summary = json.loads(text)
    flash = summary["flash"]
    programs = flash["programs"] + flash["copybacks"]
    return Took(cpu, Did(summary["requests"]["count"], programs, flash["erases"]))


def start_up(directory: Path) -> float:
    """Run Copyback for the first request alone. Returns its CPU time."""
    whole = directory / "load.trace"
    with whole.open() as lines:
        first = next(lines)
    (directory / "first.trace").write_text(first)
    program = Path(sys.executable).parent / "copyback"
    command = [program, "run", "drive.toml", "--json", "--set", 'workload.path="first.trace"']
    return run([*command, "--set", "precondition.fill=0.0"], directory)[0]
