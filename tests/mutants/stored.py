"""What became of each bug that was run: kept in a table, so that a run can go on where it ended."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, NamedTuple

from mutants.suites import Outcome, Verdict

if TYPE_CHECKING:
    from pathlib import Path


class Row(NamedTuple):
    """A bug that was run.

    Attributes
    ----------
    bug
        What it is, which no other one is.
    place
        Its file below the simulator's sources, and its line if it has one.
    outcome, suite, test
        The first test that failed, or did not end, and its suite; empty if it survived. Of one that
        does not compile, ``test`` is what the compiler says.
        Of one that is open, ``suite`` is the last one that did not notice it.
    seconds
        Of the processor that it took; empty where nobody measured it.
    commit
        Of the code that was mutated.
    """

    bug: str
    place: str
    outcome: Outcome
    suite: str
    test: str
    seconds: str
    commit: str

    @classmethod
    def of(cls, bug: str, place: str, verdict: Verdict, commit: str) -> Row:
        """Put a verdict into a row."""
        seconds = f"{verdict.seconds:.0f}"
        return cls(bug, place, verdict.outcome, verdict.suite, verdict.test, seconds, commit)

    @property
    def verdict(self) -> Verdict:
        """What has become of it."""
        return Verdict(self.outcome, self.suite, self.test, float(self.seconds or 0))


class Store:
    """A table of rows in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, Row] = {}
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                for line in csv.DictReader(file):
                    bug, place, outcome, *rest = line.values()
                    row = Row(bug, place, Outcome(outcome), *rest)
                    self.rows[row.bug] = row

    def add(self, *rows: Row) -> None:
        """Put rows in, in the place of those of the same bugs, and keep the table."""
        self.rows |= {row.bug: row for row in rows}
        self.keep()

    def drop(self, bugs: set[str]) -> None:
        """Forget rows."""
        self.rows = {bug: row for bug, row in self.rows.items() if bug not in bugs}
        self.keep()

    def keep(self) -> None:
        """Write the file; whoever is killed meanwhile leaves the old one."""
        part = self.path.with_suffix(".part")
        with part.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(Row._fields)
            ordered = sorted(self.rows.values(), key=lambda row: (row.place, row.bug))
            table.writerows((*row[:2], row.outcome.value, *row[3:]) for row in ordered)
        part.replace(self.path)


def named(row: Row) -> str:
    """Return the first test that fails, for a page."""
    suite = "unit tests" if row.suite == "copyback" else f"`{row.suite}`"
    test, _, end = row.test.partition(" (")
    if row.outcome is Outcome.TIMED_OUT:
        return f"{suite}: `{test}` does not end" if test else f"{suite}: does not end"
    if row.outcome is Outcome.OPEN:
        return f"none up to {suite}"
    if row.outcome is Outcome.SURVIVED:
        return "**no**"
    return f"{suite}: `{test}`" + (f" ({end}" if end else "")
