"""Tables of how fast a drive writes while it ages: one row a load."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.calibration.writes.pattern import FILLED_IN_ORDER, address_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

#: Columns that a table must have. Others are left alone.
COLUMNS = ("init", "gib", "pattern", "details", "written_capacities", "first", "steady")

#: Rates once so many times the used capacity has been written, where the run went so far.
AT = {"at1": 1.0, "at2": 2.0, "at3": 3.0}

#: How a specimen of a drive is named: ``NAME #2``.
SPECIMEN = " #"


@dataclass(frozen=True)
class Row:
    """A load on a drive that was empty, then filled.

    Attributes
    ----------
    drive
        Name of the drive, without the number of the specimen.
    name
        The load in words, for people.
    gib
        GiB that are used.
    address
        ``workload.address`` of the load; None if it cannot be simulated.
    reason
        Why it cannot be.
    capacities
        Times the used capacity that was written.
    first
        Writes a second at the beginning.
    cells
        Writes a second later, by column.
    """

    drive: str
    name: str
    gib: float
    address: dict[str, Any] | None
    reason: str
    capacities: float
    first: float
    cells: dict[str, float]

    @property
    def is_uniform(self) -> bool:
        """Whether each page is as likely as any other."""
        return self.address == {"type": "uniform"}


def read(path: Path) -> list[Row]:
    """Read a table.

    Raises
    ------
    InputError
        If the file cannot be read, or a row of it makes no sense.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise InputError(
                    f"{path}:1: found no column {missing[0]}; "
                    f"allowed: a table with {', '.join(COLUMNS)}"
                )
            rows = [_row(fields, f"{path}:{reader.line_num}") for fields in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise InputError(f"{path}: {fault}") from fault
    if not rows:
        raise InputError(f"{path}: found no row; allowed: one or more")
    return rows


def drives(rows: Iterable[Row]) -> list[str]:
    """Return the names of the drives, in order."""
    return list(dict.fromkeys(row.drive for row in rows))


def _row(fields: Mapping[str, str], place: str) -> Row:
    def number(column: str) -> float:
        text = fields[column] or ""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{place}: {column}: found {text!r}; allowed: a number above 0")
        return value

    pattern, details, init = (fields[name] or "" for name in ("pattern", "details", "init"))
    gib = number("gib")
    address = address_of(pattern, details, gib, place)
    reason = "" if address else f"no generator for {pattern}"
    if init != FILLED_IN_ORDER:
        address, reason = None, f"starts {init}"
    cells = {name: number(name) for name in (*AT, "steady") if fields.get(name)}
    return Row(
        drive=(fields.get("drive") or "the drive").split(SPECIMEN)[0],
        name=name_of(pattern, details, gib),
        gib=gib,
        address=address,
        reason=reason,
        capacities=number("written_capacities"),
        first=number("first"),
        cells=cells,
    )
