"""Measure what a search of a large space finds, beside a grid and random draws of the same budget.

The study `examples/design/large.toml` is searched for six loads: as `copyback design` does it
(`tpe`), with designs drawn at random, and with those of a grid in random order
(`examples/design/grid.toml`). All three drop designs by the same rule and have the same budget in
page operations. The best design of each, and the one that was first of the whole grid, are then run
under three loads that no search has seen, which are pieces of real traces, with fresh seeds. Stored
in `examples/design/large.csv`:

    python tools/design_large.py TRACES --runs out/large      # ten minutes a search, two cores
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from commits import commit
from design_searches import all_designs

from copyback import process
from copyback.designer.answer import words
from copyback.designer.found import BASE
from copyback.designer.runs import Runner
from copyback.designer.scores import Measured
from copyback.designer.search import SHARE, search
from copyback.designer.space import Design
from copyback.designer.space_file import space_of
from copyback.designer.study import Length, Sampling, Study
from copyback.designer.study_file import read_study, study_of
from copyback.designer.survivors import run_survivors
from copyback.sweep.ratios import Ratio
from copyback.sweep.where import Where

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "examples/design/large.toml"
STORED = ROOT / "examples/design/large.csv"
GRID = ROOT / "examples/design/grid.toml"

#: The search whose result the others are compared with.
OURS = Sampling.TPE.value

#: First of the whole grid in the mean over nine loads, run at commit 4d58d5e6874a.
WINNER = "grid winner"
WINNER_DESIGN = {
    "ssd.gc.victim": '"greedy"',
    "ssd.gc.preemption": (
        '{ type = "semi_preemptive", pipeline = true, merge = true, reorder = true }'
    ),
    "ssd.gc.idle": '"advanced_delayed"',
    "ssd.gc.width": '"blind"',
}

#: Loads that no search sees: files of the directory of traces, and settings beside them.
UNSEEN: dict[str, tuple[str, dict[str, Any]]] = {
    "MySQL server 2012": ("linux-mysql.load.gz", {}),
    "HP server 2003": ("hp-2003-hourly-77-disks.csv.gz", {}),
    "Financial1": (
        "financial1-first-50k.trace.gz",
        {"workload.format": {"type": "disksim", "size_unit": "4KiB"}},
    ),
}
LIMIT = 20_000
FRESH = (11, 12, 13, 14, 15)


class Best(NamedTuple):
    """Best design of a search, and what the search took."""

    design: Design
    tried: int
    settled: int
    operations: int


class Row(NamedTuple):
    """Numbers of a search's best design under a load.

    Attributes
    ----------
    tried, settled, operations
        Designs with a short run and with all runs, and page operations of the search.
    mean
        Mean response time in us, the geometric mean over the fresh seeds.
    ratio, low, high
        Of our search's mean to this one, with its 95% interval.
    """

    search: str
    tried: str
    settled: str
    operations: str
    design: str
    load: str
    mean: str
    ratio: str
    low: str
    high: str
    commit: str


def main() -> int:
    """Search three times, test what was found, and store it. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("traces", type=Path, help="directory of the traces")
    parser.add_argument("--runs", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    at = commit()
    process.take()
    study = read_study(STUDY)
    searches: dict[str, Callable[[Study, Runner], list[Measured]]] = {
        OURS: asked,
        Sampling.RANDOM.value: asked,
        "grid": of_grid,
    }
    found = {WINNER: Best(Design(tuple(WINNER_DESIGN.items()), {}), 0, 0, 0)}
    for name, tries in searches.items():
        own = replace(study, sampler=Sampling.RANDOM if name != OURS else Sampling.TPE)
        runner = Runner(own, given.runs / name, Where(given.jobs), "tools", complain)
        found[name] = best(own, runner, tries)
        print(name, found[name], file=sys.stderr, flush=True)
    tests = Where(given.jobs), given.runs / "tests"
    rows = [row for load in UNSEEN for row in tested(load, given.traces, found, tests, at)]
    with STORED.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Row._fields)
        table.writerows(rows)
    return 0


def complain(text: str, _: Exception) -> None:
    """Say that a run failed."""
    print(text, file=sys.stderr)


def asked(study: Study, runner: Runner) -> list[Measured]:
    """Return the designs that a search as `copyback design` does it has tried."""
    return list(search(study, runner, lambda _: None).tried)


def of_grid(study: Study, runner: Runner) -> list[Measured]:
    """Return the designs of the grid that the budget lasts for, in random order."""
    grid = tomllib.loads(GRID.read_text(encoding="utf-8"))["grid"]
    designs = list(all_designs(replace(study, space=space_of(grid, lambda _, value: value))))
    random.Random(study.seed).shuffle(designs)
    limit = runner.spent + SHARE * (study.budget - runner.spent)
    tried: list[Measured] = []
    while designs and runner.spent < limit:
        batch, designs = designs[: study.batch], designs[study.batch :]
        outcomes = runner.measure(batch, study.search_length, study.seeds[:1])
        tried += [one for one in outcomes if isinstance(one, Measured)]
    return tried


def best(study: Study, runner: Runner, tries: Callable[[Study, Runner], list[Measured]]) -> Best:
    """Return the design that is best in the first objective, by its full runs."""
    runner.check_base(BASE)
    runner.measure([BASE], Length.FULL, study.seeds)
    each = runner.spent
    tried = tries(study, runner)
    settled = run_survivors(study, runner, tried, each, lambda _: None).settled
    allowed = [one for one in settled if one.may_be_built]
    found = min(allowed, key=lambda one: one.costs(study.objectives))
    return Best(found.design, len(tried), len(settled), runner.spent)


def under(load: str, traces: Path) -> Study:
    """Return the study with one load that no search has seen, and fresh seeds."""
    file, settings = UNSEEN[load]
    table = tomllib.loads(STUDY.read_text(encoding="utf-8"))
    del table["short"]
    trace = {"trace": str((traces / file).resolve()), "workload.beyond_device": "wrap"}
    table["workloads"] = {load: {**trace, "workload.limit": LIMIT, **settings}}
    return replace(study_of(table, STUDY.parent), seeds=FRESH)


def tested(
    load: str,
    traces: Path,
    found: dict[str, Best],
    where: tuple[Where, Path],
    at: str,
) -> list[Row]:
    """Return a row for each search: its best design under a load that none has seen."""
    own = under(load, traces)
    runner = Runner(own, where[1] / load.replace(" ", "-"), where[0], "tools", complain)
    designs = [one.design for one in found.values()]
    outcomes = dict(zip(found, runner.measure(designs, Length.FULL, FRESH), strict=True))
    ours = outcomes[OURS]
    assert isinstance(ours, Measured), ours
    return [row(name, one, load, outcomes[name], ours, at) for name, one in found.items()]


def row(name: str, own: Best, load: str, outcome: object, ours: Measured, at: str) -> Row:
    """Return the row of a search under a load."""
    assert isinstance(outcome, Measured), outcome
    ratio = ours.ratio(outcome, 0)
    ends = (ratio.ratio, ratio.low, ratio.high) if isinstance(ratio, Ratio) else (None,) * 3
    return Row(
        search=name,
        tried=str(own.tried),
        settled=str(own.settled),
        operations=str(own.operations),
        design=words(own.design.point),
        load=load,
        mean=f"{outcome.score(0):.6g}",
        ratio=number(ends[0]),
        low=number(ends[1]),
        high=number(ends[2]),
        commit=at,
    )


def number(value: float | None) -> str:
    """Return a ratio as the table has it; nothing if there is none."""
    return "" if value is None else f"{value:.4f}"


if __name__ == "__main__":
    sys.exit(main())
