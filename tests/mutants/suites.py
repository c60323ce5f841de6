"""The Rust suites, the quickest first, and the first test of theirs that fails with a bug."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from mutants import tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: In groups that take some seconds, half a minute, and minutes: the first runs on all bugs before
#: the second runs on those that are left. First come the unit tests, and what notices most.
GROUPS = (
    (
        "copyback",
        "commands",
        "mapping_unit",
        "partial_cleaning",
        "embedded",
        "arrays",
        "coordination",
        "layouts",
        "controller",
        "flows",
    ),
    ("config", "causes", "extremes", "orderings", "swarm", "idle"),
    ("second_model", "disksim", "fuzz", "reference"),
)
SUITES = tuple(name for group in GROUPS for name in group)
#: Cases of each kind of the swarm, and those whose power is cut.
SWARM = {"COPYBACK_SWARM_RUNS": "300", "COPYBACK_SWARM_CUTS": "50"}
#: A suite that takes this many times as long as without a bug, and so many seconds at least,
#: does not end.
TIMES_AS_LONG = 10
SHORTEST_LIMIT_S = 30
#: A bug may also ask for memory for ever.
MOST_MEMORY = 6 << 30


class Outcome(Enum):
    """What became of a bug."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"
    #: It does not compile.
    UNVIABLE = "unviable"
    #: It cannot be built beside the others.
    LEFT_OUT = "left out"


@dataclass(frozen=True)
class Verdict:
    """What the suites say of a bug, and how long it took them."""

    outcome: Outcome
    suite: str
    test: str
    seconds: float


@dataclass
class Suite:
    """A test binary, and how long it may take."""

    name: str
    binary: str
    directory: Path
    limit_s: float = 3600


def command(verb: list[str]) -> list[str]:
    """Return how cargo builds or checks the library and all suites."""
    tests = [option for suite in SUITES[1:] for option in ("--test", suite)]
    return ["cargo", *verb, "--package", "copyback", "--lib", *tests]


def environment(target: str) -> dict[str, str]:
    """Return what cargo works in: a target directory of its own, and no warnings."""
    directory = str(tree.WORK / target)
    return {**os.environ, "CARGO_TARGET_DIR": directory, "RUSTFLAGS": "--cap-lints=allow"}


def built(at: Path) -> list[Suite]:
    """Build every test binary of the tree ``at``."""
    done = subprocess.run(
        [*command(["test", "--no-run"]), "--message-format=json-render-diagnostics"],
        cwd=at,
        env=environment("build2"),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit("a mutant does not compile")
    artifacts = [json.loads(line) for line in done.stdout.splitlines()]
    binaries = {
        item["target"]["name"]: item["executable"] for item in artifacts if item.get("executable")
    }
    return [Suite(name, binaries[name], at / "crates" / "copyback") for name in SUITES]


def judged_all(
    numbers: list[int], suites: list[Suite], told: Callable[[int, Verdict], None], jobs: int
) -> None:
    """Judge bugs, ``jobs`` of them at a time, and tell of each when it is done.

    Those that the quick suites do not notice come last, as they take minutes each.
    """
    left = dict.fromkeys(numbers, 0.0)
    for names in GROUPS:
        here = [suite for suite in suites if suite.name in names]
        if left:
            measure(here)
            left = judged(left, here, told, jobs)
            print(f"{len(left)} are noticed by none of {', '.join(names)}", *left, flush=True)
    for number, seconds in left.items():
        told(number, Verdict(Outcome.SURVIVED, "", "", seconds))


def measure(suites: list[Suite]) -> None:
    """Run suites without a bug, which none may fail, and bound their time by what it takes."""
    for suite in suites:
        verdict = run(suite, 0)
        if verdict.outcome is not Outcome.SURVIVED:
            sys.exit(f"without a bug, {suite.name}: {verdict.test} fails")
        suite.limit_s = max(SHORTEST_LIMIT_S, TIMES_AS_LONG * verdict.seconds)
        print(f"without a bug, {suite.name} takes {verdict.seconds:.1f} s", flush=True)


def judged(
    bugs: dict[int, float], suites: list[Suite], told: Callable[[int, Verdict], None], jobs: int
) -> dict[int, float]:
    """Judge bugs by some suites; return those that survive, all with the seconds that they took."""
    left, lock = iter(bugs.items()), threading.Lock()
    survivors = {}

    def work() -> None:
        while True:
            with lock:
                number, seconds = next(left, (None, 0.0))
            if number is None:
                return
            verdict = first_failure(number, suites)
            verdict = replace(verdict, seconds=verdict.seconds + seconds)
            with lock:
                if verdict.outcome is Outcome.SURVIVED:
                    survivors[number] = verdict.seconds
                    print(f"{number:3} is not noticed yet", flush=True)
                else:
                    told(number, verdict)

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return survivors


def first_failure(number: int, suites: list[Suite]) -> Verdict:
    """Run suites with a bug switched on until a test fails."""
    seconds = 0.0
    for suite in suites:
        verdict = run(suite, number)
        seconds += verdict.seconds
        if verdict.outcome is not Outcome.SURVIVED:
            return replace(verdict, seconds=seconds)
    return Verdict(Outcome.SURVIVED, "", "", seconds)


def run(suite: Suite, number: int) -> Verdict:
    """Run one suite, and end it at the first test that fails or when it has taken too long."""
    began = time.monotonic()
    process = subprocess.Popen(
        [suite.binary, "--test-threads=1"],
        cwd=suite.directory,
        env={**os.environ, **SWARM, tree.SWITCH: str(number)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
    )
    resource.prlimit(process.pid, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(suite.limit_s, end)
    timer.start()
    test, has_failed = last_test(process)
    if has_failed:
        process.kill()
    status = process.wait()
    timer.cancel()
    seconds = time.monotonic() - began
    if has_failed:
        return Verdict(Outcome.KILLED, suite.name, test, seconds)
    if late.is_set():
        return Verdict(Outcome.TIMED_OUT, suite.name, test, seconds)
    if status != 0:
        return Verdict(Outcome.KILLED, suite.name, f"{test} (ends the process)", seconds)
    return Verdict(Outcome.SURVIVED, suite.name, "", seconds)


def last_test(process: subprocess.Popen[str]) -> tuple[str, bool]:
    """Read on until a test fails or none is left; return the last that began, and if it failed."""
    assert process.stdout is not None
    said, test = "", ""
    while piece := os.read(process.stdout.fileno(), 65536):
        said = (said + piece.decode(errors="replace"))[-100_000:]
        begun = re.findall(r"^test (\S+)(?: - should panic)? \.\.\.", said, re.MULTILINE)
        test = begun[-1] if begun else test
        if failed := re.search(r"^test (\S+).* \.\.\. FAILED", said, re.MULTILINE):
            return failed[1], True
        said = said[said.rfind("\n") + 1 :]
    return test, False
