"""Tables of a load curve: one row a rate and pass."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.calibration.search.bench import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

#: Statistics of a latency, by the keys of a summary.
STATISTICS = ("p50", "p90", "p95", "p99", "p99_9", "mean")

#: Shares of requests at or below a latency that a summary has not.
QUANTILES = {"p10": 0.1, "p25": 0.25, "p75": 0.75}

#: Columns of latencies, in microseconds.
METRICS = tuple(
    f"{operation}_{name}" for operation in OPERATIONS for name in (*STATISTICS, *QUANTILES)
)

#: Columns of the requests a second that the drive served.
WRITES, READS = ACHIEVED = ("writes_per_s", "reads_per_s")


@dataclass(frozen=True)
class Pass:
    """Measurement at a rate.

    Attributes
    ----------
    place
        File and line.
    name
        Text of the column ``pass``.
    latencies
        Microseconds, by metric.
    achieved
        Requests a second that were served; None if it was not measured.
    """

    place: str
    name: str
    latencies: dict[str, float]
    achieved: float | None


@dataclass(frozen=True)
class Rate:
    """Offered rate, in requests a second of all flows, with its passes."""

    offered: float
    passes: list[Pass]

    @property
    def place(self) -> str:
        """File and line of the first pass."""
        return self.passes[0].place

    @property
    def metrics(self) -> list[str]:
        """Metrics that some pass has."""
        return [name for name in METRICS if self.latencies(name)]

    @property
    def achieved(self) -> float | None:
        """Mean over the passes of what was served; None if it was not measured."""
        served = self.served
        return sum(served) / len(served) if served else None

    @property
    def served(self) -> list[float]:
        """Requests a second of each pass that measured them."""
        return [one.achieved for one in self.passes if one.achieved is not None]

    def latencies(self, metric: str) -> list[float]:
        """Return the latencies of the passes that measured them."""
        return [one.latencies[metric] for one in self.passes if metric in one.latencies]


@dataclass(frozen=True)
class Curve:
    """A load curve.

    Attributes
    ----------
    name
        The file, for people.
    digest
        Digest of its bytes.
    rates
        In ascending order.
    """

    name: str
    digest: str
    rates: list[Rate]

    @property
    def metrics(self) -> list[str]:
        """Metrics that some rate has."""
        return [name for name in METRICS if any(name in rate.metrics for rate in self.rates)]

    def at(self, offered: float) -> Rate:
        """Return the rate that is offered so much."""
        return next(rate for rate in self.rates if rate.offered == offered)


def passes(path: Path, text: str) -> Iterator[tuple[float, Pass]]:
    """Yield the offered rate of each row of a table, and what was measured.

    Raises
    ------
    InputError
        If a row makes no sense.
    """
    try:
        reader = csv.DictReader(text.splitlines())
        _check(reader.fieldnames or (), f"{path}:1")
        for fields in reader:
            yield _row(fields, f"{path}:{reader.line_num}")
    except csv.Error as fault:
        raise InputError(f"{path}: {fault}") from fault


def _check(columns: Sequence[str], place: str) -> None:
    if "rate" not in columns:
        raise InputError(f"{place}: found no column rate; allowed: a table with rate and latencies")
    for column in columns:
        known = column in METRICS or column in ACHIEVED
        if column.startswith(OPERATIONS) and not known:
            allowed = ", ".join((*METRICS, *ACHIEVED))
            raise InputError(f"{place}: found column {column!r}; allowed: {allowed}")
        if columns.count(column) > 1:
            raise InputError(f"{place}: {column}: found twice; allowed: once")
    if not any(column in METRICS for column in columns):
        raise InputError(f"{place}: found no latencies; allowed: such as {METRICS[0]}")


def _row(fields: Mapping[str, str], place: str) -> tuple[float, Pass]:
    if None in fields:
        raise InputError(f"{place}: found more fields than columns; allowed: one a column")
    offered = _number(fields, "rate", place)
    latencies = {name: _number(fields, name, place) for name in METRICS if fields.get(name)}
    if not latencies:
        raise InputError(f"{place}: found no latency; allowed: one or more, such as {METRICS[0]}")
    return offered, Pass(place, fields.get("pass") or "", latencies, _achieved(fields, place))


def _achieved(fields: Mapping[str, str], place: str) -> float | None:
    given = [column for column in ACHIEVED if fields.get(column)]
    if not given:
        return None
    if len(given) == 1:
        other = READS if given == [WRITES] else WRITES
        raise InputError(f"{place}: {other}: found ''; allowed: a number beside {given[0]}, or 0")
    return sum(_number(fields, column, place, least=0.0) for column in ACHIEVED)


def _number(
    fields: Mapping[str, str], column: str, place: str, least: float | None = None
) -> float:
    text = fields[column] or ""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    is_allowed = value > 0 if least is None else value >= least
    if not (math.isfinite(value) and is_allowed):
        allowed = "a number above 0" if least is None else f"a number from {least:g} on"
        raise InputError(f"{place}: {column}: found {text!r}; allowed: {allowed}")
    return value
