"""Whether simulated figures are those of the data sheet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from copyback.calibration.sheet.table import Row

#: How far off figures may be to be counted.
WITHIN = (0.05, 0.10, 0.30)


@dataclass(frozen=True)
class Cell:
    """Figure of a data sheet beside the simulated one, in the unit of its measure.

    Attributes
    ----------
    iodepth
        Outstanding requests that were simulated.
    state
        State of the drive that was simulated.
    simulated
        None if no request of the operation was done.
    """

    row: Row
    iodepth: int
    state: str
    simulated: float | None
    is_fitted: bool

    @property
    def error(self) -> float | None:
        """The simulated value over the published one, less one; None if there is none."""
        return None if self.simulated is None else self.simulated / self.row.published - 1.0

    def is_within(self, tolerance: float) -> bool:
        """Return whether simulated over published, or the inverse, is at most one and this."""
        if self.simulated is None or self.simulated <= 0:
            return False
        return abs(math.log(self.simulated / self.row.published)) <= math.log1p(tolerance)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``sheet.json`` has of it."""
        row = self.row
        return {
            "row": row.name,
            "unit": row.figure.measure.value,
            "published": row.published,
            "simulated": None if self.simulated is None else float(f"{self.simulated:.6g}"),
            "off_by": None if self.error is None else round(self.error, 4),
            "fitted": self.is_fitted,
            "request_size": row.request_size,
            "iodepth": self.iodepth,
            "read_share": row.read_share,
            "sequential": row.figure.is_sequential,
            "statistic": row.statistic,
            "state": self.state,
        }


@dataclass(frozen=True)
class Group:
    """Figures that are counted together."""

    name: str
    cells: list[Cell]

    @property
    def near(self) -> list[int]:
        """Number of figures within each of `WITHIN`."""
        return [sum(cell.is_within(tolerance) for cell in self.cells) for tolerance in WITHIN]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``sheet.json`` has of it."""
        within = {
            f"within_{100 * share:.0f}": n for share, n in zip(WITHIN, self.near, strict=True)
        }
        return {"rows": self.name, "count": len(self.cells), **within}


def groups(cells: list[Cell]) -> list[Group]:
    """Return the figures that were fitted, and those that were predicted."""
    both = [
        Group("fitted", [cell for cell in cells if cell.is_fitted]),
        Group("predicted", [cell for cell in cells if not cell.is_fitted]),
    ]
    return [group for group in both if group.cells]
