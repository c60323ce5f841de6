"""The requests of a row: drawn from a seed, the same on every machine, and written as a trace."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECTOR = 512
#: No request between the overwrites before the measured part and that part.
QUIET_NS = 50_000_000


class Request(NamedTuple):
    """A request: when it comes (ns), whether it reads, its first logical page, and how many."""

    time: int
    is_read: bool
    first: int
    pages: int


@dataclass(frozen=True)
class Load:
    """Overwrites of single pages that are not measured, and then requests that are.

    Attributes
    ----------
    seed
        Of everything that is drawn.
    pages
        Logical pages, over which requests are spread evenly.
    requests
        Of the measured part.
    gap_ns
        Between two of them on average (Poisson); 0: all come at once, for a closed loop.
    reads
        Share of them that read.
    request_pages
        Pages of each; it starts at a multiple of that.
    sequential
        Share of them that start where the last one ended.
    fill, fill_gap_ns
        Pages of a first pass in order, and the time between two; 0: none.
    overwrites, overwrite_gap_ns
        Pages that are overwritten before the measured part, and the time between two.
    """

    seed: int
    pages: int
    requests: int
    gap_ns: int
    reads: float
    request_pages: int = 1
    sequential: float = 0.0
    fill: int = 0
    fill_gap_ns: int = 0
    overwrites: int = 0
    overwrite_gap_ns: int = 0

    def begins_ns(self) -> int:
        """Return when the measured part begins; requests before that are not measured."""
        before = self.fill * self.fill_gap_ns + self.overwrites * self.overwrite_gap_ns
        return before + QUIET_NS if before else 0

    def draw(self) -> Iterator[Request]:
        """Draw the requests, in order of time."""
        for page in range(self.fill):
            yield Request(page * self.fill_gap_ns, False, page, 1)
        random = Random(self.seed)
        filled = self.fill * self.fill_gap_ns
        for index in range(self.overwrites):
            page = int(random.random() * self.pages)
            yield Request(filled + index * self.overwrite_gap_ns, False, page, 1)
        places = self.pages // self.request_pages
        now, place = self.begins_ns(), 0
        for _ in range(self.requests):
            goes_on = random.random() < self.sequential
            anywhere = int(random.random() * places)
            place = (place + 1) % places if goes_on else anywhere
            is_read = random.random() < self.reads
            yield Request(now, is_read, place * self.request_pages, self.request_pages)
            now += round(-math.log(1 - random.random()) * self.gap_ns)

    def write(self, path: Path, page_bytes: int) -> None:
        """Write the requests as MQSim reads them: ns, device, sector, sectors, 1 for a read."""
        sectors = page_bytes // SECTOR
        with path.open("w", encoding="ascii") as file:
            for time, is_read, first, pages in self.draw():
                file.write(f"{time} 0 {first * sectors} {pages * sectors} {int(is_read)}\n")
