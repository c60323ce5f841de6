"""Order of the entries of a board, by the first objective."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from copyback.designer.scores import LEAST, RunNumbers, score
from copyback.designer.study import Goal, Load
from copyback.sweep.ratios import ratio_of

if TYPE_CHECKING:
    from copyback.leaderboard.board import Board, Entry
    from copyback.sweep.ratios import NoRatio, Ratio


def ranked(board: Board) -> list[Entry]:
    """Return the entries, the best in the first objective first."""
    first = board.objectives[0]
    sign = -1 if first.goal is Goal.MAXIMISE else 1
    return sorted(board.entries, key=lambda entry: sign * mean(board, entry, 0))


def by_seed(board: Board, entry: Entry, place: int) -> dict[int, float]:
    """Return for each seed the mean of an objective over the workloads, as a study has it."""
    loads = [Load(name, (), load.weight) for name, load in board.loads.items()]
    measure = board.objectives[place].found()
    runs = {(run.load, run.seed): run for run in entry.runs}
    name = board.objectives[place].measure
    return {
        seed: score(
            loads,
            measure,
            {
                load.name: RunNumbers({measure.column: runs[load.name, seed].numbers[name]}, {}, 0)
                for load in loads
            },
        )
        for seed in board.seeds
    }


def mean(board: Board, entry: Entry, place: int) -> float:
    """Return the geometric mean of an objective over workloads and seeds."""
    logs = [math.log(max(own, LEAST)) for own in by_seed(board, entry, place).values()]
    return math.exp(statistics.fmean(logs))


def ratio(board: Board, entry: Entry, other: Entry, place: int) -> Ratio | NoRatio:
    """Return the ratio of an entry's objective to another's, seed by seed."""
    return ratio_of([(by_seed(board, entry, place), by_seed(board, other, place))])
