"""The tail of response times: what the slowest requests wait for."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback.words import describe, units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from copyback.summary import (
        ArraySummary,
        BandSummary,
        BlameSummary,
        FlowSummary,
        Summary,
        TailSummary,
    )

#: The cause that is always told.
COLLECTIONS = "waiting for collections"

#: The cause behind which an array's own reads and writes may stand, and what it is called then.
OTHER_IO = "waiting behind other host I/O"
OTHER_IO_OF_ARRAY = "waiting behind other I/O, of the host or of the array's own upkeep"

#: The cause of whoever comes to a full queue, and what it is called if the drive was off.
OUTSIDE = "waiting outside the drive, whose queue is full"
OUTSIDE_OFF = "waiting outside the drive, which was off or recovered, or whose queue was full"

#: What requests spend their time on: groups of parts, and how a sentence names them.
CAUSES: dict[str, frozenset[str]] = {
    COLLECTIONS: frozenset(describe.GC_PARTS),
    OTHER_IO: frozenset({"queue_behind_io"}),
    OUTSIDE: frozenset({"host_queue"}),
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
    """Return the name of a percentile: to two decimals, or to more where these would make it 100.

    >>> name(99.0), name(99.4128), name(99.9004), name(99.9963)
    ('p99', 'p99.41', 'p99.9', 'p99.996')
    """
    finer = (f"{percentile:.{decimals}f}" for decimals in itertools.count(2))
    told = next(text for text in finer if percentile == 100 or float(text) < 100)
    return f"p{told.rstrip('0').rstrip('.')}"


def bands(found: Sequence[BandSummary]) -> list[Band]:
    """Return the bands of one operation, each with where its time went."""
    rows = []
    for band, following in zip(found, [*found[1:], None], strict=True):
        begins = name(band.above) if band.above else "fastest"
        ends = name(following.above) if following else "max"
        means = {key: ns / 1e3 / band["count"] for key, ns in band.time_ns.to_dict().items()}
        edges = (
            f"{name(band.from_percentile)} to {name(band.to_percentile)}, "
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
    if summary.tail is None:
        return None
    above = true_percentile(summary.tail.count, summary.response_us.all.count)
    text = statement(summary.tail, above)
    for plain, full in _fuller(summary):
        text = text.replace(plain, full)
    return text


def _fuller(summary: Summary | FlowSummary) -> Iterator[tuple[str, str]]:
    """Yield the causes that were more than their names say in a run, and what to call them."""
    array, power = summary.get("array"), summary.get("power_loss")
    if array is not None and _kept_up(array):
        yield OTHER_IO, OTHER_IO_OF_ARRAY
    if power is not None and power.cuts:
        yield OUTSIDE, OUTSIDE_OFF


def _kept_up(array: ArraySummary) -> bool:
    """Whether an array rebuilt, scrubbed or resynchronised."""
    resynced = array.consistency is not None and array.consistency.resync_read_bytes > 0
    return bool(array.rebuilt_bytes or array.scrubs is not None or resynced)


def true_percentile(slowest: float, requests: float) -> float:
    """Return the percentile that these slowest of so many requests lie above."""
    return (requests - slowest) * 100 / requests


def statement(tail: TailSummary, above: float) -> str:
    """Return what the slowest reads and writes wait for, those above a percentile."""
    by_cause = shares(tail)
    most = max(by_cause, key=by_cause.__getitem__)
    told = f"Above {name(above)}, {units.share(by_cause[most])} of the time is {most}."
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
