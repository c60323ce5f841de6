"""Rules that predict a time from kind and size of a request alone: what a simulation must beat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from copyback.calibration.forecast import Forecast
from copyback.calibration.loss import SCALE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    #: From the sizes of requests, in bytes, to their times, in microseconds.
    Rule = Callable[[Array], Array]


def constant(_: Array, measured: Array) -> Rule:
    """Return the rule that all requests take the median time."""
    median = float(np.median(measured))
    return lambda sizes: np.full(len(sizes), median)


def linear(sizes: Array, measured: Array) -> Rule:
    """Return the rule of a fixed time and so much a byte, fitted as the simulation is."""
    from scipy.optimize import least_squares

    def predict(logs: Array, of: Array) -> Array:
        fixed, each = np.exp(logs)
        return np.asarray(fixed + each * of)

    start = np.log([np.median(measured) / 2, np.median(measured / sizes) / 2])

    def residuals(logs: Array) -> Array:
        return np.asarray(np.log(predict(logs, sizes) / measured))

    found = least_squares(residuals, start, loss="soft_l1", f_scale=SCALE)
    return lambda of: predict(found.x, of)


def by_size(sizes: Array, measured: Array) -> Rule:
    """Return the rule of the median time of requests of the same size class (powers of two)."""
    classes = np.floor(np.log2(sizes))
    medians = {one: float(np.median(measured[classes == one])) for one in np.unique(classes)}
    known = np.array(sorted(medians))

    def predict(of: Array) -> Array:
        # A class that was not seen counts as the nearest that was.
        nearest = np.abs(np.log2(of)[:, None] // 1 - known[None, :]).argmin(axis=1)
        return np.array([medians[known[place]] for place in nearest])

    return predict


def drawn(sizes: Array, measured: Array, of: Array) -> Forecast:
    """Return the forecast of the measured times of the same size class, all as likely."""
    classes = np.floor(np.log2(sizes))
    known = np.unique(classes)
    nearest = np.abs(np.floor(np.log2(of))[:, None] - known[None, :]).argmin(axis=1)
    return Forecast.of_kinds(nearest, [measured[classes == one] for one in known])


def draws(sizes: Array, measured: Array) -> Rule:
    """Return the rule of a measured time of the same size class, drawn for each request."""

    def predict(of: Array) -> Array:
        told = drawn(sizes, measured, of).all_times()
        places = np.random.default_rng(len(of)).integers(told.shape[1], size=len(of))
        return np.asarray(told[np.arange(len(of)), places])

    return predict


RULES = {"drawn_us": draws, "linear_us": linear, "by_size_us": by_size, "constant_us": constant}


def forecasts(sizes: Array, measured: Array, of: Array) -> dict[str, Forecast]:
    """Return what each rule, fitted to requests of one kind, says of others of that kind.

    Parameters
    ----------
    sizes, measured
        Sizes in bytes and times in microseconds of the requests that are known.
    of
        Sizes of those that are predicted.
    """
    points = {
        name.removesuffix("_us"): Forecast.of_points(make(sizes, measured)(of))
        for name, make in RULES.items()
        if make is not draws
    }
    return {"drawn": drawn(sizes, measured, of), **points}


def with_predictions(rows: pl.DataFrame, fitted: pl.Series) -> pl.DataFrame:
    """Return the rows with a column of predictions for each rule.

    A rule is null for reads if none is fitted, and so for writes.

    Parameters
    ----------
    rows
        Requests with ``operation``, ``bytes`` and ``measured_us``.
    fitted
        Which of them the rules are fitted on.
    """
    columns = {name: np.full(rows.height, np.nan) for name in RULES}
    sizes = rows["bytes"].to_numpy().astype(np.float64)
    measured = rows["measured_us"].to_numpy()
    for operation in rows["operation"].unique(maintain_order=True):
        of_kind = (rows["operation"] == operation).to_numpy()
        known = of_kind & fitted.to_numpy()
        if not known.any():
            continue
        for name, make in RULES.items():
            columns[name][of_kind] = make(sizes[known], measured[known])(sizes[of_kind])
    predictions = [pl.Series(name, values).fill_nan(None) for name, values in columns.items()]
    return rows.with_columns(predictions)
