"""Fit to a data sheet from Python: :func:`calibrate_sheet`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback.calibration.search.question import BUDGET
from copyback.calibration.sheet import result
from copyback.calibration.sheet.result import SheetCalibration
from copyback.calibration.sheet.study import Request, prepare, study
from copyback.inputs import configuration
from copyback.inputs.arguments import CONFIG, COUNT, KEYS, PATH, SWITCH, TEXT, TEXTS, WHOLE, check
from copyback.sweep.where import Where

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

__all__ = ["SheetCalibration", "calibrate_sheet"]


def calibrate_sheet(
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    sheet: str | os.PathLike[str],
    preset: str | None = None,
    fit: Mapping[str, str] | None = None,
    use: Sequence[str] = (),
    budget: int = BUDGET,
    out: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    progress: bool = False,
    **overrides: Any,
) -> SheetCalibration:
    """Fit keys of a configuration to a data sheet, and predict the rows that are not fitted.

    Parameters
    ----------
    config
        A TOML file, or a dictionary of the same shape: the drive, with values to start from.
    sheet
        Figures of the drive (TOML).
    preset
        Name of a preset, in place of a file or as the base of a dictionary.
    fit
        Keys to fit with their ranges, such as ``{"ssd.timing.read": "20us..80us"}``; the usual ones
        if empty.
    use
        Rows that are fitted; all if empty.
    budget
        Evaluations of the search.
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
    SheetCalibration

    Raises
    ------
    InputError
        If the input is at fault.
    SimulationError
        If the machine or the simulator is.
    """
    check(
        "calibrate_sheet",
        config=(config, CONFIG),
        sheet=(sheet, PATH),
        preset=(preset, TEXT.or_none()),
        fit=(fit, KEYS.or_none()),
        use=(use, TEXTS),
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
        sheet=Path(sheet),
        fit=tuple(f"{key}={ends}" for key, ends in (fit or {}).items()),
        use=tuple(use),
        budget=budget,
        where=Where(jobs, dask),
        quiet=not progress,
    )
    return calibrated(request, None if out is None else Path(out))


def calibrated(request: Request, out: Path | None) -> SheetCalibration:
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
