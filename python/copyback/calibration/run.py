"""The whole of a calibration: read, fit every variant of the device, judge the best one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from copyback._core import InputError
from copyback.calibration import fit as fitting
from copyback.calibration import measured
from copyback.calibration.certainty import certainties
from copyback.calibration.models import Model, Task, best, laid_over
from copyback.calibration.parameters import Parameter, chosen, starts
from copyback.calibration.replay import Replay
from copyback.calibration.result import Calibration, Fitted, Variant
from copyback.calibration.rules import with_predictions
from copyback.inputs import configuration
from copyback.process import cores
from copyback.sweep.axes import LOAD, TRACE, WORKLOAD, Axis, Point, layers_of
from copyback.sweep.design import Design
from copyback.sweep.plan import text_of
from copyback.words.console import counting_display

if TYPE_CHECKING:
    from copyback._core import Config
    from copyback.calibration.fit import Fit
    from copyback.calibration.measured import MeasuredTrace, Source, Times


@dataclass(frozen=True)
class Request:
    """Request for a calibration.

    Attributes
    ----------
    trace
        What is fitted; the configuration's trace if None.
    keys
        Keys to fit; the usual ones if empty.
    axes
        What of the device varies beside them.
    held_out
        Share of the requests that are not fitted.
    tests
        Further traces of the same device.
    jobs
        Simulations at once; one a core if None.
    """

    source: Source
    trace: Path | None
    times: Times
    keys: tuple[str, ...]
    axes: tuple[Axis, ...]
    held_out: float
    tests: tuple[Path, ...]
    jobs: int | None
    quiet: bool

    def __post_init__(self) -> None:
        if not 0.0 < self.held_out < 1.0:
            raise InputError(
                f"--held-out: found {self.held_out:g}; a share between 0 and 1 is needed"
            )
        for axis in self.axes:
            if axis.key.split(".")[0] in (LOAD, TRACE, WORKLOAD):
                raise InputError(
                    f"--over {axis.key}: every variant is fitted to the same trace; allowed: keys "
                    "of the device, and --test FILE for further traces"
                )


@dataclass(frozen=True)
class _Device:
    """A variant of the device that is to be fitted."""

    point: Point
    config: Config
    seed: int
    parameters: list[Parameter]
    start: list[float]

    def described(self, fit: Fit) -> list[Fitted]:
        """Return the fitted parameters and what is known of them."""
        known = certainties(fit, self.parameters, self.seed)
        rows = zip(self.parameters, self.start, fit.values.tolist(), known, strict=True)
        return [Fitted(*row) for row in rows]


def run(request: Request) -> Calibration:
    """Calibrate.

    Raises
    ------
    InputError
        If the input is at fault.
    """
    with TemporaryDirectory(prefix="copyback-calibrate-") as name:
        directory = Path(name)
        trace = measured.read(request.trace, request.source, request.times, directory)
        cut_ns = trace.cut(request.held_out)
        devices = _devices(request, trace.config)
        tests = _tests(request, directory)
        part = trace.before(cut_ns, directory)
        most = sum(fitting.most_simulations(len(device.parameters)) for device in devices)
        with (
            counting_display("Calibration, at most", most, quiet=request.quiet) as tell,
            ThreadPoolExecutor(request.jobs or cores()) as pool,
        ):
            done = count(1)
            tell(0)
            fits = []
            for device in devices:
                task = Task(
                    device.config,
                    request.times,
                    device.parameters,
                    part,
                    trace.frame.filter(pl.col("arrival_ns") < cut_ns),
                    directory,
                    pool,
                    lambda: tell(next(done)),
                )
                fits.append((device, task.models(np.log(device.start), device.seed)))
        device, models = min(fits, key=lambda found: best(found[1]).score)
        model = best(models)
        config = laid_over(device.config, model.all_settings)
        traces = [trace, *tests]
        return Calibration(
            config=config,
            trace=trace.name,
            times=request.times,
            cut_ns=cut_ns,
            unmeasured=trace.frame.height - trace.measured,
            variants=[Variant(one.point, best(found).score) for one, found in fits],
            point=device.point,
            models=[(one.name, one.score) for one in models],
            model=model.name,
            delays=model.delays,
            fitted=device.described(model.fit),
            predictions=_predictions(
                Replay(device.config, request.times, directory), model, traces, cut_ns
            ),
            notes=[note for one in traces for note in one.notes],
        )


def _devices(request: Request, config: Config) -> list[_Device]:
    """Return the variants of the device, all of their faults found before the first simulation."""
    devices = []
    faults = []
    for point in Design(grid=request.axes).points():
        try:
            own = [pair for layer in layers_of(point, {}) for pair in layer.settings]
            laid = laid_over(config, own)
            resolved = configuration.resolved(laid)
            parameters = chosen(resolved, request.keys)
            start = starts(resolved, parameters)
        except InputError as fault:
            prefix = f"{text_of(point)}: " if point else ""
            faults += [f"{prefix}{line}" for line in str(fault).splitlines()]
            continue
        devices.append(_Device(point, laid, resolved["seed"], parameters, start))
    if faults:
        raise InputError("\n".join(faults))
    return devices


def _tests(request: Request, directory: Path) -> list[MeasuredTrace]:
    found = []
    for place, path in enumerate(request.tests):
        own = directory / f"test-{place}"
        own.mkdir()
        found.append(measured.read(path, request.source, request.times, own))
    return found


def _predictions(
    replay: Replay, model: Model, traces: list[MeasuredTrace], cut_ns: int
) -> pl.DataFrame:
    """Return the requests of all traces with what the simulation and the rules say of them."""
    frames = []
    for place, trace in enumerate(traces):
        rows = replay.simulate(trace.path, model.all_settings)
        undelayed = replay.simulate(trace.path, model.settings) if model.delays else rows
        later = pl.lit("test") if place else pl.lit("held out")
        is_fitted = (pl.col("arrival_ns") < cut_ns) & pl.lit(place == 0)
        part = pl.when(is_fitted).then(pl.lit("fitted")).otherwise(later)
        frames.append(
            rows.with_columns(
                trace=pl.lit(Path(trace.name).name),
                part=part,
                undelayed_us=undelayed["simulated_us"],
            )
        )
    rows = pl.concat(frames)
    return with_predictions(rows, rows["part"] == "fitted")
