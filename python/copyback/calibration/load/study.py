"""The whole of a fit to a load curve: read, search, predict, judge."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.calibration.load import judge, sources
from copyback.calibration.load.aim import CurveAim
from copyback.calibration.load.result import LoadCalibration
from copyback.calibration.load.workload import Load, Settling, below
from copyback.calibration.search import known, span
from copyback.calibration.search.question import BUDGET, Question, check_budget, question
from copyback.calibration.search.trial import trial
from copyback.inputs import configuration
from copyback.sweep.where import Where
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from copyback._core import Config
    from copyback.calibration.load.table import Curve

#: Simulated seconds of a rate that are measured, unless it is said.
SECONDS = 3.0


@dataclass(frozen=True)
class Request:
    """Request for a fit to a load curve.

    Attributes
    ----------
    config
        The drive, with values to start from, and the workload.
    table
        File with the load curve.
    fit
        ``KEY`` or ``KEY=LOW..HIGH``; the usual keys if empty.
    use
        Offered rates that are fitted; the lowest and one at half load if empty.
    saturation
        Writes a second at the highest rate; None if it is not given.
    seconds
        Simulated seconds of a rate that are measured.
    ramp
        Seconds before anything is measured; until 2% of the drive are written if None.
    budget
        Evaluations.
    where
        Where simulations run.
    """

    config: Config
    table: Path
    fit: tuple[str, ...] = ()
    use: tuple[float, ...] = ()
    saturation: float | None = None
    seconds: float = SECONDS
    ramp: float | None = None
    budget: int = BUDGET
    where: Where = field(default_factory=Where)
    quiet: bool = False

    def __post_init__(self) -> None:
        check_budget(self.budget)
        for name, value in (("--seconds", self.seconds), ("--saturation", self.saturation)):
            if value is not None and not 0.0 < value < math.inf:
                raise InputError(f"{name}: found {value:g}; allowed: a number above 0")
        if self.ramp is not None and not 0.0 <= self.ramp < math.inf:
            raise InputError(f"--ramp: found {self.ramp:g}; allowed: 0 or more")


@dataclass(frozen=True)
class Task:
    """A request that has been checked."""

    request: Request
    curve: Curve
    load: Load
    aim: CurveAim
    question: Question


def prepare(request: Request) -> Task:
    """Check a request before the first simulation.

    Raises
    ------
    InputError
        If the input is at fault.
    """
    curve = sources.read(request.table)
    tables = configuration.resolved(request.config)
    settling = Settling.of(request.config, judge.highest(curve), request.ramp)
    load = Load(tables["workload"], request.seconds, settling)
    _check(curve, load)
    aim = CurveAim(curve, _rates(curve, request.use), request.saturation)
    facts = {
        "table": curve.digest,
        "use": aim.rates,
        "saturation": aim.saturation,
        "seconds": request.seconds,
    }
    if request.ramp is not None:
        facts["ramp"] = request.ramp
    asked = question(
        request.config,
        span.spans(request.config, request.fit),
        aim,
        facts,
        place=float,
        budget=request.budget,
        where=request.where,
        quiet=request.quiet,
    )
    return Task(request, curve, load, aim, asked)


def study(task: Task, directory: Path | None) -> LoadCalibration:
    """Fit a drive to a load curve, and judge it at all rates.

    Parameters
    ----------
    directory
        Where evaluations are kept, and gone on with; nowhere if None.

    Raises
    ------
    InputError
        If no values that were tried can be simulated, or the directory holds another search.
    """
    request, curve = task.request, task.curve
    rates = [rate.offered for rate in curve.rates]
    simulations = request.budget * len(task.aim.simulated) + len(rates)
    with trial(task.question, request.config, task.load, directory, simulations) as tried:
        evaluations = tried.search()
        settings = tried.settings(known.best_of(evaluations).values)
        numbers = tried.numbers(settings, rates)
        config = tried.bench.config(settings, rates[0])
    return LoadCalibration(
        config=config,
        curve=curve,
        aim=task.aim,
        seconds=request.seconds,
        evaluations=evaluations,
        fitted=known.fitted(task.question.spans, task.question.start, evaluations, task.aim),
        numbers=numbers,
        cells=judge.cells(curve, task.aim, numbers),
    )


def _check(curve: Curve, load: Load) -> None:
    """Check that the workload can have the rates of a table, and has its operations."""
    for rate in curve.rates:
        if rate.offered <= load.least:
            raise below(rate.offered, load.least, rate.place)
        for metric in rate.metrics:
            operation = metric.partition("_")[0]
            if operation not in load.operations:
                raise InputError(
                    f"{rate.place}: {metric}: found a latency, and flow 0 of the workload has no "
                    f"{operation}s; allowed: the latencies of its requests"
                )


def _rates(curve: Curve, use: Sequence[float]) -> tuple[float, ...]:
    """Return the rates that are fitted."""
    offered = [rate.offered for rate in curve.rates]
    for rate in use:
        if rate not in offered:
            allowed = ", ".join(map(units.count, offered))
            raise InputError(f"--use: found {rate:g}; allowed: a rate of the table: {allowed}")
    return tuple(sorted(set(use))) or judge.usual_rates(curve)
