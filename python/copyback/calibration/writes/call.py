"""Fit to rates of writes from Python: :func:`calibrate_writes`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback.calibration.writes import result, schemes, table
from copyback.calibration.writes.study import MOVE_COST, WritesCalibration, study
from copyback.inputs import configuration
from copyback.inputs.arguments import COUNT, NUMBER, PATH, SWITCH, WHOLE, check

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

__all__ = ["WritesCalibration", "calibrate_writes"]


def calibrate_writes(
    rates: str | os.PathLike[str],
    *,
    every_scheme: bool = False,
    move_cost: float = MOVE_COST,
    out: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    progress: bool = False,
    **overrides: Any,
) -> WritesCalibration:
    """Fit spare to how fast drives write as they age, and say which schemes they cannot have.

    Parameters
    ----------
    rates
        Table of rates of writes, a CSV file.
    every_scheme
        Try each victim with each placement; else greedy victims, and moves in blocks of their own.
    move_cost
        Time of a page that is moved over that of one that the host writes.
    out
        A new or empty directory for what ``copyback calibrate --writes --out`` leaves.
    seed
        Seed of the simulation.
    jobs
        Simulations at once; else one a core.
    progress
        Show a progress bar on standard error.
    **overrides
        Configuration keys with double underscores for dots.

    Returns
    -------
    WritesCalibration

    Raises
    ------
    InputError
        If the input is at fault.
    SimulationError
        If the machine or the simulator is.
    """
    check(
        "calibrate_writes",
        rates=(rates, PATH),
        every_scheme=(every_scheme, SWITCH),
        move_cost=(move_cost, NUMBER),
        out=(out, PATH.or_none()),
        seed=(seed, WHOLE.or_none()),
        jobs=(jobs, COUNT.or_none()),
        progress=(progress, SWITCH),
    )
    settings = configuration.seeded(configuration.keyword_settings(overrides), seed)
    return calibrated(
        Path(rates),
        every=every_scheme,
        move_cost=move_cost,
        settings=settings,
        jobs=jobs,
        out=None if out is None else Path(out),
        quiet=not progress,
    )


def calibrated(
    rates: Path,
    *,
    every: bool,
    move_cost: float,
    settings: Sequence[tuple[str, str]],
    jobs: int | None,
    out: Path | None,
    quiet: bool,
) -> WritesCalibration:
    """Fit spare to a table under one scheme or every one, and leave files if there is a directory.

    Raises
    ------
    InputError
        If the input is at fault, or the directory holds anything else.
    """
    rows = table.read(rates)
    with contextlib.ExitStack() as stack:
        staged = None
        if out is not None:
            staged = stack.enter_context(result.staging(out, table.drives(rows)))
        found = study(
            rows,
            schemes.every() if every else [schemes.usual()],
            move_cost=move_cost,
            overrides=settings,
            jobs=jobs,
            quiet=quiet,
        )
        if staged is not None:
            result.write(found, staged.path)
            staged.publish()
    return found
