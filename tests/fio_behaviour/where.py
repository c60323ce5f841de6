"""Checks of where requests go: within the file, in sequence, or at random as is asked for."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from math import exp, gcd, sqrt
from typing import TYPE_CHECKING

import numpy as np

from fio_behaviour.what import FEW, SIGMAS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fio_behaviour.asked import Asked
    from fio_behaviour.issued import Issued

#: Of the distance between two distributions (Kolmogorov and Smirnov), times the root of the count:
#: less than once in a hundred thousand is by chance.
_DISTANCE = 2.5


def within(asked: Asked, issued: Issued) -> Iterator[str]:
    """Look for requests outside of what the job works on."""
    moved = issued.moved
    end = asked.start + asked.length
    outside = (moved.offset < asked.start) | (moved.offset + moved.size > end)
    if outside.any():
        first = int(np.flatnonzero(outside)[0])
        yield (
            f"{moved.size[first]} bytes at {moved.offset[first]}; asked for: {asked.start} to {end}"
        )


def in_sequence(asked: Asked, issued: Issued) -> Iterator[str]:
    """Follow each operation of a sequential job through the file, and round again.

    Requests that arrive at the same time may be in any order.
    """
    if asked.is_random:
        return
    for operation in asked.shares:
        rows = issued.of(operation)
        walk = _Walk(asked, int(rows.offset[0]) if len(rows) and asked.ramp_ns else None)
        listed = zip(rows.arrival.tolist(), rows.offset.tolist(), rows.size.tolist(), strict=True)
        for arrival, group in groupby(listed, key=lambda row: row[0]):
            problem = walk.take([(offset, size) for _, offset, size in group])
            if problem:
                yield f"{operation} {problem} at {arrival} ns"
                break


class _Walk:
    """Return where the next sequential request must be."""

    def __init__(self, asked: Asked, first: int | None) -> None:
        self._asked = asked
        self._is_known = first is None
        # A rest that no sizes and gaps come to is left out.
        self._whole = asked.length - asked.length % gcd(*asked.all_sizes, asked.skip, asked.start)
        begin = self._whole + asked.skip if asked.skip < 0 else 0
        self._next = asked.start + begin if first is None else first

    def take(self, rows: list[tuple[int, int]]) -> str | None:
        """Take requests that arrive at once; return what is wrong."""
        left = Counter(rows)
        if not self._is_known:
            self._is_known = True
            offsets = {offset for offset, _ in rows}
            ends = {self._after(offset, size) for offset, size in rows}
            self._next = min(offsets - ends, default=self._next)
        sizes = sorted({size for _, size in rows}, reverse=True)
        while left:
            place = self._next
            places = [place]
            if place + max(self._asked.all_sizes) > self._asked.start + self._asked.length:
                # One that is too long for the rest begins anew.
                places.append(self._asked.start)
            each = ((place, size) for place in places for size in sizes)
            found = next((one for one in each if left[one]), None)
            if found is None:
                wanted, (offset, size) = self._next, min(left)
                return f"of {size} bytes at {offset}; asked for: {wanted}"
            left[found] -= 1
            left += Counter()
            self._next = self._after(*found)
        return None

    def _after(self, offset: int, size: int) -> int:
        asked = self._asked
        relative = offset - asked.start + size
        if asked.zone is None or relative % (asked.zone + asked.skip) >= asked.zone:
            relative += asked.skip
        least = min(asked.all_sizes)
        if relative < 0:
            relative = self._whole + asked.skip
        elif relative + least > asked.length:
            relative = 0
        return asked.start + relative


def at_random(asked: Asked, issued: Issued) -> Iterator[str]:
    """Compare how random requests spread: alignment, passes, evenness, skew."""
    moved = issued.moved
    if asked.trims_first:
        moved = issued.of("trim")
    if not asked.is_random or len(moved) == 0:
        return
    relative = moved.offset - asked.start
    if asked.run == 1 and asked.random_share == 1 and (relative % asked.align).any():
        odd = int(relative[relative % asked.align > 0][0])
        yield f"an offset of {odd} in the file; asked for: multiples of {asked.align}"
    if asked.run > 1 or asked.random_share < 1:
        yield from _runs(asked, issued)
        return
    kind, _, parameter = asked.distribution.partition(":")
    blocks = asked.length // asked.align
    counts = np.bincount(relative // asked.align) if blocks < 10**7 else None
    if kind == "random":
        if not asked.has_map or len(asked.all_sizes) == 1:
            # Else what large requests leave over takes many small ones.
            yield from _evenly(relative, asked.length)
        if counts is not None and len(asked.all_sizes) == 1 and asked.align in asked.all_sizes:
            yield from _passes(asked, counts, blocks)
    elif counts is not None and kind == "zipf" and len(moved) >= FEW:
        yield from _zipf(counts, blocks, float(parameter or 1.1))
    elif counts is not None and kind == "pareto" and len(moved) >= FEW:
        yield from _pareto(counts, blocks, float(parameter or 0.2))
    elif kind == "zoned":
        yield from _zones(relative / asked.length, parameter)


def _runs(asked: Asked, issued: Issued) -> Iterator[str]:
    """Compare how many requests follow the one before them; one at a time, order is known."""
    if asked.depth > 1 or len(asked.shares) > 1 or len(issued.moved) < FEW:
        return
    rows = issued.moved
    follows = float(np.mean(rows.offset[1:] == (rows.offset + rows.size)[:-1]))
    wanted = 1 - 1 / asked.run if asked.run > 1 else 1 - asked.random_share
    slack = SIGMAS * sqrt(wanted * (1 - wanted) / len(rows)) + 2 / len(rows)
    if abs(follows - wanted) > slack + asked.align / asked.length:
        yield f"{follows:.3f} follow the one before; asked for: {wanted:.3f}"


def _evenly(relative: np.ndarray, length: int) -> Iterator[str]:
    if len(relative) < FEW:
        return
    places = np.sort(relative) / length
    expected = (np.arange(len(places)) + 0.5) / len(places)
    distance = float(np.abs(places - expected).max())
    if distance > _DISTANCE / sqrt(len(places)) + 2 / len(places):
        yield f"offsets are uneven: distance {distance:.3f} of {len(places)}"


def _passes(asked: Asked, counts: np.ndarray, blocks: int) -> Iterator[str]:
    """Compare how often blocks come: with a map once a pass, without one by chance."""
    total = int(counts.sum())
    touched = int((counts > 0).sum())
    if asked.has_map:
        most = -(-total // blocks) + (asked.ramp_ns > 0)
        least = total // blocks - (asked.ramp_ns > 0)
        if counts.max() > most or (least > 0 and (touched < blocks or counts.min() < least)):
            yield f"a block comes {counts.max()} times in {total / blocks:.2f} passes of a map"
        return
    share = 1 - exp(-total / blocks)
    slack = SIGMAS * sqrt(max(share * (1 - share) * blocks, 1)) + 2
    if abs(touched - share * blocks) > slack:
        yield f"{touched} of {blocks} blocks by {total} requests; asked for: {share * blocks:.0f}"


def _zipf(counts: np.ndarray, blocks: int, theta: float) -> Iterator[str]:
    """Compare the share of the block that is asked for most: 1 / sum of k^-theta."""
    share = 1 / float((np.arange(1, blocks + 1, dtype=float) ** -theta).sum())
    total = int(counts.sum())
    slack = SIGMAS * sqrt(share * (1 - share) / total) + 1 / total
    found = counts.max() / total
    if share * total > 20 and abs(found - share) > slack:
        yield f"the most frequent block has {found:.4f}; asked for: {share:.4f} (zipf:{theta:g})"


def _pareto(counts: np.ndarray, blocks: int, h: float) -> Iterator[str]:
    """Compare the share of the most frequent blocks: a part of h has 1 - h of the requests."""
    if counts.sum() < 20 * blocks:
        return
    ranked = np.sort(counts)[::-1]
    found = ranked[: round(blocks * h)].sum() / counts.sum()
    if abs(found - (1 - h)) > 0.03:
        yield f"{h:.2f} of the blocks have {found:.3f}; asked for: {1 - h:.3f} (pareto:{h:g})"


def _zones(places: np.ndarray, text: str) -> Iterator[str]:
    """Compare the share of each zone of ``zoned:60/10:40/90``."""
    if len(places) < FEW:
        return
    pairs = [part.partition("/") for part in text.split(":")]
    requests, lengths = (_filled([pair[at] for pair in pairs]) for at in (0, 2))
    begin = 0.0
    for share, length in zip(requests, lengths, strict=True):
        found = float(np.mean((places >= begin) & (places < begin + length)))
        if abs(found - share) > SIGMAS * sqrt(share * (1 - share) / len(places)) + 0.005:
            yield f"{found:.3f} between {begin:.2f} and {begin + length:.2f}; asked for: {share}"
        begin += length


def _filled(texts: list[str]) -> list[float]:
    said = [float(text) / 100 if text else None for text in texts]
    rest = 1 - sum(share for share in said if share is not None)
    return [rest / said.count(None) if share is None else share for share in said]
