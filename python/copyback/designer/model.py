"""Model of a study's results: extremely randomised trees on the designs that were run.

The trees are scikit-learn's (Geurts, Ernst, Wehenkel 2006), each grown on a bootstrap sample, so
that the designs that a tree has not seen tell how wrong it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.ensemble import ExtraTreesRegressor

#: Trees of a model.
TREES = 96

#: Fewest designs in a leaf, and most leaves of a tree: more designs make leaves larger.
_LEAF, _LEAVES = 2, 64


def grown(
    rows: NDArray[np.float64], values: NDArray[np.float64], *, seed: int
) -> ExtraTreesRegressor:
    """Return a model of the value of each row."""
    from sklearn.ensemble import ExtraTreesRegressor

    return ExtraTreesRegressor(
        n_estimators=TREES,
        min_samples_leaf=max(_LEAF, len(rows) // _LEAVES),
        bootstrap=True,
        random_state=seed,
    ).fit(rows, values)


def by_tree(model: ExtraTreesRegressor, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each tree says of each row: a row a tree."""
    return np.array([tree.predict(rows) for tree in model.estimators_])
