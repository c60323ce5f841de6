"""Checks of when requests come: depth, rates, pauses, amounts, times and the order of jobs."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from fio_behaviour.what import FEW, SIGMAS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fio_behaviour.asked import Asked
    from fio_behaviour.issued import Issued

#: Of the time between its first and last arrival, a job that nothing holds back is at its depth.
_AT_DEPTH = 0.9


def depth(asked: Asked, issued: Issued) -> Iterator[str]:
    """Compare how many requests are under way: never more, and as many if nothing else limits."""
    if asked.is_open_loop or not len(issued):
        return
    most, share = _under_way(issued, asked.depth)
    if most > asked.depth:
        yield f"{most} requests under way; asked for: {asked.depth}"
    is_free = not asked.rates and asked.pause is None and not asked.flush_every
    if not is_free or len(issued) < max(20 * asked.depth, FEW):
        return
    if most < asked.depth or share < _AT_DEPTH:
        yield f"{most} under way at most, {share:.2f} of the time; asked for: {asked.depth}"


def _under_way(issued: Issued, wanted: int) -> tuple[int, float]:
    """Return the most requests under way, and how much of the time at least so many are."""
    count = len(issued)
    times = np.concatenate([issued.end, issued.arrival])
    steps = np.concatenate([np.full(count, -1), np.full(count, 1)])
    # A request that comes when another ends takes its place.
    order = np.lexsort((steps, times))
    levels = np.cumsum(steps[order])
    inside = times[order] < issued.arrival.max()
    spans = np.diff(np.append(times[order], times.max()))
    busy = spans[inside & (levels >= wanted)].sum()
    return int(levels.max()), float(busy / max(spans[inside].sum(), 1))


def rates(asked: Asked, issued: Issued) -> Iterator[str]:
    """Compare each limited rate: never above, and reached if the depth never was."""
    moved = issued.moved
    if not asked.rates or not len(moved):
        return
    begin, end = _span(asked, issued)
    is_held_back = not asked.is_open_loop and _under_way(issued, asked.depth)[0] >= asked.depth
    others = asked.pause is not None or asked.depth == 1
    for operation, rate in asked.rates.items():
        rows = moved.of(operation)
        amount = float(rows.size.sum()) if rate.in_bytes else float(len(rows))
        unit = max(asked.sizes[operation]) if rate.in_bytes else 1
        wanted = rate.per_second * (end - begin) / 1e9
        slack = _slack(asked, wanted, unit)
        if amount > wanted + slack:
            yield f"{operation}s: {amount:.0f} in {end - begin} ns; asked for: {wanted:.0f}"
        elif amount < wanted - slack and not is_held_back and not others and _is_cut(asked, issued):
            yield f"{operation}s: only {amount:.0f}; asked for: {wanted:.0f}"


def _slack(asked: Asked, wanted: float, unit: float) -> float:
    """Return how far an amount may be from that of its rate."""
    by_chance = SIGMAS * sqrt(wanted * unit) if asked.is_poisson or len(asked.all_sizes) > 1 else 0
    return by_chance + 2 * unit + 0.01 * wanted + (asked.depth * unit if asked.ramp_ns else 0)


def _span(asked: Asked, issued: Issued) -> tuple[int, int]:
    """Return from when to when a job is limited by its time; to its last arrival otherwise."""
    begin = int(issued.arrival.min())
    if asked.runtime_ns is None or not _is_cut(asked, issued):
        return begin, int(issued.arrival.max())
    return begin, begin + asked.runtime_ns


def _is_cut(asked: Asked, issued: Issued) -> bool:
    """Whether time ended a job, and not the amount that it asks for."""
    if asked.runtime_ns is None:
        return False
    return asked.is_endless or not _is_complete(asked, issued)


def _is_complete(asked: Asked, issued: Issued) -> bool:
    moved = issued.moved
    if asked.most_requests is not None and len(moved) >= asked.most_requests:
        return True
    return int(moved.size.sum()) + max(asked.all_sizes) > asked.most_bytes


def amounts(asked: Asked, issued: Issued) -> Iterator[str]:
    """Compare how much is asked for: bytes, requests, or time."""
    moved = issued.moved
    if asked.trims_first:
        moved = issued.of("write")
    total = int(moved.size.sum())
    if asked.is_steady or asked.is_endless:
        return
    # The last request may go beyond.
    if total - max(asked.all_sizes) >= asked.most_bytes:
        yield f"{total} bytes; asked for: {asked.most_bytes}"
    if asked.most_requests is not None and len(moved) > asked.most_requests:
        yield f"{len(moved)} requests; asked for: {asked.most_requests}"
    if asked.runtime_ns is None and not asked.ramp_ns and not _is_whole(asked, moved):
        yield f"{total} bytes in {len(moved)} requests; asked for: {asked.most_bytes}"


def _is_whole(asked: Asked, moved: Issued) -> bool:
    """Whether a job has all its requests: a rest of a pass that holds no block has none."""
    if asked.most_requests is not None and len(moved) == asked.most_requests:
        return True
    least = min(asked.all_sizes)
    passes = -(-asked.most_bytes // asked.length)
    lost = passes * (asked.length % least) + max(asked.all_sizes)
    return int(moved.size.sum()) + lost > asked.most_bytes


def times(asked: Asked, issued: Issued) -> Iterator[str]:
    """Compare how long a job goes on: to its time, and not beyond."""
    if asked.runtime_ns is None or not len(issued) or asked.is_steady:
        return
    lasted = int(issued.arrival.max() - issued.arrival.min())
    if lasted > asked.runtime_ns:
        yield f"goes on for {lasted} ns; asked for: {asked.runtime_ns}"
    longest = int((issued.end - issued.arrival).max())
    is_free = not asked.rates and asked.pause is None
    if is_free and _is_cut(asked, issued) and lasted < asked.runtime_ns - 2 * longest:
        yield f"ends after {lasted} ns; asked for: {asked.runtime_ns}"


def pauses(asked: Asked, issued: Issued) -> Iterator[str]:
    """Compare the pauses of a job that has one request under way."""
    if asked.pause is None or asked.depth > 1 or asked.rates or asked.flush_every:
        return
    gaps = issued.arrival[1:] - issued.end[:-1]
    found = int((gaps >= asked.pause.time_ns).sum())
    expected = len(gaps) // asked.pause.blocks
    if abs(found - expected) > 1:
        yield f"{found} pauses in {len(issued)} requests; asked for: {expected}"


def order(flows: Sequence[tuple[Asked, Issued]]) -> Iterator[tuple[int, str]]:
    """Compare when jobs begin: after those that they wait for, and their delay."""
    ends: list[int] = []
    for number, (asked, issued) in enumerate(flows):
        earliest = max([asked.delay_ns, *(ends[other] for other in asked.awaited)]) + asked.ramp_ns
        ends.append(_end(asked, issued, earliest))
        if not len(issued):
            continue
        begin = int(issued.arrival.min())
        slack = 0 if asked.ramp_ns == 0 and not asked.is_poisson else max(asked.ramp_ns, 10**7)
        if begin < earliest:
            yield number, f"begins at {begin} ns; asked for: not before {earliest}"
        elif begin > earliest + slack and not asked.rates and not asked.is_open_loop:
            yield number, f"begins at {begin} ns; asked for: {earliest}"


def _end(asked: Asked, issued: Issued, begin: int) -> int:
    """Return when a job has ended: with its last request, or its time."""
    last = int(issued.end.max()) if len(issued) else begin
    if asked.runtime_ns is None or not _is_cut(asked, issued):
        return last
    return max(last, begin + asked.runtime_ns)
