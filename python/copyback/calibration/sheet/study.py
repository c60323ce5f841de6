"""The whole of a fit to a data sheet: read, search, predict, judge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from copyback._core import Config, InputError
from copyback.calibration.search import known, span
from copyback.calibration.search.aim import Aim, Target, UnmeasuredError
from copyback.calibration.search.effects import AFTER
from copyback.calibration.search.question import BUDGET, Question, check_budget, question
from copyback.calibration.search.trial import trial
from copyback.calibration.sheet import table
from copyback.calibration.sheet.judge import Cell
from copyback.calibration.sheet.loads import TOO_FAST, Drive, SheetLoads
from copyback.calibration.sheet.result import SheetCalibration
from copyback.sweep.where import Where
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from copyback.calibration.search.aim import Numbers
    from copyback.calibration.search.kept import Evaluation
    from copyback.calibration.search.trial import Trial
    from copyback.calibration.sheet.table import Row, Sheet


@dataclass(frozen=True)
class Request:
    """Request for a fit to a data sheet.

    Attributes
    ----------
    config
        The drive, with values to start from.
    sheet
        File with the data sheet.
    fit
        ``KEY`` or ``KEY=LOW..HIGH``; the usual keys if empty.
    use
        Rows that are fitted; all if empty.
    budget
        Evaluations of the search.
    where
        Where simulations run.
    """

    config: Config
    sheet: Path
    fit: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    budget: int = BUDGET
    where: Where = field(default_factory=Where)
    quiet: bool = False

    def __post_init__(self) -> None:
        check_budget(self.budget)


@dataclass(frozen=True)
class Task:
    """A request that has been checked."""

    request: Request
    sheet: Sheet
    loads: SheetLoads
    used: list[Row]
    question: Question


def prepare(request: Request) -> Task:
    """Check a request before the first simulation.

    Raises
    ------
    InputError
        If the input is at fault.
    """
    sheet = table.read(request.sheet)
    spans = span.spans(request.config, request.fit)
    loads = SheetLoads(sheet, Drive.of(request.config))
    for row in sheet.rows:
        _check(request.config, loads, row, sheet)
    used = _used(sheet, request.use)
    numbers = [(row, loads.number(row)) for row in used]
    targets = [Target(row.name, loads.metric(row), own, own) for row, own in numbers]
    asked = question(
        request.config,
        spans,
        Aim(targets, [row.name for row in used]),
        {"sheet": sheet.digest, "use": sorted(row.name for row in used)},
        place=str,
        budget=request.budget,
        where=request.where,
        quiet=request.quiet,
    )
    return Task(request, sheet, loads, used, asked)


def study(task: Task, directory: Path | None) -> SheetCalibration:
    """Fit a drive to a data sheet, and judge it at all rows.

    Parameters
    ----------
    directory
        Where evaluations are kept, and gone on with; nowhere if None.

    Raises
    ------
    InputError
        If no values that were tried can be simulated, or the directory holds another search.
    """
    asked, config = task.question, task.request.config
    rows = [row.name for row in task.sheet.rows]
    simulations = (asked.budget + AFTER * len(asked.spans)) * len(task.used) + len(rows)
    with trial(asked, config, task.loads, directory, simulations) as tried:
        effects, evaluations = tried.effects(_searched(tried, task.sheet))
        settings = tried.settings(known.best_of(evaluations).values)
        numbers = tried.numbers(settings, rows)
    toml = config.to_toml()
    return SheetCalibration(
        config=Config.load(toml=toml, name="the resolved configuration", settings=settings),
        sheet=task.sheet,
        evaluations=evaluations,
        fitted=known.fitted(asked.spans, asked.start, evaluations, asked.aim, effects),
        cells=_cells(task, numbers),
    )


def _searched(tried: Trial, sheet: Sheet) -> list[Evaluation]:
    """Return all evaluations of the search."""
    try:
        return tried.search()
    except UnmeasuredError as fault:
        row = sheet.at(fault.place)
        raise InputError(
            f"{sheet.name}: {row.name}: found {row.text}; the drive of the configuration is "
            f"over {TOO_FAST} times as fast; allowed: a figure nearer to it"
        ) from None


def _cells(task: Task, numbers: Mapping[str, Numbers]) -> list[Cell]:
    """Return each figure of the sheet beside the simulated one."""
    loads = task.loads
    found = [(row, numbers[row.name].get(loads.metric(row))) for row in task.sheet.rows]
    return [
        Cell(
            row=row,
            iodepth=loads.iodepth(row),
            state=loads.state(row).value,
            simulated=None if number is None else loads.value(row, number),
            is_fitted=row in task.used,
        )
        for row, number in found
    ]


def _used(sheet: Sheet, use: Sequence[str]) -> list[Row]:
    """Return the rows that are fitted."""
    names = [row.name for row in sheet.rows]
    for name in use:
        if name not in names:
            allowed = ", ".join(names)
            raise InputError(f"--use: found {name}; allowed: a row of the sheet: {allowed}")
    return [row for row in sheet.rows if not use or row.name in use]


def _check(config: Config, loads: SheetLoads, row: Row, sheet: Sheet) -> None:
    """Refuse a row whose load the drive cannot be put under."""
    if row.request_size > config.capacity_bytes:
        place = f"{sheet.name}: {row.name}.request_size"
        found, most = units.size(row.request_size), units.size(config.capacity_bytes)
        raise InputError(f"{place}: found {found}; allowed: up to {most}, the drive")
    toml, settings = config.to_toml(), loads.setting(row.name)
    try:
        Config.load(toml=toml, name="the resolved configuration", settings=settings)
    except InputError as fault:
        first = str(fault).partition("\n")[0]
        raise InputError(f"{sheet.name}: {row.name}: {first}") from None
