"""Would the tests notice? Seeds the bugs of mutants.toml one at a time and says which test fails.

All of them are built at once into a copy of the simulator, each behind a switch that an environment
variable sets: ``if crate::mutant::is(7) { mutated } else { original }``. So one build serves all.

    python tests/mutants/run.py [--page docs/mutants.md] [NUMBER ...]

Exit status 1 if a bug goes unnoticed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
SOURCE = TREE / "crates" / "copyback" / "src"
SWITCH = "COPYBACK_MUTANT"
#: Test binaries, the quickest first: the unit tests, then those of tests/.
SUITES = (
    "copyback",
    "commands",
    "orderings",
    "layouts",
    "arrays",
    "coordination",
    "idle",
    "partial_cleaning",
    "mapping_unit",
    "embedded",
    "extremes",
    "causes",
    "second_model",
    "swarm",
    "reference",
)
#: Cases of each kind of the swarm, and those whose power is cut.
SWARM = {"COPYBACK_SWARM_RUNS": "300", "COPYBACK_SWARM_CUTS": "50"}
#: A mutant may wait for ever; no suite takes nearly so long.
TIMEOUT_S = 600

MODULE = f"""
//! Which seeded bug is switched on.
use std::sync::LazyLock;

static NUMBER: LazyLock<Option<u32>> =
    LazyLock::new(|| std::env::var("{SWITCH}").ok()?.parse().ok());

