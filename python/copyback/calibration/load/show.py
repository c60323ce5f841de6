"""Terminal output of a fit to a load curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from copyback.calibration.load.judge import Region
from copyback.calibration.search.bench import SERVED, WRITTEN
from copyback.calibration.search.show import PARAMETERS, parameter_row, searched, table
from copyback.words import units
from copyback.words.console import facts_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from copyback.calibration.load.judge import Cell
    from copyback.calibration.load.result import LoadCalibration


#: Most statistics of an operation in a terminal; of more these.
MOST, FEW = 4, ("p50", "p99", "p99_9")


def overview(found: LoadCalibration) -> RenderableType:
    """Return what ``copyback calibrate --load`` prints."""
    tables = [
        table("Parameter", PARAMETERS, map(parameter_row, found.fitted)),
        table("Cells", GROUPS, group_rows(found)),
        *(
            table(name, cell_columns(own), cell_rows(own))
            for name, cells in by_operation(found)
            for own in (_fitting(cells),)
        ),
    ]
    pieces: list[RenderableType] = [facts_grid(facts(found)), Text("")]
    for one in tables:
        pieces += [one, Text("")]
    return Group(*pieces, Text(HINT))


#: Columns of tables after the first.
GROUPS = ["number", "within tolerance", "within 30 %"]

#: Meaning of the marks of cells.
HINT = "Simulated / measured. * fitted; ! beyond its tolerance."


def facts(found: LoadCalibration) -> list[tuple[str, str]]:
    """Return what was fitted to what."""
    used = ", ".join(units.count(rate) for rate in found.aim.rates)
    lines = [
        ("Load curve", f"{found.curve.name}: {len(found.curve.rates)} rates"),
        ("Fitted", f"{used} requests a second; the others are predicted"),
        *searched(found.evaluations, "cells"),
    ]
    if found.aim.saturation is not None:
        highest = found.curve.rates[-1].offered
        simulated = found.numbers[highest][WRITTEN]
        pair = f"{units.count(simulated)} for {units.count(found.aim.saturation)}"
        lines.insert(2, ("Saturation", f"{pair} writes a second, given and fitted"))
    return lines


def group_rows(found: LoadCalibration) -> list[list[str]]:
    """Return how many cells of each group are right."""
    return [
        [group.name, *map(units.count, (len(group.cells), group.right, group.near))]
        for group in found.groups
    ]


def by_operation(found: LoadCalibration) -> list[tuple[str, list[Cell]]]:
    """Return the cells of reads, of writes and of all, each with what heads the rates."""
    groups: dict[str, list[Cell]] = {}
    for cell in found.cells:
        operation = cell.metric.partition("_")[0] if cell.metric != SERVED else ""
        name = f"{operation.capitalize()}s at a rate" if operation else "All requests"
        groups.setdefault(name, []).append(cell)
    return list(groups.items())


def cell_columns(cells: Sequence[Cell]) -> list[str]:
    """Return the metrics of cells as people read them."""
    return [named(metric) for metric in metrics(cells)]


def cell_rows(cells: Sequence[Cell]) -> list[list[str]]:
    """Return a row for each rate, with the cells of every metric."""
    columns = metrics(cells)
    rows: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        rows.setdefault(where(cell), {})[cell.metric] = cell
    return [
        [name, *(pair(own[metric]) if metric in own else "" for metric in columns)]
        for name, own in rows.items()
    ]


def named(metric: str) -> str:
    """Return a metric as people read it.

    >>> named("write_p99_9"), named("per_s")
    ('write p99.9', 'requests a second')
    """
    if metric == SERVED:
        return "requests a second"
    return metric.replace("_", " ", 1).replace("_", ".")


def metrics(cells: Sequence[Cell]) -> list[str]:
    """Return the metrics of cells, in order."""
    return list(dict.fromkeys(cell.metric for cell in cells))


def where(cell: Cell) -> str:
    """Return the rates of a cell."""
    if cell.region is not Region.BEYOND:
        return units.count(cell.rates[0])
    return cell.region.value


def pair(cell: Cell) -> str:
    """Return the simulated and the measured value of a cell, with its marks."""
    marks = "*" * cell.is_fitted + "!" * (not cell.is_right)
    return f"{_value(cell, cell.simulated)} / {_value(cell, cell.measured)} {marks}".rstrip()


def _value(cell: Cell, value: float | None) -> str:
    return units.count(value) if cell.metric == SERVED else units.time_us(value)


def _fitting(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that a terminal has room for: of many statistics a few; pages have all."""
    if len(metrics(cells)) <= MOST:
        return list(cells)
    return [cell for cell in cells if cell.metric.partition("_")[2] in FEW]
