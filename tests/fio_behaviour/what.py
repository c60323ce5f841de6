"""Checks of what is asked for: sizes, operations, flushes."""

from __future__ import annotations

from collections import Counter
from math import gcd, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fio_behaviour.asked import Asked
    from fio_behaviour.issued import Issued

#: Shares may differ by so many standard deviations: less than once in a million is by chance.
SIGMAS = 5

#: Fewer requests say nothing of shares.
FEW = 100


def sizes(asked: Asked, issued: Issued) -> Iterator[str]:
    """Compare the sizes of each operation, and how often each comes."""
    for operation, wanted in asked.sizes.items():
        found = Counter(issued.of(operation).size.tolist())
        if asked.has_map and len(asked.all_sizes) > 1:
            # A request ends before what a pass has covered, so small ones become many.
            unit = gcd(*asked.all_sizes)
            odd = [size for size in found if size % unit or size > max(asked.all_sizes)]
        else:
            odd = [size for size in found if size not in wanted]
        if odd:
            yield f"{operation}s of {odd[0]} bytes; asked for: {sorted(wanted)[:4]}"
        is_free = not asked.has_map or len(asked.all_sizes) == 1
        if is_free:
            yield from _shares(f"{operation}s of", found, wanted)


def operations(asked: Asked, issued: Issued) -> Iterator[str]:
    """Compare which operations there are, and the share of each."""
    found = Counter(issued.moved.operation.tolist())
    odd = [operation for operation in found if operation not in asked.shares]
    if odd:
        yield f"{odd[0]}s; asked for: {', '.join(asked.shares)}"
    if not asked.rates and not asked.trims_first:
        yield from _shares("share of", found, asked.shares)
    if asked.trims_first and abs(found["trim"] - found["write"]) > asked.depth:
        yield f"{found['trim']} trims and {found['write']} writes; asked for: as many"


def flushes(asked: Asked, issued: Issued) -> Iterator[str]:
    """Compare how many flushes come between writes."""
    found, writes = len(issued.of("flush")), len(issued.of("write"))
    expected = writes // asked.flush_every if asked.flush_every else 0
    slack = (1 + asked.depth + 2 * (asked.ramp_ns > 0)) if asked.flush_every else 0
    if abs(found - expected) > slack:
        yield f"{found} flushes with {writes} writes; asked for: one after {asked.flush_every}"


def _shares(
    what: str, found: Counter[int] | Counter[str], wanted: dict[int, float] | dict[str, float]
) -> Iterator[str]:
    total = sum(found.values())
    if total < FEW:
        return
    whole = sum(wanted.values())
    for kind, weight in wanted.items():
        share = weight / whole
        slack = SIGMAS * sqrt(share * (1 - share) / total) + 1 / total
        if abs(found[kind] / total - share) > slack:  # type: ignore[index]
            yield f"{what} {kind}: {found[kind] / total:.3f}; asked for: {share:.3f}"  # type: ignore[index]
