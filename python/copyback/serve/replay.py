"""Comparison of a served drive's log with its replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from copyback.frame import Frame


def differing(live: Frame, again: Frame) -> int:
    """Return how many response times of a replay differ from those of the log.

    Parameters
    ----------
    live
        The log.
    again
        The requests of the run that replayed it.
    """
    ours, theirs = _in_order(live), _in_order(again)
    if len(ours[0]) != len(theirs[0]):
        return abs(len(ours[0]) - len(theirs[0]))
    same = np.ones(len(ours[0]), bool)
    for one, other in zip(ours, theirs, strict=True):
        same &= one == other
    return int((~same).sum())


def _in_order(table: Frame) -> list[NDArray[Any]]:
    columns = [
        np.asarray(table[name].values, np.uint64)
        for name in ("arrival_ns", "operation", "offset", "bytes", "response_ns")
    ]
    order = np.lexsort(columns[::-1])
    return [column[order] for column in columns]
