"""Terminal output of a fit to a data sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from copyback.calibration.search.show import PARAMETERS, parameter_row, searched, table
from copyback.calibration.sheet.judge import WITHIN
from copyback.calibration.sheet.table import MEAN
from copyback.words import units
from copyback.words.console import facts_grid

if TYPE_CHECKING:
    from rich.console import RenderableType

    from copyback.calibration.sheet.judge import Cell
    from copyback.calibration.sheet.result import SheetCalibration

#: Columns of tables after the first.
GROUPS = ["number", *(f"within {100 * share:.0f} %" for share in WITHIN)]
ROWS = ["sheet", "simulated", "off by", "load", ""]


def overview(found: SheetCalibration) -> RenderableType:
    """Return what ``copyback calibrate --sheet`` prints."""
    tables = [
        table("Parameter", PARAMETERS, map(parameter_row, found.fitted)),
        table("Row", ROWS, map(cell_row, found.cells)),
        table("Rows", GROUPS, group_rows(found)),
    ]
    pieces: list[RenderableType] = [facts_grid(facts(found))]
    for one in tables:
        pieces += [Text(""), one]
    return Group(*pieces, Text(""))


def facts(found: SheetCalibration) -> list[tuple[str, str]]:
    """Return what was fitted to what."""
    used = [cell.row.name for cell in found.cells if cell.is_fitted]
    is_whole = len(used) == len(found.cells)
    rest = "all rows; none is predicted" if is_whole else f"{', '.join(used)}"
    lines = [("Data sheet", f"{found.sheet.name}: {len(found.cells)} rows")]
    if found.sheet.source:
        lines.append(("Source", found.sheet.source))
    return [*lines, ("Fitted", rest), *searched(found.evaluations, "rows")]


def group_rows(found: SheetCalibration) -> list[list[str]]:
    """Return how many rows of each group are near."""
    return [
        [group.name, *map(units.count, (len(group.cells), *group.near))] for group in found.groups
    ]


def cell_row(cell: Cell) -> list[str]:
    """Return name, both values, error, load and use of a row."""
    shown = cell.row.figure.measure.shown
    error = units.MISSING if cell.error is None else f"{100 * cell.error:+.1f} %"
    use = "fitted" if cell.is_fitted else ""
    return [cell.row.name, shown(cell.row.published), shown(cell.simulated), error, load(cell), use]


def load(cell: Cell) -> str:
    """Return the load of a row as people read it."""
    row = cell.row
    order = "sequential" if row.figure.is_sequential else "random"
    reads = {0.0: "writes", 1.0: "reads"}.get(
        row.read_share, f"with {100 * row.read_share:.0f} % reads"
    )
    size = units.size(row.request_size)
    words = f"{order} {reads}, {size}, iodepth {cell.iodepth}, {cell.state}"
    return words if row.statistic == MEAN else f"{words}, {row.statistic.replace('_', '.')}"
