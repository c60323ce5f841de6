"""Has a run left its start behind? Numbers from inside the start transient settle no claim.

A drive begins in the state that its preparation left, which is not where its own scheme would have
brought it. What a run does until then is the *start transient*. A run has left it if each plane
was collected often enough that what was once collected in advance no longer counts, and if the
write amplification no longer moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from copyback.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


#: Collections of a plane that a run needs. Parallel schemes collect about two in advance, once.
LEAST_COLLECTIONS = 20.0

#: How far the write amplification of the last quarter may be from that of the quarter before.
WITHIN = 0.02


#: What the mark of such numbers means, for pages.
MEANING = (
    "marks what rests on a run inside its start transient: a plane is collected fewer than "
    f"{LEAST_COLLECTIONS:g} times, or write amplification still moves by more than "
    f"{100 * WITHIN:g}% from a quarter of the run to the next"
)


@dataclass(frozen=True)
class Start:
    """Start transient of a run.

    Attributes
    ----------
    collections_per_plane
        None if the host wrote nothing: then there is no transient.
    settled
        The write amplification of the last quarter of what the host wrote is that of the quarter
        before.
    """

    collections_per_plane: float | None
    settled: bool

    @property
    def is_past(self) -> bool:
        """Whether the run has left its start behind."""
        if self.collections_per_plane is None:
            return True
        return self.settled and self.collections_per_plane >= LEAST_COLLECTIONS


def of_run(directory: Path) -> Start:
    """Return what a run says of its start transient."""
    run = Result.load(directory)
    if not run.series["host_programs"].sum():
        return Start(None, settled=True)
    return Start(run.summary.gc.collections / planes(run.config), is_settled(run.to_polars()))


def planes(config: Mapping[str, Any]) -> int:
    """Return how many planes all drives of a resolved configuration have.

    >>> planes({"ssd": {"geometry": {"channels": 2, "chips_per_channel": 1, "dies_per_chip": 1,
    ...     "planes_per_die": 4}}, "array": {"devices": 3}})
    24
    """
    geometry = config["ssd"]["geometry"]
    parts = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")
    drives = int(config.get("array", {}).get("devices", 1))
    return drives * math.prod(int(geometry[part]) for part in parts)


def is_settled(series: pl.DataFrame) -> bool:
    """Return whether the write amplification of the last quarter is that of the quarter before.

    Quarters are of what the host wrote, not of time: idle time moves nothing.

    >>> import polars as pl
    >>> is_settled(pl.DataFrame({"host_programs": [10.0] * 4, "gc_programs": [0.0, 5.0, 9.0, 9.0]}))
    True
    """
    written = pl.col("host_programs")
    share = written.cum_sum() / written.sum()
    before, last = (
        series.filter((share > low) & (share <= high)) for low, high in ((0.5, 0.75), (0.75, 1.0))
    )
    amplification = [_amplification(quarter) for quarter in (before, last)]
    return abs(amplification[1] / amplification[0] - 1) <= WITHIN


def _amplification(rows: pl.DataFrame) -> float:
    """Return the pages programmed for each that the host wrote; NaN of none."""
    host = float(rows["host_programs"].sum())
    return (host + float(rows["gc_programs"].sum())) / host if host else math.nan
