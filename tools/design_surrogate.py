"""Measure how many designs lie in the interval that the surrogate of a study tells.

Designs are drawn evenly from the space of a study and run, as many as `--designs` says: no search
and no surrogate sees them. Then each sampler searches from some seeds, as `copyback design` does,
and the surrogate of each search tells an interval for each of these designs. Stored in
`examples/design/surrogate.csv`:

    python tools/design_surrogate.py --runs out/surrogate        # some twenty minutes of one core
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from commits import commit

from copyback.designer.drawn import run_drawn
from copyback.designer.runs import Runner
from copyback.designer.search import search
from copyback.designer.study import Sampling
from copyback.designer.study_file import read_study
from copyback.designer.surrogate import surrogates
from copyback.sweep.where import Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from copyback.designer.scores import Measured
    from copyback.designer.study import Study

ROOT = Path(__file__).parents[1]
STORED = ROOT / "examples/design/surrogate.csv"

#: Studies, and the budget of each search.
STUDIES = {"study.toml": 8_000_000, "gains/plain.toml": 24_000_000}
SEEDS = range(1, 6)

#: Seed of the designs that nobody has seen.
UNSEEN = 1_000

#: Share of the designs that are near the front: the best.
NEAR = 0.1

COLUMNS = ["study", "sampler", "seed", "searched", "unseen", "objective"]
COLUMNS += ["covered", "covered_near", "width", "commit"]


def main() -> int:
    """Run the searches, and store what they cover. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--designs", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    at = commit()
    with STORED.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for name, budget in STUDIES.items():
            study = replace(read_study(ROOT / "examples/design" / name), budget=budget)
            for row in measured(study, given.runs / name, given.designs, given.jobs):
                table.writerow([name, *row, at])
                print(name, *row, flush=True)
    return 0


def measured(study: Study, runs: Path, designs: int, jobs: int) -> Iterator[list[str]]:
    """Yield a row for each search and objective."""
    unseen = run_drawn(replace(study, seed=UNSEEN, held_back=designs), runner_of(study, runs, jobs))
    for sampler, seed in itertools.product(Sampling, SEEDS):
        own = replace(study, sampler=sampler, seed=seed)
        runner = runner_of(own, runs, jobs)
        tried = search(own, runner, lambda _: None).tried
        drawn = run_drawn(own, runner)
        for surrogate in surrogates(own, tried, drawn):
            told = surrogate.predict([one.design.picks for one in unseen])
            label = own.objectives[surrogate.place].measure.label
            yield [
                *(sampler, str(seed), str(len(tried)), str(len(unseen)), label),
                *(f"{share:.4f}" for share in covered(told, unseen, surrogate.place)),
                f"{np.median(told[:, 2] / told[:, 1]):.3f}",
            ]


def runner_of(study: Study, runs: Path, jobs: int) -> Runner:
    """Return the runner of a study; all of a space share their runs."""
    return Runner(study, runs, Where(jobs, None, None), "tools", lambda text, _: print(text))


def covered(
    told: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    unseen: Sequence[Measured],
    place: int,
) -> tuple[float, float]:
    """Return the share of designs that lie within their interval, and that of the best."""
    real = np.array([one.score(place) for one in unseen])
    inside = (told[:, 1] <= real) & (real <= told[:, 2])
    near = real <= np.quantile(real, NEAR)
    return float(inside.mean()), float(inside[near].mean())


if __name__ == "__main__":
    sys.exit(main())
