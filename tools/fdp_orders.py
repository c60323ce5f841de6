"""The rule by which the emulator of WARP collects, without the rest of a drive.

Copyback moves the pages of a victim in the order in which they were written. The emulator moves
them LUN by LUN, so that what two units take over is mixed from the whole victim. This program has
nothing but that rule, and either order: what the order changes is not confused with anything else.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: Pages of a unit, and LUNs over which a unit is striped.
PAGES, LUNS = 128, 8

#: Orders in which what is valid of a unit is moved.
ORDERS: Mapping[str, Sequence[int]] = {
    "page by page": range(PAGES),
    "LUN by LUN": sorted(range(PAGES), key=lambda page: (page % LUNS, page // LUNS)),
}

#: Largest share of valid pages of a unit that is collected before space is short.
LAZY = 0.05

#: Name of the unit that takes what is moved.
MOVED = -1


@dataclass(frozen=True)
class Job:
    """Pages of a job, its addresses, and its handle."""

    pages: int
    address: Callable[[], int]
    handle: int


class Emulator:
    """Units, filled through handles, the one with fewest valid pages collected first."""

    def __init__(self, units: int, shown: int, lazy: int, short: int, order: Sequence[int]) -> None:
        self._order = order
        #: Free units at and below which some, and any, unit is collected.
        self._lazy, self._short = lazy, short
        self._place = [-1] * (shown * PAGES)
        self._held = [[-1] * PAGES for _ in range(units)]
        self._valid = [0] * units
        self._closed: list[set[int]] = [set() for _ in range(PAGES + 1)]
        self._is_closed = [False] * units
        self._free = deque(range(units))
        self._open: dict[int, tuple[int, int]] = {}
        self.moves = 0

    def write(self, page: int, handle: int) -> None:
        """Write a page of the host."""
        while len(self._free) <= self._short and self._collect(PAGES):
            pass
        self._put(page, handle)
        if len(self._free) <= self._lazy:
            self._collect(int(LAZY * PAGES))

    def _collect(self, most_valid: int) -> bool:
        """Collect the unit with fewest valid pages; return whether any has so few."""
        victim = next((units.pop() for units in self._closed[: most_valid + 1] if units), None)
        if victim is None:
            return False
        self._is_closed[victim] = False
        held = self._held[victim]
        for index in self._order:
            if held[index] >= 0:
                self._put(held[index], MOVED)
                self.moves += 1
        self._free.append(victim)
        return True

    def _put(self, page: int, handle: int) -> None:
        self._invalidate(self._place[page])
        unit, index = self._open.get(handle) or (self._free.popleft(), 0)
        self._held[unit][index] = page
        self._place[page] = unit * PAGES + index
        self._valid[unit] += 1
        self._open[handle] = (unit, index + 1)
        if index + 1 == PAGES:
            self._is_closed[unit] = True
            self._closed[self._valid[unit]].add(unit)
            # The next one is opened at once.
            self._open[handle] = (self._free.popleft(), 0)

    def _invalidate(self, place: int) -> None:
        if place < 0:
            return
        unit, index = divmod(place, PAGES)
        self._held[unit][index] = -1
        if self._is_closed[unit]:
            self._closed[self._valid[unit]].discard(unit)
            self._closed[self._valid[unit] - 1].add(unit)
        self._valid[unit] -= 1


def late(emulator: Emulator, filled: int, jobs: Sequence[Job], last: float) -> float:
    """Return write amplification over the last share of host bytes; jobs write in turns at random.

    Parameters
    ----------
    emulator
        A drive that was filled.
    filled
        Host pages that were written to fill it.
    jobs
        The jobs.
    last
        The share.
    """
    draw = random.Random(0)
    total = sum(job.pages for job in jobs)
    ends = np.cumsum([job.pages for job in jobs]).tolist()
    begin = int((filled + total) * (1.0 - last)) - filled
    before = 0
    for written in range(total):
        if written == begin:
            before = emulator.moves
        job = jobs[bisect(ends, draw.randrange(total))]
        emulator.write(job.address(), job.handle)
    return 1.0 + (emulator.moves - before) / (total - begin)


def in_order(first: int, count: int) -> Callable[[], int]:
    """Return addresses that go round."""
    last = -1

    def address() -> int:
        nonlocal last
        last = (last + 1) % count
        return first + last

    return address


def drawn(first: int, weights: Sequence[float], seed: int) -> Callable[[], int]:
    """Return addresses that are drawn, each as often as its weight says."""
    draw = random.Random(seed)
    ends = np.cumsum(weights)
    shares = (ends / ends[-1]).tolist()
    return lambda: first + min(bisect(shares, draw.random()), len(shares) - 1)


def zipf(pages: int, ranks: int, theta: float) -> list[float]:
    """Return weights of pages, each of which stands for ranks beside one another, scattered."""
    each = ranks // pages
    head = float((np.arange(1, each + 1, dtype=float) ** -theta).sum())
    ends = np.arange(1, pages + 1, dtype=float) * each + 0.5
    tail = (ends[:-1] ** (1.0 - theta) - ends[1:] ** (1.0 - theta)) / (theta - 1.0)
    weights = [head, *tail.tolist()]
    random.Random(0).shuffle(weights)
    return weights
