"""Runs of an entry: each workload of the board with each seed."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from copyback import data as names
from copyback._core import InputError
from copyback.designer.scores import RunNumbers
from copyback.leaderboard.alone import check_alone
from copyback.leaderboard.board import BoardRun
from copyback.sweep.axes import LOAD, SEED
from copyback.sweep.completion import completed
from copyback.sweep.failures import Failures
from copyback.sweep.plan import Plan, make_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from copyback.leaderboard.board import Board
    from copyback.sweep.axes import Named
    from copyback.sweep.plan import Run
    from copyback.sweep.where import Where


def plan_of(board: Board, settings: Mapping[str, str]) -> tuple[Run, ...]:
    """Return the runs of a design: for each workload, for each seed.

    Raises
    ------
    InputError
        If a configuration is wrong, or does not stand alone.
    """
    check_alone(board, settings)
    named: Named = {
        ((LOAD, name),): tuple(load.settings.items()) for name, load in board.loads.items()
    }
    points = [
        ((LOAD, name), *settings.items(), (SEED, str(seed)))
        for name in board.loads
        for seed in board.seeds
    ]
    return make_plan(board.base, points, named=named, merged=False).runs


def results(
    board: Board,
    settings: Mapping[str, str],
    where: Where,
    command: str,
    on_failed: Callable[[str, Exception], None],
) -> tuple[BoardRun, ...]:
    """Run a design, and return what its runs came to.

    Raises
    ------
    InputError, SimulationError
        If a run cannot be done.
    """
    runs = plan_of(board, settings)
    failures = Failures(runs, on_failed)
    plan = Plan((), tuple({run.key: run for run in runs}.values()), ())
    with (
        TemporaryDirectory(prefix="copyback-leaderboard-") as home,
        completed(plan, Path(home), where, failures, command=command, kept=False) as done,
    ):
        if any(run in failures for run in runs):
            raise InputError("; ".join(failures.sentences()))
        found = {}
        for run in plan.runs:
            text = (done.store.run(run.key) / names.SUMMARY).read_text(encoding="utf-8")
            found[run.key] = RunNumbers.of(json.loads(text), run.resolved)
    places = [(name, seed) for name in board.loads for seed in board.seeds]
    return tuple(
        BoardRun(
            load=load,
            seed=seed,
            digest=run.config.digest,
            numbers={one.measure: found[run.key].value(one.found()) for one in board.objectives},
            overloaded=found[run.key].is_overloaded,
        )
        for (load, seed), run in zip(places, runs, strict=True)
    )
