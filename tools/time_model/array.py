"""Drives side by side: striped (RAID-0), or with a parity that goes round (RAID-5)."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from time_model.drive import last_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from time_model.host import Target


class Striped:
    """RAID-0: a unit of pages lies on one drive, the next on the next."""

    def __init__(self, drives: Sequence[Target], unit: int) -> None:
        self._drives = drives
        self._unit = unit

    def place(self, page: int) -> tuple[int, int]:
        """Return the drive of a page, and the page there."""
        unit, rest = divmod(page, self._unit)
        row, drive = divmod(unit, len(self._drives))
        return drive, row * self._unit + rest

    def read(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Read pages."""
        send(self._drives, [self.place(page) for page in pages], [], on_end)

    def write(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Write pages."""
        send(self._drives, [], [self.place(page) for page in pages], on_end)


class Parity:
    """RAID-5, left-symmetric. A write holds its stripes; requests lie within one stripe."""

    def __init__(self, drives: Sequence[Target], unit: int) -> None:
        self._drives = drives
        self._unit = unit
        self._held: dict[int, deque[Callable[[], None]]] = {}

    def place(self, page: int) -> tuple[int, int, int]:
        """Return the stripe of a page, its drive, and the page there."""
        unit, rest = divmod(page, self._unit)
        stripe, place = divmod(unit, len(self._drives) - 1)
        drive = (self.parity(stripe) + 1 + place) % len(self._drives)
        return stripe, drive, stripe * self._unit + rest

    def parity(self, stripe: int) -> int:
        """Return the drive of a stripe's parity."""
        return (len(self._drives) - 1 - stripe) % len(self._drives)

    def read(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Read pages."""
        send(self._drives, [self.place(page)[1:] for page in pages], [], on_end)

    def write(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Write pages once nobody else writes in their stripe."""
        (stripe,) = {self.place(page)[0] for page in pages}
        if stripe in self._held:
            self._held[stripe].append(lambda: self._begin(stripe, pages, on_end))
        else:
            self._held[stripe] = deque()
            self._begin(stripe, pages, on_end)

    def _begin(self, stripe: int, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        rows: dict[int, set[int]] = defaultdict(set)
        for page in pages:
            _, drive, at = self.place(page)
            rows[at].add(drive)
        parity, count = self.parity(stripe), len(self._drives) - 1
        reads: list[tuple[int, int]] = []
        writes: list[tuple[int, int]] = []
        for at, touched in sorted(rows.items()):
            writes += [(drive, at) for drive in (*sorted(touched), parity)]
            if len(touched) == count:
                continue
            old = {*touched, parity}
            rest = set(range(count + 1)) - old
            reads += [(drive, at) for drive in sorted(old if len(old) < len(rest) else rest)]
        ended = self._ending(stripe, on_end)
        if reads:
            send(self._drives, reads, [], lambda: send(self._drives, [], writes, ended))
        else:
            send(self._drives, [], writes, ended)

    def _ending(self, stripe: int, on_end: Callable[[], None]) -> Callable[[], None]:
        def ended() -> None:
            on_end()
            if self._held[stripe]:
                self._held[stripe].popleft()()
            else:
                del self._held[stripe]

        return ended


def send(
    drives: Sequence[Target],
    reads: list[tuple[int, int]],
    writes: list[tuple[int, int]],
    on_end: Callable[[], None],
) -> None:
    """Read and write pages of drives; the call back comes with the last."""
    end = last_of(len(reads) + len(writes), on_end)
    for drive, page in reads:
        drives[drive].read([page], end)
    for drive, page in writes:
        drives[drive].write([page], end)
