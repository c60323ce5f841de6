"""The raw size of a drive under a scheme: that which gives its steady rate under uniform writes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.calibration.writes import twin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from copyback.calibration.writes.judge import Timing
    from copyback.calibration.writes.table import Row
    from copyback.calibration.writes.twin import Ageing

#: Blocks that a placement may have open at once.
OPEN = 16

#: Raw sizes that are looked at, in multiples of what is used.
LEAST, MOST = twin.BLOCKS / (twin.BLOCKS - twin.FREE_BLOCKS - OPEN), 3.0

#: How exactly the raw size is found.
EXACT = 5e-4


class Bound(StrEnum):
    """End of the raw sizes that are looked at, if none of them gives the steady rate."""

    LEAST = "or less"
    MOST = "or more"


@dataclass(frozen=True)
class Raw:
    """Raw size that was fitted; at a bound, the rate is not that of the drive."""

    gib: float
    bound: Bound | None = None


def fitted_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose steady rate is fitted: uniform writes to the most that is used.

    Raises
    ------
    InputError
        If there are none.
    """
    uniform = [row for row in rows if row.is_uniform and "steady" in row.cells]
    if not uniform:
        raise InputError(
            f"{rows[0].drive}: found no steady rate of uniform writes "
            "to a drive filled in order; allowed: one or more"
        )
    most = max(row.gib for row in uniform)
    return [row for row in uniform if row.gib == most]


def fit(rows: Sequence[Row], timing: Timing, age: Callable[[Row, float], Ageing]) -> Raw:
    """Return the raw size.

    Parameters
    ----------
    rows
        What is fitted.
    age
        Simulates a row on a drive of a raw size.
    """
    from scipy.optimize import brentq

    rate = sum(row.cells["steady"] for row in rows) / len(rows)
    wanted = timing.write_amplification(rate)

    def excess(times: float) -> float:
        return age(rows[0], times * rows[0].gib).late() - wanted

    if excess(LEAST) <= 0.0:
        return Raw(LEAST * rows[0].gib, Bound.LEAST)
    if excess(MOST) >= 0.0:
        return Raw(MOST * rows[0].gib, Bound.MOST)
    return Raw(float(brentq(excess, LEAST, MOST, xtol=EXACT)) * rows[0].gib)
