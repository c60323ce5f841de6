"""Write buffers in DRAM before a drive: whole pages; ours first in, first out."""

from __future__ import annotations

import math
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from time_model.arrival import ArrivalDrive
    from time_model.clock import Clock
    from time_model.drive import Drive

#: How long a page that has been written is one of the recent ones, at most; ns.
SECOND = 1_000_000_000


class Cache:
    """Pages that have been acknowledged, and are on their way to flash or wait for it."""

    def __init__(self, clock: Clock, drive: Drive | ArrivalDrive) -> None:
        device = drive.device
        self._clock = clock
        self._drive = drive
        self._room = device.cache_pages
        self._high = math.ceil(device.high * device.cache_pages)
        self._low = math.floor(device.low * device.cache_pages)
        self._resting: dict[int, None] = {}
        self._leaving: set[int] = set()
        self._waiting: deque[tuple[deque[int], Callable[[], None]]] = deque()

    def read(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Read pages, from here if all are here."""
        missing = [p for p in pages if p not in self._resting and p not in self._leaving]
        if missing:
            self._drive.read(missing, on_end)
        else:
            self._clock.after(self._drive.device.cache_latency, on_end)

    def write(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Take pages, or let them wait for room."""
        self._waiting.append((deque(pages), on_end))
        self._place()

    def _place(self) -> None:
        while self._waiting:
            pages, on_end = self._waiting[0]
            while pages and self._takes(pages[0]):
                pages.popleft()
            if pages:
                break
            self._waiting.popleft()
            self._clock.after(self._drive.device.cache_latency, on_end)
        if self._waiting or len(self._resting) >= self._high:
            self._destage()

    def _takes(self, page: int) -> bool:
        """Whether a page finds room; new data of one that is on its way to flash need some."""
        if page in self._resting:
            return True
        if len(self._resting) + len(self._leaving) >= self._room:
            return False
        self._resting[page] = None
        return True

    def _destage(self) -> None:
        """Send pages to flash: while a write waits all, else until few enough rest.

        One whose earlier data are on their way stays until these have been written.
        """
        stay = 0 if self._waiting else self._low
        for page in list(self._resting):
            if len(self._resting) <= stay:
                break
            if page not in self._leaving:
                del self._resting[page]
                self._leaving.add(page)
                self._drive.write([page], partial(self._left, page))

    def _left(self, page: int) -> None:
        self._leaving.remove(page)
        self._clock.behind(self._place)


class RecentCache:
    """MQSim's write buffer (`Data_Cache_Manager_Flash_Advanced.cpp`), in our words.

    A page is written to flash at once, unless it has come before since pages were forgotten last,
    at most a second ago: then it rests, and nothing here makes it leave. So many pages are on
    their way as there is room for; one that is lost on it keeps its room. DRAM serves one page at
    a time.
    """

    def __init__(self, clock: Clock, drive: Drive | ArrivalDrive) -> None:
        self._clock = clock
        self._drive = drive
        self._room = drive.device.cache_pages
        self._held: dict[int, int] = {}
        self._recent: set[int] = set()
        self._forgets_at = 0
        self._remembers = SECOND if drive.device.rests else 0
        self._waiting: deque[tuple[int, int, Callable[[], None]]] = deque()
        self._number = 0
        self._dram_free_at = 0

    def read(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Read a page, from here if it is here."""
        (page,) = pages
        if page in self._held:
            self._after_dram(on_end)
        else:
            self._drive.read(pages, on_end)

    def write(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Take a page, or let it wait for room."""
        (page,) = pages
        self._number += 1
        self._waiting.append((page, self._number, on_end))
        self._place()

    def _place(self) -> None:
        """Give room to those that wait. Each look at them may be when pages are forgotten."""
        while self._waiting:
            is_room = self._room > 0
            if is_room:
                self._take(*self._waiting.popleft())
            if self._clock.now > self._forgets_at:
                self._recent.clear()
                self._forgets_at = self._clock.now + self._remembers
            if not is_room:
                break

    def _take(self, page: int, number: int, on_end: Callable[[], None]) -> None:
        self._held[page] = number
        self._after_dram(on_end)
        if page not in self._recent:
            self._recent.add(page)
            self._room -= 1
            self._drive.write([page], partial(self._left, page, number))

    def _left(self, page: int, number: int) -> None:
        self._room += 1
        if self._held.get(page, number + 1) <= number:
            del self._held[page]
        self._place()

    def _after_dram(self, on_end: Callable[[], None]) -> None:
        begins = max(self._clock.now, self._dram_free_at)
        self._dram_free_at = begins + self._drive.device.cache_latency
        self._clock.after(self._dram_free_at - self._clock.now, on_end)