pub fn is(number: u32) -> bool {{
    *NUMBER == Some(number)
}}
"""


@dataclass(frozen=True)
class Mutant:
    """A seeded bug."""

    number: int
    what: str
    file: str
    original: str
    mutated: str
    within: str

    @classmethod
    def of(cls, number: int, entry: dict[str, str]) -> "Mutant":
        return cls(number=number, within=entry.pop("within", entry["original"]), **entry)

    def span(self, text: str) -> tuple[int, int]:
        """Where the original stands in ``text``."""
        if text.count(self.within) != 1 or self.within.count(self.original) != 1:
            sys.exit(f"mutants.toml: {self.what!r}: {self.file} does not hold its text just once")
        start = text.index(self.within) + self.within.index(self.original)
        return start, start + len(self.original)

    def switched(self) -> str:
        """Put the bug beside the original, behind the switch."""
        choice = (
            f"if crate::mutant::is({self.number}) {{ {self.mutated} }} else {{ {self.original} }}"
        )
        return choice if self.original.endswith(";") else f"({choice})"


@dataclass(frozen=True)
class Catch:
    """The first test that failed with a mutant switched on."""

    suite: str
    test: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, help="write the list as a page")
    parser.add_argument("numbers", type=int, nargs="*", help="only these; 0 is the code as it is")
    arguments = parser.parse_args()
    mutants = read()
    seed(mutants)
    suites = build()
    if (failed := first_failure(0, suites)) is not None:
        sys.exit(f"without a bug, {failed.suite}: {failed.test} fails")
    chosen = [mutant for mutant in mutants if mutant.number in (arguments.numbers or range(10_000))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        catches = list(pool.map(lambda mutant: tell(mutant, suites), chosen))
    if arguments.page is not None:
        arguments.page.write_text(page(chosen, catches))
    missed = [mutant for mutant, catch in zip(chosen, catches, strict=True) if catch is None]
    print(f"{len(chosen) - len(missed)} of {len(chosen)} seeded bugs noticed")
    return 1 if missed else 0


def read() -> list[Mutant]:
    entries = tomllib.loads(Path(__file__).with_name("mutants.toml").read_text())["mutant"]
    return [Mutant.of(number, entry) for number, entry in enumerate(entries, start=1)]


def seed(mutants: list[Mutant]) -> None:
    """Copy the files that git knows, and put every mutant into the copy."""
    shutil.rmtree(TREE, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    for name in listed.stdout.decode().split("\0")[:-1]:
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, TREE / name, follow_symlinks=False)
    for path in SOURCE.rglob("*.rs"):
        name = path.relative_to(SOURCE).as_posix()
        here = [mutant for mutant in mutants if mutant.file == name]
        if here:
            path.write_text(not_const(with_switches(path.read_text(), here)))
    (SOURCE / "mutant.rs").write_text(MODULE)
    library = SOURCE / "lib.rs"
    library.write_text(library.read_text() + "\nmod mutant;\n")


def with_switches(text: str, mutants: list[Mutant]) -> str:
    spans = sorted(((mutant.span(text), mutant) for mutant in mutants), key=lambda pair: pair[0])
    follows = len(text)
    for (start, end), mutant in reversed(spans):
        if end > follows:
            sys.exit(f"mutants.toml: {mutant.what!r}: another bug stands in the same place")
        text = text[:start] + mutant.switched() + text[end:]
        follows = start
    return text


def not_const(text: str) -> str:
    """Make functions with a switch ordinary ones, which may hold it, and those that call them."""
    calls = ["crate::mutant::is"]
    while calls:
        called = re.escape(calls[-1])
        found = re.search(rf"const (fn (\w+)(?:(?!\bfn ).)*?\b{called}\()", text, re.DOTALL)
        if found is None:
            calls.pop()
            continue
        text = text[: found.start()] + found[1] + text[found.end() :]
        calls.append(found[2])
    return text


def build() -> list[tuple[str, str]]:
    """Build every test binary. Returns the suites' names and paths."""
    tests = [option for suite in SUITES[1:] for option in ("--test", suite)]
    command = ["cargo", "test", "--no-run", "--package", "copyback", "--lib", *tests]
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(WORK / "build"),
        "RUSTFLAGS": "--cap-lints=allow",
    }
    built = subprocess.run(
        [*command, "--message-format=json-render-diagnostics"],
        cwd=TREE,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    if built.returncode != 0:
        sys.exit("a mutant does not compile")
    artifacts = [json.loads(line) for line in built.stdout.splitlines()]
    binaries = {
        item["target"]["name"]: item["executable"] for item in artifacts if item.get("executable")
    }
    return [(suite, binaries[suite]) for suite in SUITES]


def first_failure(number: int, suites: list[tuple[str, str]]) -> Catch | None:
    """Run the suites with a mutant switched on until a test fails."""
    environment = {**os.environ, **SWARM, SWITCH: str(number)}
    for suite, binary in suites:
        try:
            ended = subprocess.run(
                [binary, "--test-threads=1"],
                cwd=TREE / "crates" / "copyback",
                env=environment,
                timeout=TIMEOUT_S,
                capture_output=True,
                text=True,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            return Catch(suite, "does not end")
        if ended.returncode != 0:
            failed = re.search(r"^test (\S+).* \.\.\. FAILED", ended.stdout, re.MULTILINE)
            return Catch(suite, failed[1] if failed else "ends the process")
    return None


def tell(mutant: Mutant, suites: list[tuple[str, str]]) -> Catch | None:
    catch = first_failure(mutant.number, suites)
    noticed = f"{catch.suite}: {catch.test}" if catch else "NOT NOTICED"
    print(f"{mutant.number:3} {mutant.what}\n    {noticed}", flush=True)
    return catch


def page(mutants: list[Mutant], catches: list[Catch | None]) -> str:
    rows = [
        f"| {mutant.number} | {mutant.what} | `{mutant.file}` | {caught(catch)} |"
        for mutant, catch in zip(mutants, catches, strict=True)
    ]
    counts = {"run": len(rows), "all": len(read())}
    head = PAGE.format(date=date.today(), cases=SWARM["COPYBACK_SWARM_RUNS"], **counts)
    return "\n".join([*head.splitlines(), *rows, ""])


def caught(catch: Catch | None) -> str:
    if catch is None:
        return "**no**"
    suite = "unit tests" if catch.suite == "copyback" else f"`{catch.suite}`"
    return f"{suite}: `{catch.test}`"


PAGE = """\
# Would the tests notice?

Bugs that somebody might well write, seeded by hand into the engine, the mappings, the victim
policies, the schedules, the arrays, faults and power loss, saved drives and the metrics, one at a
time; and the first test that fails.
`make mutants` repeats it and writes this page. The bugs are in `tests/mutants/mutants.toml`; one
that does not fit the code any more is named. Unit tests run first, then the suites of
`crates/copyback/tests` that are quick, then `swarm` and `reference`; what comes after the first
failure is not looked at, and neither are the Python tests.

The list below is of {date}, with {cases} cases of each kind of the swarm: {run} of the {all} bugs
were run.

| | bug | file | first test that fails |
| --- | --- | --- | --- |"""


if __name__ == "__main__":
    sys.exit(main())
