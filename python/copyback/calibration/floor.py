"""Accuracy with which the measured times of one trace predict those of another of the same device.

That is the floor of a calibration: times that are drawn from measured ones, by kind and size of a
request, need no model, and know all of the device that kind and size tell.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from copyback import __version__
from copyback._core import InputError
from copyback.calibration.errors import OPERATIONS
from copyback.calibration.measured import LEAST_REQUESTS, Times, measured_times
from copyback.calibration.rules import forecasts
from copyback.process.checkout import commit

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from copyback.calibration.forecast import Forecast

#: What a row is about if it is about reads and writes together.
BOTH = "both"


@dataclass(frozen=True)
class Part:
    """A trace, or half of one, with its measured times.

    Attributes
    ----------
    rows : polars.DataFrame
        ``operation``, ``bytes`` and ``measured_us``, a row a request, as they arrived.
    """

    name: str
    rows: pl.DataFrame

    @property
    def halves(self) -> tuple[Part, Part]:
        """The first and the second half of its requests."""
        middle = self.rows.height // 2
        return (
            Part(f"{self.name} (1st half)", self.rows[:middle]),
            Part(f"{self.name} (2nd half)", self.rows[middle:]),
        )


@dataclass(frozen=True)
class Row:
    """Errors of a predictor against measurements.

    Attributes
    ----------
    fitted, predicted
        The trace that it knows, and the one that it predicts.
    operation
        ``read``, ``write``, or ``both`` for all requests together.
    p50_ratio, p99_ratio
        Predicted over measured quantiles of all such requests.
    score
        The quantile score of :meth:`Forecast.score`.
    """

    fitted: str
    predicted: str
    operation: str
    requests: int
    predictor: str
    p50_ratio: float
    p99_ratio: float
    score: float


@dataclass(frozen=True)
class Floor:
    """Rows of every ordered pair of traces, and where they come from."""

    times: Times
    rows: list[Row]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {
            "schema": 1,
            "version": __version__,
            "commit": commit(),
            "times": self.times.value,
            "rows": [asdict(row) for row in self.rows],
        }

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"


def floor(
    traces: Sequence[str | os.PathLike[str]],
    *,
    times: str = "response",
    format: str | None = None,  # noqa: A002 - the command line's --format
    lenient: bool = False,
    halves: bool = False,
) -> Floor:
    """Say how well the measured times of each trace predict those of each other.

    Parameters
    ----------
    traces
        Traces of one device, with measured times.
    times
        ``"response"`` or ``"service"``, as for :func:`copyback.calibrate`.
    format
        Format of the traces; detected if not given.
    lenient
        Skip damaged rows.
    halves
        Predict the halves of each trace by one another, too.

    Raises
    ------
    InputError
        If the input is at fault.
    """
    named = Times.named(times)
    if len(traces) < 2 and not halves:
        raise InputError("one trace: name another of the same device, or compare its --halves")
    parts = [read_part(Path(trace), named, format, lenient=lenient) for trace in traces]
    return Floor(named, [row for pair in pairs_of(parts, halves=halves) for row in rows_of(*pair)])


def read_part(trace: Path, times: Times, format_: str | None, *, lenient: bool) -> Part:
    """Read the measured times of a trace."""
    with TemporaryDirectory(prefix="copyback-floor-") as directory:
        frame = measured_times(trace, times, format_, Path(directory), lenient=lenient)
    measured = frame.filter(pl.col("measured_response_ns").is_not_null())
    if measured.height < LEAST_REQUESTS:
        raise InputError(
            f"{trace}: {measured.height} requests with measured times; at least {LEAST_REQUESTS} "
            "are needed"
        )
    rows = measured.select(
        "operation", "bytes", measured_us=pl.col("measured_response_ns") / 1e3
    ).with_columns(pl.col("operation").cast(pl.String))
    return Part(trace.name.partition(".")[0], rows)


def pairs_of(parts: Sequence[Part], *, halves: bool) -> list[tuple[Part, Part]]:
    """Return every ordered pair of traces, then those of the halves of each."""
    found = list(permutations(parts, 2))
    if halves:
        for part in parts:
            found += permutations(part.halves, 2)
    return found


def rows_of(known: Part, wanted: Part) -> list[Row]:
    """Return how well the rules that know one part predict the other."""
    found = []
    by_rule: dict[str, list[tuple[Forecast, Any]]] = {}
    for operation in OPERATIONS:
        before = known.rows.filter(known.rows["operation"] == operation)
        after = wanted.rows.filter(wanted.rows["operation"] == operation)
        if before.is_empty() or after.is_empty():
            continue
        measured = after["measured_us"].to_numpy()
        told = forecasts(
            before["bytes"].to_numpy().astype(np.float64),
            before["measured_us"].to_numpy(),
            after["bytes"].to_numpy().astype(np.float64),
        )
        for rule, forecast in told.items():
            by_rule.setdefault(rule, []).append((forecast, measured))
            found.append(row_of(known, wanted, operation, rule, [(forecast, measured)]))
    for rule, both in by_rule.items():
        found.append(row_of(known, wanted, BOTH, rule, both))
    return found


def row_of(
    known: Part,
    wanted: Part,
    operation: str,
    predictor: str,
    told: Sequence[tuple[Forecast, Any]],
) -> Row:
    """Return how far forecasts are from what was measured, all requests together."""
    times = np.concatenate([forecast.all_times().ravel() for forecast, _ in told])
    measured = np.concatenate([one for _, one in told])
    scores = [forecast.score(one) * len(one) for forecast, one in told]
    return Row(
        fitted=known.name,
        predicted=wanted.name,
        operation=operation,
        requests=len(measured),
        predictor=predictor,
        p50_ratio=float(np.quantile(times, 0.5) / np.quantile(measured, 0.5)),
        p99_ratio=float(np.quantile(times, 0.99) / np.quantile(measured, 0.99)),
        score=float(sum(scores) / len(measured)),
    )
