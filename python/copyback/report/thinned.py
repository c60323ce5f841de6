"""Rows of a series, several of them in one where a screen cannot show all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Column = NDArray[np.float64]

#: Most intervals on a time axis. A plot has up to four lines, so at most 5,000 points.
MAX_INTERVALS = 1_200


class Thinned:
    """Columns over time, with at most `MAX_INTERVALS` rows.

    Parameters
    ----------
    source
        Columns of the series, ``start_s`` and ``end_s`` among them; at least one row.
    """

    def __init__(self, source: Mapping[str, Column]) -> None:
        self._source = source
        start = source["start_s"]
        self.first = np.arange(0, len(start), -(-len(start) // MAX_INTERVALS))
        self.starts = start[self.first]
        self.end = float(source["end_s"][-1])
        self.span = np.maximum(np.append(self.starts[1:], self.end) - self.starts, 1e-12)
        #: Intervals that each row stands for.
        self.intervals = np.diff(np.append(self.first, len(start)))

    def total(self, name: str) -> Column:
        """Return the sum of the intervals of each row."""
        return np.asarray(np.add.reduceat(self._source[name], self.first))

    def peak(self, name: str) -> Column:
        """Return the most of them."""
        return np.asarray(np.fmax.reduceat(self._source[name], self.first))

    def low(self, name: str) -> Column:
        """Return the least of them."""
        return np.asarray(np.fmin.reduceat(self._source[name], self.first))

    def mean(self, name: str, weight: str) -> Column:
        """Return their mean by weight; NaN where that is none."""
        weights = self._source[weight]
        products = np.where(weights > 0, self._source[name] * weights, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.add.reduceat(products, self.first) / self.total(weight))

    def only_if(self, column: Column, weight: str) -> Column:
        """Return a column, with NaN where the weight of a row is none."""
        return np.where(self.total(weight) > 0, column, np.nan)
