"""Would the tests notice? Seeds the bugs of mutants.toml one at a time and says which test fails.

All of them are built at once into a copy of the simulator, each behind a switch (tree.py). What
became of each is kept in by_hand.csv, from which the page is written.

    PYTHONPATH=tests python -m mutants.by_hand [--page] [NUMBER ...]

Exit status 1 if a bug goes unnoticed.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from mutants import suites, tree
from mutants.stored import Row, Store, named
from mutants.suites import NEW, SWARM, Outcome, Verdict

HERE = Path(__file__).parent
TREE = tree.WORK / "tree"
STORED = HERE / "by_hand.csv"
#: Of bugs that were written by somebody who had not opened a test, what noticed each at first.
FOREIGN = HERE / "foreign.csv"
PAGE = Path("docs/mutants.md")


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
    def of(cls, number: int, entry: dict[str, str]) -> Mutant:
        """Read an entry of mutants.toml."""
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


def main() -> int:
    """Run bugs, or write the page. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--to", type=Path, default=tree.ROOT, help="where the page goes")
    parser.add_argument("numbers", type=int, nargs="*", help="only these")
    asked = parser.parse_args()
    mutants, store = read(), Store(STORED)
    chosen = [mutant for mutant in mutants if mutant.number in (asked.numbers or range(10_000))]
    if not asked.page:
        run(mutants, chosen, store)
    page = asked.to / PAGE
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(written(mutants, store), encoding="utf-8")
    told = [store.rows[mutant.what] for mutant in chosen if mutant.what in store.rows]
    noticed = sum(row.outcome in {Outcome.KILLED, Outcome.TIMED_OUT} for row in told)
    print(f"{noticed} of {len(told)} seeded bugs noticed")
    return int(noticed < len(told))


def read() -> list[Mutant]:
    """Read mutants.toml."""
    text = (HERE / "mutants.toml").read_text(encoding="utf-8")
    return [
        Mutant.of(number, entry) for number, entry in enumerate(tomllib.loads(text)["mutant"], 1)
    ]


def run(mutants: list[Mutant], chosen: list[Mutant], store: Store) -> None:
    """Build all bugs, and run those that are chosen."""
    seed(mutants)
    commit = tree.commit()
    by_number = {mutant.number: mutant for mutant in chosen}

    def told(number: int, verdict: Verdict) -> None:
        mutant = by_number[number]
        row = Row.of(mutant.what, mutant.file, verdict, commit)
        store.add(row)
        print(f"{number:3} {mutant.what}\n    {named(row)}", flush=True)

    bugs = dict.fromkeys(by_number, NEW)
    suites.judged_all(bugs, suites.built(TREE), told, os.cpu_count() or 1)


def seed(mutants: list[Mutant]) -> None:
    """Put every mutant into a copy of the sources."""
    mutated = {}
    for name in {mutant.file for mutant in mutants}:
        here = [mutant for mutant in mutants if mutant.file == name]
        mutated[name] = tree.not_const(with_switches(tree.source(name), here))
    tree.written(TREE, mutated)


def with_switches(text: str, mutants: list[Mutant]) -> str:
    """Put the mutants of a file into its text."""
    spans = sorted(((mutant.span(text), mutant) for mutant in mutants), key=lambda pair: pair[0])
    follows = len(text)
    for (start, end), mutant in reversed(spans):
        if end > follows:
            sys.exit(f"mutants.toml: {mutant.what!r}: another bug stands in the same place")
        text = text[:start] + mutant.switched() + text[end:]
        follows = start
    return text


def written(mutants: list[Mutant], store: Store) -> str:
    """Return the page."""
    rows = [
        f"| {mutant.number} | {mutant.what} | `{mutant.file}` | {named(store.rows[mutant.what])} |"
        for mutant in mutants
        if mutant.what in store.rows
    ]
    with FOREIGN.open(newline="", encoding="utf-8") as file:
        foreign = list(csv.DictReader(file))
    noticed = sum(row["first_noticed_by"] != "" for row in foreign)
    counts = {"run": len(rows), "all": len(mutants), "foreign": len(foreign), "noticed": noticed}
    head = HEAD.format(cases=SWARM["COPYBACK_SWARM_RUNS"], **counts)
    return "\n".join([*head.splitlines(), *rows, ""])


HEAD = """\
# Would the tests notice?

Bugs that somebody might well write, seeded by hand into the engine, the mappings, the victim
policies, the schedules, the arrays, faults and power loss, saved drives and the metrics, one at a
time; and the first test that fails. [Mutants by machine](mutants-by-machine.md) are changes that
nobody has thought of.
`make mutants` repeats it and writes this page. The bugs are in `tests/mutants/mutants.toml`; one
that does not fit the code any more is named. Unit tests run first, then the suites of
`crates/copyback/tests` that are quick, then `swarm` and `reference`; what comes after the first
failure is not looked at, and neither are the Python tests. `tests/mutants/by_hand.csv` has the
commit at which each was run.

The last {foreign} are of a foreign hand, who wrote them from the text and the code, most of them
amounts where two features meet, and committed the hash of `tests/mutants/foreign.txt` before
opening a test. Before one was written for them, the unit tests and the quick suites noticed
{noticed} of {foreign} (`foreign.csv`).

Of {all} bugs {run} were run, with {cases} cases of each kind of the swarm.

| | bug | file | first test that fails |
| --- | --- | --- | --- |"""


if __name__ == "__main__":
    sys.exit(main())
