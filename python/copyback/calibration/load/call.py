"""Fit to a load curve from Python: :func:`calibrate_load`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback.calibration.load import result
from copyback.calibration.load.result import LoadCalibration
from copyback.calibration.load.study import SECONDS, Request, prepare, study
from copyback.calibration.search.question import BUDGET
from copyback.inputs import configuration
from copyback.inputs.arguments import CONFIG, COUNT, KEYS, NUMBER, PATH, SWITCH, TEXT, WHOLE, check
from copyback.sweep.where import Where

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

__all__ = ["LoadCalibration", "calibrate_load"]


def calibrate_load(
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    curve: str | os.PathLike[str],
    preset: str | None = None,
    fit: Mapping[str, str] | None = None,
    use: Sequence[float] = (),
    saturation: float | None = None,
    seconds: float = SECONDS,
    ramp: float | None = None,
    budget: int = BUDGET,
    out: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    progress: bool = False,
    **overrides: Any,
) -> LoadCalibration:
    """Fit keys of a configuration to a load curve, and predict the rates that are not fitted.

    Parameters
    ----------
    config
        A TOML file, or a dictionary of the same shape: the drive, with values to start from, and
        the workload.
    curve
        Latencies at offered rates: a table (CSV), fio's JSON, or a folder of fio's logs.
    preset
        Name of a preset, in place of a file or as the base of a dictionary.
    fit
        Keys to fit with their ranges, such as ``{"ssd.timing.read": "20us..80us"}``; the usual ones
        if empty.
    use
        Offered rates that are fitted; the lowest and one at half load if empty.
    saturation
        Writes a second of the data sheet, which the highest rate is fitted to.
    seconds
        Simulated time of a rate.
    ramp
        Seconds before anything is measured; until 2% of the drive are written if None.
    budget
        Evaluations of the fit.
    out
        A new or empty directory, or one of an earlier call, for what ``copyback calibrate --out``
        leaves. A search that was stopped there goes on.
    seed
        Seed of the simulation and of the search.
    jobs
        Simulations at once; else one a core.
    dask
        Address of a Dask scheduler, such as ``tcp://host:8786``, whose workers simulate.
    progress
        Show a progress bar on standard error.
    **overrides
        Configuration keys with double underscores for dots.

    Returns
    -------
    LoadCalibration

    Raises
    ------
    InputError
        If the input is at fault.
    SimulationError
        If the machine or the simulator is.
    """
    check(
        "calibrate_load",
        config=(config, CONFIG),
        curve=(curve, PATH),
        preset=(preset, TEXT.or_none()),
        fit=(fit, KEYS.or_none()),
        saturation=(saturation, NUMBER.or_none()),
        seconds=(seconds, NUMBER),
        ramp=(ramp, NUMBER.or_none()),
        budget=(budget, COUNT),
        out=(out, PATH.or_none()),
        seed=(seed, WHOLE.or_none()),
        jobs=(jobs, COUNT.or_none()),
        dask=(dask, TEXT.or_none()),
        progress=(progress, SWITCH),
    )
    settings = configuration.seeded(configuration.keyword_settings(overrides), seed)
    request = Request(
        config=configuration.load(config, preset=preset, settings=settings),
        table=Path(curve),
        fit=tuple(f"{key}={ends}" for key, ends in (fit or {}).items()),
        use=tuple(use),
        saturation=saturation,
        seconds=seconds,
        ramp=ramp,
        budget=budget,
        where=Where(jobs, dask),
        quiet=not progress,
    )
    return calibrated(request, None if out is None else Path(out))


def calibrated(request: Request, out: Path | None) -> LoadCalibration:
    """Do a request, and leave its files in a directory if there is one.

    Raises
    ------
    InputError
        If the input is at fault, or the directory holds anything else.
    """
    task = prepare(request)
    if out is not None:
        result.check(out)
    found = study(task, out)
    if out is not None:
        result.write(found, out)
    return found
