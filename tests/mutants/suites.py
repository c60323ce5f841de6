"""The Rust suites, the quickest first, and the first test of theirs that fails with a bug."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from mutants import tree

if TYPE_CHECKING:
    from collections.abc import Callable

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
    ("config", "causes", "extremes", "orderings", "sanity", "swarm", "idle"),
    ("second_model", "disksim", "fuzz", "reference"),
)
SUITES = tuple(name for group in GROUPS for name in group)
#: How long the suites took without a bug, as they were built last.
TIMES = tree.WORK / "times.json"
#: Cases of each kind of the swarm, and those whose power is cut.
SWARM = {"COPYBACK_SWARM_RUNS": "300", "COPYBACK_SWARM_CUTS": "50"}
#: A suite that takes this many times as long as without a bug, and so many seconds at least, does
#: not end: seconds of the processor, so that it does not matter what else the machine does.
TIMES_AS_LONG = 10
SHORTEST_LIMIT_S = 30
#: Nor does one that has taken this many times that by the clock.
LONGEST_WAIT = 30
#: A bug may also ask for memory for ever.
MOST_MEMORY = 6 << 30


class Outcome(Enum):
    """What became of a bug."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"
    #: It survived the suites up to one, and the others are yet to be run.
    OPEN = "open"
    #: It does not compile.
    UNVIABLE = "unviable"
    #: It cannot be built beside the others.
    LEFT_OUT = "left out"


@dataclass(frozen=True)
class Verdict:
    """What the suites say of a bug, and the time of the processor that it took them."""

    outcome: Outcome
    suite: str
    test: str
    seconds: float


#: Of a bug on which no suite was run.
NEW = Verdict(Outcome.OPEN, "", "", 0)


@dataclass
class Suite:
    """A test binary, and how long it may take."""

    name: str
    binary: str
    directory: Path
    limit_s: int = 3600


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
        env=environment("build"),
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
    bugs: dict[int, Verdict], suites: list[Suite], told: Callable[[int, Verdict], None], jobs: int
) -> None:
    """Judge bugs that are open, ``jobs`` at a time, and tell what each group of suites says."""
    for at, names in enumerate(GROUPS):
        passed = {name for group in GROUPS[at:] for name in group}
        due = {
            number: verdict
            for number, verdict in bugs.items()
            if verdict.outcome is Outcome.OPEN and verdict.suite not in passed
        }
        if due:
            here = [suite for suite in suites if suite.name in names]
            measure(here)
            bugs = bugs | judged(due, here, told, jobs)


def measure(suites: list[Suite]) -> None:
    """Bound the time of suites by what each takes without a bug, with which none may fail."""
    times = json.loads(TIMES.read_text(encoding="utf-8")) if TIMES.exists() else {}
    for suite in suites:
        built = f"{suite.binary} {Path(suite.binary).stat().st_mtime_ns}"
        if built not in times:
            verdict = run(suite, 0)
            if verdict.outcome is not Outcome.SURVIVED:
                sys.exit(f"without a bug, {suite.name}: {verdict.test} fails")
            times[built] = verdict.seconds
            TIMES.write_text(json.dumps(times), encoding="utf-8")
        suite.limit_s = max(SHORTEST_LIMIT_S, round(TIMES_AS_LONG * times[built]))
        print(f"without a bug, {suite.name} takes {times[built]:.1f} s", flush=True)


def judged(
    bugs: dict[int, Verdict], suites: list[Suite], told: Callable[[int, Verdict], None], jobs: int
) -> dict[int, Verdict]:
    """Judge bugs by some suites; tell and return what comes of each."""
    left, lock = iter(bugs.items()), threading.Lock()
    verdicts = {}

    def work() -> None:
        while True:
            with lock:
                number, before = next(left, (None, NEW))
            if number is None:
                return
            verdict = first_failure(number, suites, before)
            with lock:
                verdicts[number] = verdict
                told(number, verdict)

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return verdicts


def first_failure(number: int, suites: list[Suite], verdict: Verdict) -> Verdict:
    """Run suites with a bug switched on until a test fails; other suites gave this verdict."""
    for suite in suites:
        found = run(suite, number)
        verdict = replace(found, seconds=verdict.seconds + found.seconds)
        if verdict.outcome is not Outcome.SURVIVED:
            return verdict
    if suites[-1].name == SUITES[-1]:
        return replace(verdict, suite="")
    return replace(verdict, outcome=Outcome.OPEN)


def run(suite: Suite, number: int) -> Verdict:
    """Run one suite, and end it at the first test that fails or when it has taken too long."""
    process = subprocess.Popen(
        [suite.binary, "--test-threads=1"],
        cwd=suite.directory,
        env={**os.environ, **SWARM, tree.SWITCH: str(number)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    resource.prlimit(process.pid, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.prlimit(process.pid, resource.RLIMIT_CPU, (suite.limit_s, suite.limit_s + 1))
    # Should it wait for something that never comes, it takes no time of the processor.
    waits = threading.Timer(suite.limit_s * LONGEST_WAIT, process.send_signal, [signal.SIGXCPU])
    waits.start()
    test, has_failed = last_test(process)
    if has_failed:
        process.kill()
    _, status, usage = os.wait4(process.pid, 0)
    waits.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    if has_failed:
        return Verdict(Outcome.KILLED, suite.name, test, seconds)
    if process.returncode in {-signal.SIGXCPU, -signal.SIGKILL}:
        return Verdict(Outcome.TIMED_OUT, suite.name, test, seconds)
    if process.returncode != 0:
        return Verdict(Outcome.KILLED, suite.name, f"{test} (ends the process)", seconds)
    return Verdict(Outcome.SURVIVED, suite.name, "", seconds)


def last_test(process: subprocess.Popen[bytes]) -> tuple[str, bool]:
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
