"""Terminal output of a study of schemes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from copyback.words import units
from copyback.words.console import facts_grid, numbers_table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from copyback.calibration.writes.judge import Cell
    from copyback.calibration.writes.study import Drive, Found, WritesCalibration


#: Schemes that remain beside the best and are named; of more the number is told.
NAMED = 4


def overview(found: WritesCalibration) -> RenderableType:
    """Return what ``copyback calibrate --writes`` prints."""
    pieces: list[RenderableType] = []
    for drive in found.drives:
        pieces += [
            facts_grid(_facts(drive)),
            Text(""),
            _schemes(drive),
            Text(""),
            _rates(drive.found[0]),
            Text(""),
        ]
    return Group(*pieces[:-1])


def _facts(drive: Drive) -> list[tuple[str, str]]:
    best = drive.found[0]
    size = f"{_raw(best)} raw for {drive.fitted.gib:g} GiB used"
    lines = [
        ("Drive", drive.name),
        ("Best", f"{best.scheme.name}: {best.right} of {len(best.judged)} rows, {size}"),
    ]
    if len(drive.found) > 1:
        excluded = [one for one in drive.found[1:] if drive.excluded_by(one)]
        remain = [one.scheme.name for one in drive.found[1:] if not drive.excluded_by(one)]
        told = "; ".join(remain) if len(remain) <= NAMED else f"{len(remain)} others"
        lines.append(("Remain", told or "none beside it"))
        lines.append(("Excluded", f"{len(excluded)} of {len(drive.found)} schemes"))
    reasons = dict.fromkeys(reason for _, reason in drive.skipped)
    for reason in reasons:
        rows = sum(reason == other for _, other in drive.skipped)
        lines.append(("Skipped", f"{units.count(rows)} row{'s' * (rows != 1)}: {reason}"))
    return lines


def _schemes(drive: Drive) -> Table:
    table = numbers_table("Scheme", ["raw", "rows right", "typical error", "excluded by"])
    for one in drive.found:
        cell = drive.excluded_by(one)
        table.add_row(
            one.scheme.name,
            _raw(one),
            f"{one.right} of {len(one.judged)}",
            units.MISSING if one.error is None else units.share(one.error),
            "" if cell is None else told(cell),
        )
    return table


def _raw(one: Found) -> str:
    size = f"{one.raw.gib:,.0f} GiB"
    return size if one.raw.bound is None else f"{size} {one.raw.bound}"


def told(cell: Cell) -> str:
    """Return a cell in a few words: where, the simulated rate and the measured one."""
    return (
        f"{cell.row.partition(',')[0]} {cell.column}: {_k(cell.simulated)} for {_k(cell.measured)}"
    )


def _rates(best: Found) -> Table:
    columns = list(dict.fromkeys(cell.column for cell in best.cells))
    table = numbers_table("Writes a second, simulated / measured", columns)
    for row in best.rows:
        cells = {cell.column: cell for cell in row}
        table.add_row(row[0].row, *(_pair(cells.get(column)) for column in columns))
    return table


def _pair(cell: Cell | None) -> str:
    if cell is None:
        return ""
    mark = " fitted" if cell.is_fitted else "" if cell.is_right else " !"
    return f"{_k(cell.simulated)} / {_k(cell.measured)}{mark}"


def _k(rate: float) -> str:
    return f"{rate / 1000:,.0f} k"
