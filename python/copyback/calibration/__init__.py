"""Fits timing parameters to the measured times of a trace: :func:`calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback.calibration.measured import Source, Times
from copyback.calibration.result import Calibration
from copyback.calibration.run import Request, run
from copyback.inputs import configuration
from copyback.inputs.arguments import (
    CONFIG,
    COUNT,
    KEYS,
    NUMBER,
    PATH,
    PATHS,
    SWITCH,
    TEXT,
    TEXTS,
    WHOLE,
    check,
)
from copyback.sweep.design import grid_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

__all__ = ["Calibration", "calibrate"]


def calibrate(
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    preset: str | None = None,
    trace: str | os.PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the command line's --format
    lenient: bool = False,
    times: str = "response",
    fit: Sequence[str] = (),
    over: Mapping[str, Sequence[Any]] | None = None,
    held_out: float = 0.4,
    test: Sequence[str | os.PathLike[str]] = (),
    seed: int | None = None,
    jobs: int | None = None,
    progress: bool = False,
    **overrides: Any,
) -> Calibration:
    """Fit timing parameters so that simulated times match those that a trace holds.

    Parameters
    ----------
    config
        A TOML file, or a dictionary of the same shape: the device, with values to start from.
    preset
        Name of a preset, in place of a file or as the base of a dictionary.
    trace
        A trace with measured times; else the configuration's.
    format
        Format of the traces; detected if not given.
    lenient
        Skip damaged rows.
    times
        ``"response"``, from arrival to completion; or ``"service"``, from the issue to the device,
        which only traces of the format nexus5 tell.
    fit
        Keys to fit; the usual ones if empty.
    over
        For keys that cannot be fitted, such as those of the geometry: values of which every
        combination is fitted. The one with the least error on the fitted part is taken.
    held_out
        Share of the requests, the last ones, that are not fitted.
    test
        Further traces of the same device, on which the fit is judged.
    seed
        Seed of the simulation, of starting points and of the resampling.
    jobs
        Simulations at once; else one a core.
    progress
        Show a progress bar on standard error.
    **overrides
        Configuration keys with double underscores for dots.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        If the input is at fault: the message has one line a fault.
    SimulationError
        If the machine or the simulator is.
    """
    check(
        "calibrate",
        config=(config, CONFIG),
        preset=(preset, TEXT.or_none()),
        trace=(trace, PATH.or_none()),
        format=(format, TEXT.or_none()),
        lenient=(lenient, SWITCH),
        times=(times, TEXT),
        fit=(fit, TEXTS),
        over=(over, KEYS.or_none()),
        held_out=(held_out, NUMBER),
        test=(test, PATHS),
        seed=(seed, WHOLE.or_none()),
        jobs=(jobs, COUNT.or_none()),
        progress=(progress, SWITCH),
    )
    settings = configuration.keyword_settings(overrides)
    request = Request(
        source=Source(
            load=lambda laid: configuration.load(config, preset=preset, settings=laid),
            overrides=settings,
            format=format,
            lenient=lenient,
            seed=seed,
        ),
        trace=Path(trace) if trace is not None else None,
        times=Times.named(times),
        keys=tuple(fit),
        axes=grid_of(over or {}),
        held_out=held_out,
        tests=tuple(Path(one) for one in test),
        jobs=jobs,
        quiet=not progress,
    )
    return run(request)
