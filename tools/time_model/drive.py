"""A drive: queues, which operation a die takes next, and collections."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from time_model.device import Device, Yields
from time_model.flash import Channel, Die, Kind, Operation
from time_model.plane import Block, Plane

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from time_model.clock import Clock


@dataclass(eq=False)
class PageOperation:
    """A page that the host reads or writes.

    Attributes
    ----------
    page
        The logical page.
    number
        In order of coming, over the whole drive.
    on_end
        Called when it has been read or programmed.
    """

    page: int
    number: int
    on_end: Callable[[], None]


@dataclass(eq=False)
class Job:
    """A collection: the rest of its victim, and the offset whose page is in the register."""

    plane: Plane
    victim: Block
    held: int | None = None


class Station:
    """A die, its planes, and what waits for them."""

    def __init__(self, die: Die, device: Device) -> None:
        self.die = die
        self.planes = [Plane(device) for _ in range(device.planes)]
        self.reads: list[deque[PageOperation]] = [deque() for _ in self.planes]
        self.writes: list[deque[PageOperation]] = [deque() for _ in self.planes]
        self.jobs: deque[Job] = deque()
        self.turn = 0
        self.steps_since_host = 0


class Drive:
    """A drive.

    Attributes
    ----------
    counts
        Page reads, page programs and erases, and `collections`.
    """

    def __init__(self, clock: Clock, device: Device) -> None:
        self.device = device
        self.counts: Counter[str] = Counter()
        self._clock = clock
        self._channels = [Channel(clock, device.data_first) for _ in range(device.channels)]
        self._stations = [
            Station(Die(clock, device, self._channels[device.channel_of(die)]), device)
            for die in range(device.all_dies())
        ]
        self._number = 0

    def fill(self) -> None:
        """Write all logical pages in order, without time."""
        for page in range(self.device.logical_pages()):
            die, plane = self.device.place(page)
            self._stations[die].planes[plane].write(page)

    def read(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Read pages; the call back comes with the last."""
        end = last_of(len(pages), on_end)
        for page in pages:
            die, plane = self.device.place(page)
            station = self._stations[die]
            if page not in station.planes[plane].where:  # holds no data: no flash is touched
                self._clock.after(0, end)
                continue
            station.die.is_dirty = True
            station.reads[plane].append(self._page(page, end))

    def write(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Write pages; the call back comes with the last."""
        end = last_of(len(pages), on_end)
        for page in pages:
            die, plane = self.device.place(page)
            station = self._stations[die]
            station.die.is_dirty = True
            station.writes[plane].append(self._page(page, end))

    def arbitrate(self) -> bool:
        """Let dies, then channels, begin what they can. Returns whether any did."""
        dies = [self._look(station) for station in self._stations if station.die.is_dirty]
        channels = [channel.arbitrate() for channel in self._channels]
        return any(dies) or any(channels)

    def _page(self, page: int, on_end: Callable[[], None]) -> PageOperation:
        self._number += 1
        return PageOperation(page, self._number, on_end)

    def _look(self, station: Station) -> bool:
        die = station.die
        die.is_dirty = False
        if die.current is not None:
            if die.can_be_suspended() and self._next_read(station, die.current.pages):
                die.suspend()
                return True
            return False
        if die.paused is not None:
            operation = self._take_read(station, die.paused.pages)
            if operation is None:
                die.resume()
            else:
                die.take(operation)
            return True
        operation = self._next(station)
        if operation is not None:
            die.take(operation)
        return operation is not None

    def _next(self, station: Station) -> Operation | None:
        if not station.jobs:
            due = self._due(station)
            if due is not None:
                operation = self._goes_before(station)
                if operation is not None:
                    return operation
                self._begin(station, due)
                return self._step(station, station.jobs[0])
        if not station.jobs:
            return self._take_host(station, reads=True)
        return self._goes_first(station) or self._step(station, station.jobs[0])

    def _due(self, station: Station) -> int | None:
        """Return the plane that is collected next, if one is; planes take turns."""
        count = len(station.planes)
        order: list[int] = [*range(station.turn, count), *range(station.turn)]
        for index in order:
            plane = station.planes[index]
            if plane.is_short() and plane.victim() is not None:
                return index
        return None

    def _begin(self, station: Station, index: int) -> None:
        plane = station.planes[index]
        victim = plane.victim()
        assert victim is not None
        plane.begin(victim)
        station.jobs.append(Job(plane, victim))
        station.turn = (index + 1) % len(station.planes)

    def _goes_before(self, station: Station) -> Operation | None:
        """Return what of the host goes before the first step of a collection.

        A collection looks at the queue between its operations, and so not before its first; where
        steps are counted, those of the collection before count.
        """
        if self.device.yields is Yields.NEVER:
            return None
        if self.device.yields is Yields.BETWEEN_OPERATIONS:
            return self._take_host(station, reads=True)
        enough = station.steps_since_host >= self.device.steps
        return (
            self._take_host(station, reads=True) if enough and not self._is_stuck(station) else None
        )

    def _goes_first(self, station: Station) -> Operation | None:
        """Return what of the host goes before the next step of a collection."""
        job = station.jobs[0]
        if self.device.yields is Yields.BETWEEN_OPERATIONS:
            return self._take_host(station, reads=job.held is None)
        if self.device.yields is Yields.AFTER_STEPS and job.held is None:
            enough = station.steps_since_host >= self.device.steps
            if enough and not self._is_stuck(station):
                return self._take_host(station, reads=True)
        return None

    def _is_stuck(self, station: Station) -> bool:
        return any(
            writes and not plane.accepts()
            for writes, plane in zip(station.writes, station.planes, strict=True)
        )

    def _step(self, station: Station, job: Job) -> Operation:
        """Go on with a collection: a page, or the erase."""
        device = self.device
        if job.held is not None:
            offset, job.held = job.held, None
            if offset in job.victim.valid:
                return self._move(station, job, offset)
        if not job.victim.valid:
            self.counts["erases"] += 1
            return self._operation(Kind.ERASE, 0, device.erase, 0, lambda: self._erased(station))
        offset = min(job.victim.valid)
        self.counts["page_reads"] += 1
        if device.copyback and device.yields is not Yields.BETWEEN_OPERATIONS:
            page = job.victim.pages[offset]
            job.plane.move(page)
            self.counts["page_programs"] += 1
            array = device.read + device.program
            return self._operation(Kind.COPYBACK, 0, array, 0, lambda: self._stepped(station))
        channel = (0, 0) if device.copyback else (device.command, device.page_transfer)
        return self._operation(
            Kind.READ,
            channel[0],
            device.read + self._poll(),
            channel[1],
            lambda: setattr(job, "held", offset),
        )

    def _move(self, station: Station, job: Job, offset: int) -> Operation:
        device = self.device
        page = job.victim.pages[offset]
        job.plane.move(page)
        self.counts["page_programs"] += 1
        before = 0 if device.copyback else device.command + device.page_transfer
        array = device.program + self._poll()
        return Operation(
            Kind.PROGRAM, before, array, 0, frozenset({page}), lambda: self._stepped(station)
        )

    def _operation(
        self, kind: Kind, before: int, array: int, after: int, on_end: Callable[[], None]
    ) -> Operation:
        return Operation(kind, before, array, after, frozenset(), on_end)

    def _poll(self) -> int:
        return self.device.poll if self.device.yields is Yields.BETWEEN_OPERATIONS else 0

    def _stepped(self, station: Station) -> None:
        station.steps_since_host += 1

    def _erased(self, station: Station) -> None:
        station.steps_since_host += 1
        job = station.jobs.popleft()
        job.plane.erase()
        self.counts["collections"] += 1

    def _take_host(self, station: Station, *, reads: bool) -> Operation | None:
        if reads:
            operation = self._take_read(station, frozenset())
            if operation is not None:
                return operation
        return self._take_write(station)

    def _next_read(self, station: Station, apart: frozenset[int]) -> PageOperation | None:
        """Return the oldest read, if its page is not being programmed; reads keep their order."""
        heads = [reads[0] for reads in station.reads if reads]
        oldest = min(heads, key=lambda read: read.number, default=None)
        return None if oldest is None or oldest.page in apart else oldest

    def _take_read(self, station: Station, apart: frozenset[int]) -> Operation | None:
        lead = self._next_read(station, apart)
        if lead is None:
            return None
        at = self._offset(station, lead)
        together = [lead]
        for plane, reads in enumerate(station.reads):
            if lead in reads:
                reads.remove(lead)
            elif reads and reads[0].page not in apart and self._offset(station, reads[0]) == at:
                together.append(station.reads[plane].popleft())
        station.steps_since_host = 0
        self.counts["page_reads"] += len(together)
        return self._of_host(Kind.READ, together)

    def _offset(self, station: Station, read: PageOperation) -> int:
        _, plane = self.device.place(read.page)
        _, offset = station.planes[plane].where[read.page]
        return offset

    def _take_write(self, station: Station) -> Operation | None:
        heads = [
            (writes[0].number, plane)
            for plane, writes in enumerate(station.writes)
            if writes and station.planes[plane].accepts()
        ]
        if not heads:
            return None
        _, leader = min(heads)
        offset = station.planes[leader].next_offset()
        together = [
            (plane, station.writes[plane].popleft())
            for _, plane in sorted(heads, key=lambda head: head[1] != leader)
            if plane == leader or station.planes[plane].next_offset() == offset
        ]
        for plane, write in together:
            station.planes[plane].write(write.page)
        station.steps_since_host = 0
        self.counts["page_programs"] += len(together)
        return self._of_host(Kind.PROGRAM, [write for _, write in together])

    def _of_host(self, kind: Kind, together: list[PageOperation]) -> Operation:
        device, count = self.device, len(together)

        def end() -> None:
            for one in together:
                one.on_end()

        pages = frozenset(one.page for one in together)
        if kind is Kind.READ:
            after = count * device.page_transfer
            return Operation(kind, device.command, device.read, after, frozenset(), end)
        before = device.command + count * device.page_transfer
        return Operation(kind, before, device.program, 0, pages, end)


def last_of(count: int, on_end: Callable[[], None]) -> Callable[[], None]:
    """Return what calls back when it has been called so many times."""
    left = count

    def ended() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            on_end()

    return ended
