"""Regression trees, split at random: the model of a study's results behind the importance.

Extremely randomised trees (Geurts, Ernst, Wehenkel 2006) in NumPy, each grown on a bootstrap
sample of the designs. A column is a number, or the code of an option, split by whether it is in a
random half of the options.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Fewest designs in a leaf, and most leaves of a tree: more designs make leaves larger.
_LEAF, _LEAVES = 2, 64


@dataclass(frozen=True)
class Split:
    """Split of a tree's node.

    Attributes
    ----------
    left_options
        Codes that go left; None of a number, which goes left up to `threshold`.
    """

    column: int
    threshold: float
    left_options: NDArray[np.float64] | None
    left: Split | float
    right: Split | float

    def goes_left(self, rows: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return for each row whether it goes left."""
        values = rows[:, self.column]
        if self.left_options is not None:
            return np.isin(values, self.left_options)
        return values <= self.threshold


Node = Split | float


class Grower:
    """Grows trees on the results of designs.

    Parameters
    ----------
    options
        For each column the number of its options; 0 of a number.
    """

    def __init__(self, options: list[int], random: np.random.Generator) -> None:
        self._options = options
        self._random = random

    def grow(self, rows: NDArray[np.float64], values: NDArray[np.float64]) -> Node:
        """Return a tree on a bootstrap sample."""
        sample = self._random.integers(len(rows), size=len(rows))
        least = max(_LEAF, len(rows) // _LEAVES)
        return self._node(rows[sample], values[sample], least)

    def _node(self, rows: NDArray[np.float64], values: NDArray[np.float64], least: int) -> Node:
        if len(values) < 2 * least or np.ptp(values) == 0:
            return float(values.mean())
        splits = [self._split(rows, column) for column in range(rows.shape[1])]
        found = [(self._gain(split, rows, values), i) for i, split in enumerate(splits) if split]
        gain, best = max(found, default=(0.0, 0))
        split = splits[best] if splits else None
        if split is None or gain <= 0:
            return float(values.mean())
        left = split.goes_left(rows)
        return Split(
            split.column,
            split.threshold,
            split.left_options,
            self._node(rows[left], values[left], least),
            self._node(rows[~left], values[~left], least),
        )

    def _split(self, rows: NDArray[np.float64], column: int) -> Split | None:
        """Return a random split of a column; None if all rows are alike in it."""
        own = rows[:, column]
        low, high = own.min(), own.max()
        if low == high:
            return None
        if not self._options[column]:
            return Split(column, float(self._random.uniform(low, high)), None, 0.0, 0.0)
        there = np.unique(own)
        count = int(self._random.integers(1, len(there)))
        chosen = self._random.permutation(there)[:count]
        return Split(column, 0.0, chosen, 0.0, 0.0)

    def _gain(self, split: Split, rows: NDArray[np.float64], values: NDArray[np.float64]) -> float:
        """Return by how much a split lowers the sum of squares."""
        left = split.goes_left(rows)
        count = int(left.sum())
        if not 0 < count < len(values):
            return 0.0
        whole, part = values.sum(), values[left].sum()
        rest = len(values) - count
        gain = part**2 / count + (whole - part) ** 2 / rest - whole**2 / len(values)
        return float(gain)


def predict(node: Node, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a tree says of each row."""
    found = np.empty(len(rows))
    _fill(node, rows, np.arange(len(rows)), found)
    return found


def _fill(
    node: Node, rows: NDArray[np.float64], places: NDArray[np.intp], found: NDArray[np.float64]
) -> None:
    if not isinstance(node, Split):
        found[places] = node
        return
    if not len(places):
        return
    left = node.goes_left(rows[places])
    _fill(node.left, rows, places[left], found)
    _fill(node.right, rows, places[~left], found)
