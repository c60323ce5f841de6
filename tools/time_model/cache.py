"""A write buffer in DRAM before a drive: whole pages, first in, first out."""

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
