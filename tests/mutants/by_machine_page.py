"""The page of mutants by machine, from what is stored of them."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mutants.listed import AREAS, area
from mutants.stored import Row, Store, named
from mutants.suites import SHORTEST_LIMIT_S, SWARM, TIMES_AS_LONG, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE = Path(__file__).parent
#: What became of each mutant.
STORED = HERE / "by_machine.csv"
#: Of which list, by which seed.
LIST = HERE / "by_machine_list.json"
#: What somebody found out about survivors.
NOTES = HERE / "by_machine.toml"
PAGE = Path("docs/mutants-by-machine.md")


@dataclass(frozen=True)
class Notes:
    """What somebody found out about mutants, by their names.

    Attributes
    ----------
    equivalent
        Why no test can tell it from the original.
    led_to
        The test that was written as it survived.
    """

    equivalent: dict[str, str]
    led_to: dict[str, str]


def notes() -> Notes:
    """Read them."""
    read = tomllib.loads(NOTES.read_text(encoding="utf-8"))
    return Notes(read.get("equivalent", {}), read.get("led_to", {}))


@dataclass(frozen=True)
class Count:
    """How many mutants of some files came to what."""

    left_out: int
    unviable: int
    killed: int
    timed_out: int
    survived: int
    equivalent: int
    open: int

    @classmethod
    def of(cls, rows: Iterable[Row], equivalent: Iterable[str]) -> Count:
        """Count rows."""
        of = {outcome: [row.bug for row in rows if row.outcome is outcome] for outcome in Outcome}
        same = set(equivalent) & set(of[Outcome.SURVIVED])
        return cls(
            left_out=len(of[Outcome.LEFT_OUT]),
            unviable=len(of[Outcome.UNVIABLE]),
            killed=len(of[Outcome.KILLED]),
            timed_out=len(of[Outcome.TIMED_OUT]),
            survived=len(of[Outcome.SURVIVED]) - len(same),
            equivalent=len(same),
            open=len(of[Outcome.OPEN]),
        )

    @property
    def run(self) -> int:
        """Those that the tests were run on."""
        return self.killed + self.timed_out + self.survived + self.equivalent

    @property
    def share(self) -> str:
        """Of those that ended and are not equivalent, the share killed; none if some are open."""
        told = self.killed + self.survived
        return f"{self.killed / told:.1%}" if told and not self.open else ""


def write(to: Path) -> None:
    """Write the page below ``to``."""
    page = to / PAGE
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(written(list(Store(STORED).rows.values()), notes()), encoding="utf-8")


def written(rows: list[Row], notes: Notes) -> str:
    """Return the page."""
    lists = json.loads(LIST.read_text(encoding="utf-8"))
    count = Count.of(rows, notes.equivalent)
    survived = of(rows, Outcome.SURVIVED)
    same = [row for row in survived if row.bug in notes.equivalent]
    open_ones = [row for row in survived if row.bug not in notes.equivalent]
    led = [row for row in rows if row.bug in notes.led_to]
    parts = [
        HEAD.format(
            **vars(count),
            tool=lists["tool"],
            seed=lists["seed"],
            listed=f"{sum(lists['listed'].values()):,}",
            drawn=sum(lists["drawn"].values()),
            run=count.run,
            left=left_open(sum(lists["drawn"].values()) - len(rows), count.open),
            cases=SWARM["COPYBACK_SWARM_RUNS"],
            times=TIMES_AS_LONG,
            floor=SHORTEST_LIMIT_S,
        ),
        areas(rows, notes, lists),
        "## Survivors\n",
        table(("place", "change"), [[place(row), what(row)] for row in open_ones]),
        "## Open\n",
        tests(of(rows, Outcome.OPEN)),
        "## Tests that they led to\n",
        table(
            ("place", "change", "test"),
            [[place(row), what(row), f"`{notes.led_to[row.bug]}`"] for row in led],
        ),
        "## Equivalent\n",
        table(
            ("place", "change", "why no test can tell"),
            [[place(row), what(row), notes.equivalent[row.bug]] for row in same],
        ),
        "## Timed out\n",
        tests(of(rows, Outcome.TIMED_OUT)),
        "## Killed\n",
        tests(of(rows, Outcome.KILLED)),
    ]
    return "\n".join(parts)


def of(rows: list[Row], outcome: Outcome) -> list[Row]:
    """Return the rows of one outcome."""
    return [row for row in rows if row.outcome is outcome]


def areas(rows: list[Row], notes: Notes, lists: dict[str, dict[str, int]]) -> str:
    """Return what came of each area, and of all."""
    by_area = {name: [row for row in rows if area(row.place) == name] for name in AREAS}
    counts = {name: Count.of(here, notes.equivalent) for name, here in by_area.items()}
    counts["all"] = Count.of(rows, notes.equivalent)
    sizes = {of: {**lists[of], "all": sum(lists[of].values())} for of in ("listed", "drawn")}
    outcomes = [name.replace("_", " ") for name in vars(counts["all"])]
    head = ("area", "listed", "drawn", *outcomes, "killed of those")
    lines = [
        [
            name,
            f"{sizes['listed'][name]:,}",
            f"{sizes['drawn'][name]:,}",
            *map(str, vars(count).values()),
            count.share,
        ]
        for name, count in counts.items()
    ]
    return table(head, lines, numbers=True)


def tests(rows: list[Row]) -> str:
    """Return mutants with the tests that notice them."""
    lines = [[place(row), what(row), named(row)] for row in rows]
    return table(("place", "change", "first test that fails"), lines)


def place(row: Row) -> str:
    """Return where a mutant is."""
    return f"`{row.place}`"


def what(row: Row) -> str:
    """Return what a mutant changes."""
    change = row.bug.partition(": ")[2].replace("|", "\\|")
    return f"`{change}`"


def table(head: tuple[str, ...], lines: list[list[str]], *, numbers: bool = False) -> str:
    """Return a table, or that there is nothing in it."""
    if not lines:
        return "None.\n"
    rule = ["---", *(["---:"] if numbers else ["---"]) * (len(head) - 1)]
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, rule, *lines])


def left_open(not_run: int, unnoticed: int) -> str:
    """Say what has no verdict yet, if anything."""
    if not_run + unnoticed == 0:
        return ""
    return (
        f" {not_run + unnoticed} are open, as not all tests have been run on them yet: {unnoticed}"
        " of these\nwere not noticed by the quick suites, and of areas with such ones no share is"
        " told."
    )


HEAD = """\
# Mutants by machine

Would the tests notice changes that nobody has thought of? {tool} lists {listed} of them in
collections, the flash translation layer, the rooms of a drive, arrays, placement and the write
buffer. Of these {drawn} are drawn by the seed {seed}; {unviable} of them do not compile,
{left_out} cannot be built beside the others, {run} were run, each against the Rust tests, up to
the first that fails.{left}

**{killed} were killed**, {survived} survived, {timed_out} did not end, and {equivalent} are
equivalent: nothing that the simulator says differs. The share in the table leaves out those that
did not end and those that are equivalent.

`make mutants-machine` runs what has not been run yet, and writes this page;
`make mutants-nightly` runs a tenth of the sample again, another one each day. All mutants are built
at once: the body of a function that is changed stands beside the original one, behind a switch.
The swarm has {cases} cases of each kind. A suite that takes {times} times the processor's time
that it takes without a mutant, and {floor} s of it at least, does not end: that may be a mutant
that waits without end or one that is slow, and counts as neither killed nor survived. A mutant may
use 6 GiB of memory. The Python tests are not looked at. `tests/mutants/by_machine.csv` has each
mutant with the commit at which it was run, and its seconds.
"""
