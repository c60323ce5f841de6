"""Errors of predictions against measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

#: Columns of predictions, and what people call them.
PREDICTORS = {
    "simulated_us": "simulated",
    "drawn_us": "drawn by size",
    "linear_us": "linear in size",
    "by_size_us": "by size class",
    "constant_us": "constant",
}

OPERATIONS = ("read", "write")


def errors(predictions: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the errors of each predictor, by trace, part and operation.

    Returns
    -------
    list of dict
        ``requests``; ``typical``, the median over requests of the factor by which prediction and
        measurement differ, less one; ``within_25``, the share of requests for which they differ by
        at most a quarter of what was measured; ``mean_ratio``, ``p50_ratio`` and ``p99_ratio``,
        the predicted mean, median and 99th percentile over the measured ones. None where the
        fitted part has no such request.
    """
    found = []
    for (trace, part), rows in predictions.group_by("trace", "part", maintain_order=True):
        for operation in OPERATIONS:
            of_kind = rows.filter(rows["operation"] == operation)
            if of_kind.is_empty():
                continue
            for column in PREDICTORS:
                where = {"trace": trace, "part": part, "operation": operation}
                found.append(
                    {**where, "predictor": column.removesuffix("_us")} | _of(of_kind, column)
                )
    return found


def _of(rows: pl.DataFrame, column: str) -> dict[str, Any]:
    if rows[column].null_count():
        keys = ("typical", "within_25", "mean_ratio", "p50_ratio", "p99_ratio")
        return {"requests": rows.height, **dict.fromkeys(keys)}
    predicted, measured = rows[column].to_numpy(), rows["measured_us"].to_numpy()
    factors = np.abs(np.log(predicted / measured))
    return {
        "requests": rows.height,
        "typical": float(np.expm1(np.median(factors))),
        "within_25": float(np.mean(np.abs(predicted / measured - 1.0) <= 0.25)),
        "mean_ratio": float(predicted.mean() / measured.mean()),
        "p50_ratio": float(np.median(predicted) / np.median(measured)),
        "p99_ratio": float(np.quantile(predicted, 0.99) / np.quantile(measured, 0.99)),
    }
