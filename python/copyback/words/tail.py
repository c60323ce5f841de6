"""The tail of response times: what the slowest requests wait for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback.words import describe, units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback.summary import BandSummary, BlameSummary, FlowSummary, Summary, TailSummary

#: The cause that is always told.
COLLECTIONS = "waiting for collections"

#: What requests spend their time on: groups of parts, and how a sentence names them.
CAUSES: dict[str, frozenset[str]] = {
    COLLECTIONS: frozenset(describe.GC_PARTS),
    "waiting behind other host I/O": frozenset({"queue_behind_io"}),
    "waiting outside the drive, whose queue is full": frozenset({"host_queue"}),
    "waiting for a channel or the host link": frozenset({"bus"}),
    "in the write buffer, or waiting for room there": frozenset({"buffer"}),
    "waiting for the mapping table": frozenset({"translation"}),
    "the service of the requests themselves": frozenset({"service"}),
}


@dataclass(frozen=True)
class Band:
    """Requests whose response times lie between two percentiles.

    Attributes
    ----------
    label
        Percentiles that it was to lie between, such as ``p99 to p99.9``.
    edges
        Percentiles and response times that it does lie between.
    count
        Requests in it.
    parts
        Parts of the mean response time of these.
    """

    label: str
    edges: str
    count: int
    parts: list[describe.Part]


def name(percentile: float) -> str:
    """Return the name of a percentile.

    >>> name(99.9), name(99.0)
    ('p99.9', 'p99')
    """
    return f"p{percentile:g}"


def bands(found: Sequence[BandSummary]) -> list[Band]:
    """Return the bands of one operation, each with where its time went."""
    rows = []
    for band, following in zip(found, [*found[1:], None], strict=True):
        begins = name(band.above) if band.above else "fastest"
        ends = name(following.above) if following else "max"
        means = {key: ns / 1e3 / band["count"] for key, ns in band.time_ns.to_dict().items()}
        edges = (
            f"p{_percentile(band.from_percentile)} to p{_percentile(band.to_percentile)}, "
            f"up to {units.time_us(band.to_us)}"
        )
        rows.append(Band(f"{begins} to {ends}", edges, band["count"], describe.parts(means)))
    return rows


def by_operation(blame: BlameSummary | None) -> dict[str, list[Band]]:
    """Return the bands of each operation that has any."""
    if blame is None:
        return {}
    of = {operation: blame.get(operation) or [] for operation in describe.OPERATIONS}
    return {operation: bands(found) for operation, found in of.items() if found}


def shares(tail: TailSummary) -> dict[str, float]:
    """Return the share of each of `CAUSES` in the time of the slowest requests."""
    return shares_of(tail.time_ns.to_dict())


def shares_of(times: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each of `CAUSES` in the sums of the parts of response times."""
    whole = sum(times.values()) or 1
    return {cause: sum(times[key] for key in keys) / whole for cause, keys in CAUSES.items()}


def sentence(summary: Summary | FlowSummary) -> str | None:
    """Return what the slowest reads and writes wait for; nothing if there are too few."""
    return None if summary.tail is None else statement(summary.tail)


def statement(tail: TailSummary) -> str:
    """Return what the slowest reads and writes wait for."""
    by_cause = shares(tail)
    most = max(by_cause, key=by_cause.__getitem__)
    told = f"Above {name(tail.above)}, {units.share(by_cause[most])} of the time is {most}."
    if most == COLLECTIONS:
        return told
    if not by_cause[COLLECTIONS]:
        return f"{told} None of it is {COLLECTIONS}."
    return f"{told} {units.share(by_cause[COLLECTIONS])} of it is {COLLECTIONS}."


def csv_rows(blame: BlameSummary) -> list[dict[str, float | int | str]]:
    """Return a row for each band of each operation, times in microseconds and nanoseconds."""
    return [
        {"operation": operation}
        | {key: band[key] for key in ("above", "from_percentile", "to_percentile")}
        | {key: band[key] for key in ("from_us", "to_us", "count")}
        | {f"{part}_ns": ns for part, ns in band.time_ns.to_dict().items()}
        for operation in describe.OPERATIONS
        for band in blame.get(operation) or []
    ]


def _percentile(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")
