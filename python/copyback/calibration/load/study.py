"""The whole of a fit to a load curve: read, search, predict, judge."""

from __future__ import annotations

import hashlib
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from copyback import __version__
from copyback._core import InputError, SimulationError
from copyback.calibration.load import judge, known, sources, span
from copyback.calibration.load.aim import Aim
from copyback.calibration.load.bench import Bench
from copyback.calibration.load.kept import Evaluation, Kept
from copyback.calibration.load.result import LoadCalibration
from copyback.calibration.load.search import Search
from copyback.calibration.load.workload import Load, below
from copyback.inputs import configuration
from copyback.process import cores
from copyback.simulation.prepared import Folder
from copyback.words import units
from copyback.words.console import counting_display

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from copyback._core import Config
    from copyback.calibration.load.span import Span
    from copyback.calibration.load.table import Curve

#: Simulated seconds of a rate, and evaluations, unless it is said.
SECONDS, BUDGET = 3.0, 200

#: Fewest evaluations.
LEAST_BUDGET = 10


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
        Simulated seconds of a rate.
    ramp
        Seconds of them that are not measured, at the beginning; a tenth if None.
    budget
        Evaluations.
    jobs
        Simulations at once; one a core if None.
    """

    config: Config
    table: Path
    fit: tuple[str, ...] = ()
    use: tuple[float, ...] = ()
    saturation: float | None = None
    seconds: float = SECONDS
    ramp: float | None = None
    budget: int = BUDGET
    jobs: int | None = None
    quiet: bool = False

    def __post_init__(self) -> None:
        if self.budget < LEAST_BUDGET:
            raise InputError(f"--budget: found {self.budget}; allowed: {LEAST_BUDGET} or more")
        for name, value in (("--seconds", self.seconds), ("--saturation", self.saturation)):
            if value is not None and not 0.0 < value < math.inf:
                raise InputError(f"{name}: found {value:g}; allowed: a number above 0")
        if self.ramp is not None and not 0.0 <= self.ramp < self.seconds:
            raise InputError(
                f"--ramp: found {self.ramp:g}; allowed: from 0 to less than the {self.seconds:g} "
                "seconds of a rate"
            )


@dataclass(frozen=True)
class Task:
    """A request that has been checked."""

    request: Request
    curve: Curve
    load: Load
    spans: list[Span]
    start: list[float]
    aim: Aim
    seed: int

    @property
    def head(self) -> dict[str, Any]:
        """Facts that decide the evaluations; a search that goes on must have the same."""
        toml = self.request.config.to_toml()
        return {
            "schema": 1,
            "version": __version__,
            "table": self.curve.digest,
            "configuration": hashlib.sha256(toml.encode()).hexdigest(),
            "fit": [[one.key, one.least, one.most] for one in self.spans],
            "use": self.aim.rates,
            "saturation": self.aim.saturation,
            "seconds": self.request.seconds,
            "ramp": self.request.ramp,
            "budget": self.request.budget,
        }


def prepare(request: Request) -> Task:
    """Check a request before the first simulation.

    Raises
    ------
    InputError
        If the input is at fault.
    """
    curve = sources.read(request.table)
    tables = configuration.resolved(request.config)
    load = Load(tables["workload"], request.seconds, request.ramp)
    _check(curve, load)
    spans = span.spans(request.config, request.fit)
    aim = Aim(curve, _rates(curve, request.use), request.saturation)
    start = [one.start(tables) for one in spans]
    return Task(request, curve, load, spans, start, aim, tables["seed"])


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
    total = request.budget * len(task.aim.simulated) + len(curve.rates)
    with (
        Kept(directory, task.head) as kept,
        TemporaryDirectory(prefix="copyback-calibrate-") as name,
        counting_display("Simulations", total, quiet=request.quiet) as show,
        ThreadPoolExecutor(request.jobs or cores()) as pool,
    ):
        done = count(1)
        trial = Trial(task, kept, Path(name), pool, lambda: show(next(done)))
        show(0)
        search = Search(task.spans, trial.evaluate, task.aim, task.seed)
        evaluations = search.run(task.start, request.budget)
        best = known.best_of(evaluations)
        if best.found is None:
            raise InputError(best.fault)
        settings = trial.settings(best.values)
        numbers = trial.curve(settings)
        return LoadCalibration(
            config=trial.bench.config(settings, curve.rates[0].offered),
            curve=curve,
            aim=task.aim,
            seconds=request.seconds,
            evaluations=evaluations,
            fitted=known.fitted(task.spans, task.start, evaluations, task.aim),
            numbers=numbers,
            cells=judge.cells(curve, task.aim, numbers),
        )


class Trial:
    """Simulations of a task.

    Parameters
    ----------
    kept
        Evaluations that are known and those that end.
    folder
        Where prepared drives are kept.
    pool
        Where simulations run; they release the GIL.
    on_done
        Called after each simulation.
    """

    def __init__(
        self,
        task: Task,
        kept: Kept,
        folder: Path,
        pool: ThreadPoolExecutor,
        on_done: Callable[[], None],
    ) -> None:
        self._task = task
        self._kept = kept
        self._pool = pool
        self._on_done = on_done
        self.bench = Bench(task.request.config, task.load, Folder(folder))

    def settings(self, values: Sequence[float]) -> list[tuple[str, str]]:
        """Return the settings that give the keys these values."""
        return [one.setting(value) for one, value in zip(self._task.spans, values, strict=True)]

    def curve(self, settings: Sequence[tuple[str, str]]) -> dict[float, dict[str, float]]:
        """Return the simulated numbers at each rate of the table."""
        rates = [rate.offered for rate in self._task.curve.rates]
        found = self._pool.map(lambda offered: self._simulate(settings, offered), rates)
        return dict(zip(rates, found, strict=True))

    def evaluate(self, points: Sequence[tuple[float, ...]]) -> list[Evaluation]:
        """Return the evaluations of points, in their order; those that are kept are not redone."""
        rates = self._task.aim.simulated
        new = [point for point in points if point not in self._kept.known]
        results = self._pool.map(lambda pair: self._attempt(*pair), product(new, rates))
        for point in new:
            self._kept.add(self._evaluation(point, rates, results))
        return [self._kept.known[point] for point in points]

    def _evaluation(
        self,
        point: tuple[float, ...],
        rates: Sequence[float],
        results: Iterator[dict[str, float] | str],
    ) -> Evaluation:
        """Return the evaluation of a point from the next results."""
        found: dict[float, dict[str, float]] = {}
        fault = ""
        for offered in rates:
            result = next(results)
            if isinstance(result, str):
                fault = fault or result
            else:
                found[offered] = result
        whole = None if fault else found
        return Evaluation(point, self._task.aim.loss(whole), whole, fault)

    def _attempt(self, point: tuple[float, ...], offered: float) -> dict[str, float] | str:
        """Return what a run gives, or why there is none with these values."""
        try:
            return self._simulate(self.settings(point), offered)
        except (InputError, SimulationError) as fault:
            return str(fault)

    def _simulate(self, settings: Sequence[tuple[str, str]], offered: float) -> dict[str, float]:
        numbers = self.bench.simulate(settings, offered)
        self._on_done()
        return numbers


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
