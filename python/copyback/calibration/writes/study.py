"""Schemes that may be inside drives, by how fast they write as they age."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback import __version__
from copyback.calibration.writes import judge, spare, table, twin
from copyback.calibration.writes.judge import Cell, Timing
from copyback.process import cores
from copyback.words.console import counting_display

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from copyback.calibration.writes.schemes import Scheme
    from copyback.calibration.writes.spare import Raw
    from copyback.calibration.writes.table import Row

#: Time of a moved page over that of a written one, of a Micron 7450 MAX: the median over five used
#: sizes of (empty rate / steady rate - 1) / (its own write amplification - 1), from SSD-iq's
#: ``finalop02b`` and the log of the drive.
MOVE_COST = 1.42

#: Quantile of the rates at the beginning that is the rate of the empty drive.
EMPTY = 0.75


@dataclass(frozen=True)
class Found:
    """A scheme on a drive.

    Attributes
    ----------
    raw
        Raw size that was fitted.
    rows
        The cells of each row that was simulated.
    """

    scheme: Scheme
    raw: Raw
    rows: list[list[Cell]]

    @property
    def cells(self) -> list[Cell]:
        """The cells of all rows."""
        return [cell for cells in self.rows for cell in cells]

    @property
    def judged(self) -> list[list[Cell]]:
        """The cells of each row that were not fitted, of rows that have some."""
        rows = [[cell for cell in cells if not cell.is_fitted] for cells in self.rows]
        return [cells for cells in rows if cells]

    @property
    def right(self) -> int:
        """Rows of which all judged cells are right."""
        return sum(all(cell.is_right for cell in cells) for cells in self.judged)

    @property
    def error(self) -> float | None:
        """Mean error of the logarithm of a judged rate; None if none is judged."""
        logs = [np.log(cell.simulated / cell.measured) for cells in self.judged for cell in cells]
        return float(np.mean(np.abs(logs))) if logs else None


@dataclass(frozen=True)
class Drive:
    """A drive under all schemes.

    Attributes
    ----------
    fitted
        The row whose steady rate was fitted.
    found
        The schemes, the best first.
    skipped
        Rows that were not simulated, with the reason.
    """

    fitted: Row
    timing: Timing
    found: list[Found]
    skipped: list[tuple[str, str]]

    @property
    def name(self) -> str:
        """Name of the drive."""
        return self.fitted.drive

    def excluded_by(self, one: Found) -> Cell | None:
        """Return the cell that excludes a scheme; None if it remains."""
        return judge.worst(one.cells, self.found[0].cells)


@dataclass(frozen=True)
class WritesCalibration:
    """Drives, each with all schemes."""

    drives: list[Drive]

    def to_json(self) -> str:
        """Return the result as JSON."""
        drives = [_stored(drive) for drive in self.drives]
        return json.dumps({"schema": 1, "version": __version__, "drives": drives}, indent=1) + "\n"


def study(
    rows: Sequence[Row],
    schemes: Sequence[Scheme],
    *,
    move_cost: float,
    overrides: Sequence[tuple[str, str]],
    jobs: int | None,
    quiet: bool,
) -> WritesCalibration:
    """Fit the spare of each drive of a table under each scheme, and judge all its rows.

    Parameters
    ----------
    move_cost
        Time of a moved page over that of one that the host writes.
    overrides
        Dotted keys and TOML values of the small drive that is simulated.
    jobs
        Simulations at once; one a core if None.

    Raises
    ------
    InputError
        If a drive of the table cannot be fitted.
    """
    drives = {name: [row for row in rows if row.drive == name] for name in table.drives(rows)}
    twin.refuse_decided(overrides)
    for own in drives.values():
        fitted = spare.fitted_rows(own)[0]
        for scheme in schemes:
            twin.check(fitted, spare.LEAST * fitted.gib, scheme, overrides)
    total = len(drives) * len(schemes)
    with (
        counting_display("Schemes", total, quiet=quiet) as tell,
        ThreadPoolExecutor(jobs or cores()) as pool,
    ):
        done = count(1)
        tell(0)

        def one(name: str, scheme: Scheme) -> Found:
            found = _found(drives[name], scheme, move_cost, overrides)
            tell(next(done))
            return found

        asked = {name: [pool.submit(one, name, scheme) for scheme in schemes] for name in drives}
        return WritesCalibration(
            [
                _drive(drives[name], move_cost, [one.result() for one in found])
                for name, found in asked.items()
            ]
        )


def _drive(rows: list[Row], move_cost: float, found: list[Found]) -> Drive:
    best_first = sorted(found, key=lambda one: (-one.right, one.error or 0.0))
    skipped = [(row.name, row.reason) for row in rows if row.address is None]
    return Drive(spare.fitted_rows(rows)[0], _timing(rows, move_cost), best_first, skipped)


def _timing(rows: Sequence[Row], move_cost: float) -> Timing:
    # Some runs are bound by the host as long as the drive is empty.
    return Timing(float(np.quantile([row.first for row in rows], EMPTY)), move_cost)


def _found(
    rows: list[Row], scheme: Scheme, move_cost: float, overrides: Sequence[tuple[str, str]]
) -> Found:
    timing = _timing(rows, move_cost)
    age = partial(twin.age, scheme=scheme, overrides=overrides)
    fitted = spare.fitted_rows(rows)
    raw = spare.fit(fitted, timing, age)
    apart = judge.spreads(rows)
    aged = _aged(rows, lambda row: age(row, raw.gib))
    found = [
        judge.cells(row, ageing, timing, apart, is_fitted=row in fitted and raw.bound is None)
        for row, ageing in aged
    ]
    return Found(scheme, raw, found)


def _aged(rows: Sequence[Row], age: Callable[[Row], twin.Ageing]) -> list[tuple[Row, twin.Ageing]]:
    """Simulate each load once: specimens and repetitions share it if they were as long."""
    known: dict[tuple[str, float], twin.Ageing] = {}
    for row in rows:
        key = (row.name, row.capacities)
        if row.address is not None and key not in known:
            known[key] = age(row)
    return [(row, known[row.name, row.capacities]) for row in rows if row.address is not None]


def _stored(drive: Drive) -> dict[str, Any]:
    return {
        "drive": drive.name,
        "used_gib": drive.fitted.gib,
        "empty_rate": drive.timing.empty,
        "move_cost": drive.timing.move_cost,
        "skipped": [{"row": row, "reason": reason} for row, reason in drive.skipped],
        "schemes": [
            {
                "scheme": one.scheme.name,
                "settings": dict(one.scheme.settings),
                "raw_gib": round(one.raw.gib, 2),
                "raw_bound": one.raw.bound,
                "rows_right": one.right,
                "rows_judged": len(one.judged),
                "error": None if one.error is None else round(one.error, 4),
                "excluded_by": None if (cell := drive.excluded_by(one)) is None else cell.to_dict(),
                "rows": [[cell.to_dict() for cell in cells] for cells in one.rows],
            }
            for one in drive.found
        ],
    }
