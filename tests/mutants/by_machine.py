"""Would the tests notice what a machine changes? Runs a sample of what cargo-mutants lists.

The sample is drawn by a seed from the tool's whole list for the areas of listed.py. All of it is
built at once (doubled.py). What became of each is kept in by_machine.csv as soon as it is known,
so that a run that was killed goes on where it was; the page is written from that.

    PYTHONPATH=tests python -m mutants.by_machine [--page | --survivors | --tenth]

Exit status 1 if one survives that nobody has shown to be equivalent.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mutants import by_machine_page, listed, suites, tree
from mutants.doubled import cannot_stand_beside
from mutants.stored import Row, Store, named
from mutants.suites import NEW, Outcome, Verdict
from mutants.viable import Mutated

if TYPE_CHECKING:
    from mutants.listed import Change

HERE = Path(__file__).parent
TREE = tree.WORK / "by-machine"
#: At least 150 of them compile.
DRAWN = 175
PARTS = 10
NOT_RUN = {Outcome.UNVIABLE, Outcome.LEFT_OUT}


def main() -> int:
    """Run mutants, or write the page. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--to", type=Path, default=tree.ROOT, help="where the page goes")
    parser.add_argument("--survivors", action="store_true", help="run those again that survived")
    parser.add_argument("--tenth", action="store_true", help="run a tenth again, the day's")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    asked = parser.parse_args()
    store = Store(by_machine_page.STORED)
    equivalent = set(by_machine_page.notes().equivalent)
    if asked.tenth:
        return tenth(store, equivalent, asked.jobs)
    if not asked.page:
        sample(store, again=asked.survivors, jobs=asked.jobs)
    by_machine_page.write(asked.to)
    survived = {row.bug for row in store.rows.values() if row.outcome is Outcome.SURVIVED}
    return int(bool(survived - equivalent))


def sample(store: Store, *, again: bool, jobs: int) -> None:
    """Run what has been drawn and not run yet, or what survived."""
    changes = drawn(note=True)
    names = {change.name for change in changes}
    store.drop(set(store.rows) - names)
    rows = store.rows.values()
    begun = {
        row.bug: row.verdict for row in rows if not (again and row.outcome is Outcome.SURVIVED)
    }
    mutated = built_from(changes, store)
    verdicts = {n: begun.get(one.name, NEW) for n, one in mutated.changes.items()}
    if any(verdict.outcome is Outcome.OPEN for verdict in verdicts.values()):
        run(mutated, verdicts, jobs, store)


def tenth(store: Store, equivalent: set[str], jobs: int) -> int:
    """Run a tenth of the sample again, another one each day, and keep nothing of it."""
    part = datetime.now(UTC).toordinal() % PARTS
    left_out = equivalent | {row.bug for row in store.rows.values() if row.outcome in NOT_RUN}
    chosen = dict(enumerate(drawn(note=False), 1))
    chosen = {
        number: one
        for number, one in chosen.items()
        if number % PARTS == part and one.name not in left_out
    }
    print(f"part {part} of {PARTS}: {len(chosen)} mutants", flush=True)
    mutated = Mutated(TREE, chosen)
    rows = run(mutated, dict.fromkeys(mutated.changes, NEW), jobs, None)
    survived = [bug for bug, row in rows.items() if row.outcome is Outcome.SURVIVED]
    print(f"{len(rows) - len(survived)} of {len(rows)} noticed", *survived, sep="\n")
    return int(bool(survived))


def drawn(*, note: bool) -> list[Change]:
    """Draw the sample, and note from how long a list."""
    changes = listed.all_changes()
    sample = listed.drawn(changes, DRAWN)
    if note:
        lists = {
            "tool": listed.version(),
            "seed": listed.SEED,
            "commit": tree.commit(),
            "listed": by_area(changes),
            "drawn": by_area(sample),
        }
        text = json.dumps(lists, indent=2) + "\n"
        by_machine_page.LIST.write_text(text, encoding="utf-8")
    return sample


def by_area(changes: list[Change]) -> dict[str, int]:
    """Count changes by area."""
    counts = Counter(listed.area(change.file) for change in changes)
    return {area: counts[area] for area in listed.AREAS}


def built_from(changes: list[Change], store: Store) -> Mutated:
    """Put into one tree what compiles, and note what does not."""
    numbered = dict(enumerate(changes, 1))
    commit = tree.commit()

    def left_out(change: Change, outcome: Outcome, why: str) -> None:
        store.add(Row.of(change.name, change.place, Verdict(outcome, "", why, 0), commit))

    for change in changes:
        if (why := cannot_stand_beside(change, changes)) is not None:
            left_out(change, Outcome.LEFT_OUT, why)
    known = {row.bug for row in store.rows.values() if row.outcome in NOT_RUN}
    mutated = Mutated(TREE, {n: one for n, one in numbered.items() if one.name not in known})
    for number, why in mutated.refused.items():
        left_out(numbered[number], Outcome.UNVIABLE, why)
    return mutated


def run(
    mutated: Mutated, verdicts: dict[int, Verdict], jobs: int, store: Store | None
) -> dict[str, Row]:
    """Run mutants that are open, and tell of each."""
    commit = tree.commit()
    rows = {}

    def told(number: int, verdict: Verdict) -> None:
        change = mutated.changes[number]
        row = Row.of(change.name, change.place, verdict, commit)
        rows[row.bug] = row
        if store is not None:
            store.add(row)
        print(f"{number:3} {change.name}\n    {row.seconds} s: {named(row)}", flush=True)

    suites.judged_all(verdicts, suites.built(TREE), told, jobs)
    return rows


if __name__ == "__main__":
    sys.exit(main())
