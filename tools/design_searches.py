"""Measure how near searches come to the front of a space that is small enough to be run whole.

Every design of `examples/design/small.toml` is run under three workloads, with the seed that the
searches look at and with a fresh one. Then each sampler searches with a quarter of the page
operations, from ten seeds. Its front is scored by the runs with the fresh seed, as the share of the
hypervolume of the front of all designs; beside it, by the runs that it has seen. Stored in
`examples/design/searches.csv`:

    python tools/design_searches.py --runs out/small
"""

from __future__ import annotations

import argparse
import csv
import itertools
import statistics
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback import process
from copyback.designer.dominance import front
from copyback.designer.runs import Runner
from copyback.designer.scores import Measured
from copyback.designer.search import search
from copyback.designer.space import Choice, Design
from copyback.designer.study import Length, Sampling, Study
from copyback.designer.study_file import read_study
from copyback.sweep.where import Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from copyback.designer.dominance import Costs
    from copyback.designer.runs import Outcome

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "examples/design/small.toml"
STORED = ROOT / "examples/design/searches.csv"

#: Seeds of the runs: what the searches look at, and what their fronts are scored by.
SEEN, FRESH = 1, 2
SEARCHES = 10
SHARE = 0.25


class Lister:
    """Chooser of every design in turn: one digit a choice."""

    def __init__(self, digits: Sequence[int]) -> None:
        self._digits = iter(digits)

    def suggest_categorical(self, name: str, choices: tuple[str, ...]) -> Any:  # noqa: ARG002
        """Choose the next label."""
        return choices[next(self._digits)]

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        """Refuse a range."""
        raise NotImplementedError(name)

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        """Refuse a range."""
        raise NotImplementedError(name)


def all_designs(study: Study) -> Iterator[Design]:
    """Yield every design of a space of choices without parameters."""
    domains = [key.domain for key in study.space.keys]
    sizes = [len(own.options) for own in domains if isinstance(own, Choice)]
    for digits in itertools.product(*map(range, sizes)):
        yield study.space.choose(Lister(digits))


@dataclass
class Known:
    """Runner of a space that has been run whole: it only counts."""

    outcomes: Mapping[Design, Outcome]
    operations: Mapping[Design, int]
    spent: int = 0

    def measure(self, designs: Sequence[Design], _length: Length, _seeds: object) -> list[Outcome]:
        """Return what is known."""
        self.spent += sum(self.operations[design] for design in designs)
        return [self.outcomes[design] for design in designs]


def hypervolume(costs: Sequence[Costs], worst: Costs) -> float:
    """Return the area that a front of two objectives beats, up to the worst of all designs.

    >>> hypervolume([(0.0, 1.0), (1.0, 0.0)], (2.0, 2.0))
    3.0
    """
    area, right = 0.0, worst[1]
    for first, second in sorted(costs):
        if second < right:
            area += (worst[0] - first) * (right - second)
            right = second
    return area


def main() -> None:
    """Run the space, search it, and store how near the searches came."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=Path, required=True, help="keeps the runs here")
    arguments.add_argument("--jobs", type=int, default=1)
    given = arguments.parse_args()
    process.take()
    study = read_study(STUDY)
    designs = list(all_designs(study))
    seen, operations = whole(study, designs, SEEN, given)
    fresh, _ = whole(study, designs, FRESH, given)
    budget = round(SHARE * sum(operations.values()))
    rows: list[tuple[str, int, int, float, float]] = []
    for sampling in Sampling:
        for seed in range(1, SEARCHES + 1):
            own = replace(
                study, sampler=sampling, seed=seed, budget=budget, seeds=(SEEN,), short=()
            )
            known = Known(seen, operations)
            tried = search(own, known, lambda _: None).tried  # type: ignore[arg-type]
            near = [score(study, tried, runs) for runs in (fresh, seen)]
            rows.append((sampling.value, seed, len(tried), near[0], near[1]))
            print(*rows[-1], file=sys.stderr)
    with STORED.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["sampler", "seed", "designs", "share", "share_of_seen"])
        writer.writerows((*row[:3], f"{row[3]:.4f}", f"{row[4]:.4f}") for row in rows)
    for sampling in Sampling:
        each = [row for row in rows if row[0] == sampling]
        for name, reached in (("fresh", [r[3] for r in each]), ("seen", [r[4] for r in each])):
            median, least = statistics.median(reached), min(reached)
            print(f"{sampling}, {name} seed: median {median:.4f}, least {least:.4f}")
    print(f"{len(designs)} designs, {sum(isinstance(o, Measured) for o in seen.values())} run")


def whole(
    study: Study, designs: Sequence[Design], seed: int, given: argparse.Namespace
) -> tuple[dict[Design, Outcome], dict[Design, int]]:
    """Return what every design comes to with a seed, and the page operations of each."""
    runner = Runner(study, given.runs, Where(given.jobs), "tools", lambda text, _: print(text))
    outcomes, operations = {}, {}
    for batch in (designs[i : i + 48] for i in range(0, len(designs), 48)):
        runner.measure(batch, Length.FULL, (seed,))
        for design in batch:
            planned = runner.plan(design, Length.FULL, (seed,))
            runs = planned if isinstance(planned, tuple) else ()
            operations[design] = sum(runner._numbers[run.key].operations for run in runs)
            (outcomes[design],) = runner.measure([design], Length.FULL, (seed,))
        print(f"seed {seed}: {len(outcomes)} of {len(designs)}", file=sys.stderr)
    return outcomes, operations


def score(study: Study, tried: Sequence[Measured], fresh: Mapping[Design, Outcome]) -> float:
    """Return the share of the hypervolume of all designs that those of a search's front have."""
    true = {
        design: own.costs(study.objectives)
        for design, own in fresh.items()
        if isinstance(own, Measured) and own.is_feasible
    }
    worst = tuple(max(own[place] for own in true.values()) for place in range(2))
    allowed = [one for one in tried if one.is_feasible]
    costs = [one.costs(study.objectives) for one in allowed]
    found = [true[allowed[place].design] for place in front(costs) if allowed[place].design in true]
    return hypervolume(found, worst) / hypervolume(list(true.values()), worst)


if __name__ == "__main__":
    main()
