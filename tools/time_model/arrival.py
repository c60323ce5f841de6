"""A drive with MQSim's rules in place of ours, where the two differ.

Written from reading MQSim's source, in our words; file names are of its `src/ssd` at 7ec40e3:

- A write gets its page when it comes, and a block that it fills may begin a collection at once
  (`Address_Mapping_Unit_Page_Level.cpp`, `Flash_Block_Manager.cpp`). The first read of that
  collection goes before the write.
- What comes is begun at once if it can be, not once all of an instant has come (`TSU_Base.cpp`). So
  of two writes that end in one nanosecond, the order is that of their beginnings.
- Commands of several planes pay their cycles for each (`ONFI_Channel_NVDDR2.cpp`).
- A block that moved pages fill does so too, and up to ten collections of a plane go on together;
  the victim is the block with most invalid pages, of equals the one with the lowest number
  (`GC_and_WL_Unit_Page_Level.cpp`).
- A collection reads all its pages, then programs them; commands join pages of planes of equal
  offset from the whole queue, also those of the host with those of a collection (`TSU_Base.cpp`).
- The dies of a chip do one thing at a time, all together (`NVM_PHY_ONFI_NVDDR2.cpp`).
- A request for a page that is being moved never ends (`Remove_barrier_for_accessing_lpa`).
- Of free blocks the least worn is opened, and wear is levelled, whatever is asked for
  (`SSD_Device.cpp` does not pass it on); how far blocks are apart goes by their numbers.
- A collection whose victim is in use is put off, and its block is never erased
  (`GC_and_WL_Unit_Base.cpp`).
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from time_model.device import Device, Yields
from time_model.drive import last_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from time_model.clock import Clock

#: Collections of a plane at once; with fewer free blocks, writes of the host wait.
MOST_AT_ONCE = 10
#: Blocks of a plane that are opened at the start: of the host, of moved pages, and of a mapping
#: table that lies in memory.
OPENED = 3
#: Levelling begins where the numbers of two blocks are so far apart, as unsigned integers.
APART, UNSIGNED = 100, 1 << 32


class Cycles(NamedTuple):
    """What a command takes of the channel, ns: of one plane, and of each further one.

    Sums of the times of a bus as MQSim is shipped (`ONFI_Channel_NVDDR2.cpp`).
    """

    one: int
    further: int

    def for_planes(self, count: int) -> int:
        """Return the time for so many planes."""
        return self.one + (count - 1) * self.further


READ, PROGRAM, ERASE = Cycles(290, 650), Cycles(361, 816), Cycles(220, 700)


@dataclass(eq=False)
class Block:
    """A block, by its number in its plane.

    Attributes
    ----------
    pages, valid
        The logical page of each page, and the offsets of the newest versions.
    in_use
        Reads and programs of the host that have a page here and have not ended.
    programs
        Those of them that program.
    victim
        The collection of this block.
    erases
        How often it has been erased.
    """

    number: int
    pages: list[int] = field(default_factory=list)
    valid: set[int] = field(default_factory=set)
    in_use: int = 0
    programs: int = 0
    victim: Collection | None = None
    erases: int = 0


@dataclass(eq=False)
class Collection:
    """A collection: how many moves are left, and whether its erase is in the queue."""

    plane: Plane
    block: Block
    moves: int = 0
    is_put_off: bool = False


class Of(Enum):
    """Whose a page operation is, and what it does."""

    HOST_READ = "host read"
    HOST_WRITE = "host write"
    MOVED_READ = "moved read"
    MOVED_WRITE = "moved write"
    ERASE = "erase"


@dataclass(eq=False)
class Page:
    """An operation on one page (or block) of a plane."""

    of: Of
    plane: Plane
    block: Block
    offset: int
    on_end: Callable[[], None]


class Plane:
    """A plane, by its number in its chip: its blocks, and what waits for room."""

    def __init__(self, chip: Chip, number: int, device: Device) -> None:
        self.chip = chip
        self.number = number
        self.die = number // device.planes
        self.blocks = [Block(at) for at in range(device.blocks)]
        self.free = deque(self.blocks)
        self.open_host, _, self.open_moved = (self.free.popleft() for _ in range(OPENED))
        self.where: dict[int, tuple[Block, int]] = {}
        self.locked: set[int] = set()
        self.behind: dict[int, list[Callable[[], None]]] = {}
        self.collected: set[int] = set()
        self.waiting: deque[tuple[int, Callable[[], None]]] = deque()


class Chip:
    """A chip: its queues, and whether one of its dies is busy, and so all of it."""

    def __init__(self, device: Device) -> None:
        self.planes = [Plane(self, at, device) for at in range(device.dies * device.planes)]
        self.queues: dict[Of, list[Page]] = {of: [] for of in Of}
        self.is_busy = False


@dataclass(eq=False)
class Bus:
    """A channel, its chips, and reads that wait to cross it: the host's before others."""

    chips: list[Chip]
    turn: int = 0
    is_busy: bool = False
    out: dict[Of, deque[Callable[[], None]]] = field(
        default_factory=lambda: {Of.HOST_READ: deque(), Of.MOVED_READ: deque()}
    )


class ArrivalDrive:
    """A drive in which pages are mapped when writes come.

    Attributes
    ----------
    counts
        Page reads, page programs and erases, collections, and requests that never end (`lost`).
    """

    def __init__(self, clock: Clock, device: Device) -> None:
        self.device = device
        self.counts: Counter[str] = Counter()
        self._clock = clock
        self._chips = [Chip(device) for _ in range(device.channels * device.chips)]
        self._buses = [
            Bus(self._chips[at * device.chips : (at + 1) * device.chips])
            for at in range(device.channels)
        ]

    def fill(self) -> None:
        """Write all logical pages in order, without time."""
        for page in range(self.device.logical_pages()):
            self._put(self._plane(page), page)

    def read(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Read pages; the call back comes with the last."""
        end = last_of(len(pages), on_end)
        for page in pages:
            plane = self._plane(page)
            if page in plane.locked:
                self._hold(plane, page, partial(self.read, [page], end))
                continue
            block, offset = plane.where[page]
            block.in_use += 1
            self._queue(Of.HOST_READ, plane, block, offset, end)
        self._look_at_idle()

    def write(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Write pages; the call back comes with the last."""
        end = last_of(len(pages), on_end)
        for page in pages:
            plane = self._plane(page)
            if page in plane.locked:
                self._hold(plane, page, partial(self.write, [page], end))
            elif len(plane.free) < MOST_AT_ONCE:
                plane.waiting.append((page, end))
            else:
                self._place(plane, page, end)
        self._look_at_idle()

    def _hold(self, plane: Plane, page: int, again: Callable[[], None]) -> None:
        """Lose a request for a page that is being moved, or keep it until the page has been."""
        if self.device.loses:
            self.counts["lost"] += 1
        else:
            plane.behind.setdefault(page, []).append(again)

    def arbitrate(self) -> bool:
        """Say that nothing waits to be begun: here it begins as soon as it comes."""
        return False

    def _plane(self, page: int) -> Plane:
        die, plane = self.device.place(page)
        chip, die = divmod(die, self.device.dies)
        return self._chips[chip].planes[die * self.device.planes + plane]

    def _queue(
        self, of: Of, plane: Plane, block: Block, offset: int, on_end: Callable[[], None]
    ) -> None:
        plane.chip.queues[of].append(Page(of, plane, block, offset, on_end))

    def _place(self, plane: Plane, page: int, on_end: Callable[[], None]) -> None:
        block, offset = self._put(plane, page)
        block.in_use += 1
        block.programs += 1
        if offset == self.device.pages - 1:
            self._collect_if_short(plane)
            self._look_at_idle()  # the first read of a collection goes before the write
        self._queue(Of.HOST_WRITE, plane, block, offset, on_end)

    def _put(self, plane: Plane, page: int) -> tuple[Block, int]:
        """Give a page of the host its place."""
        block = plane.open_host
        self._map(plane, page, block)
        if len(block.pages) == self.device.pages:
            plane.open_host = plane.free.popleft()
        return block, len(block.pages) - 1

    def _map(self, plane: Plane, page: int, block: Block) -> None:
        if page in plane.where:
            old, offset = plane.where[page]
            old.valid.discard(offset)
        plane.where[page] = block, len(block.pages)
        block.valid.add(len(block.pages))
        block.pages.append(page)

    def _collect_if_short(self, plane: Plane) -> None:
        if len(plane.free) >= self.device.soft or len(plane.collected) >= MOST_AT_ONCE:
            return
        block = self._victim(plane)
        if block.number in plane.collected or len(block.valid) == len(block.pages):
            return
        self._collect(plane, block)

    def _collect(self, plane: Plane, block: Block) -> None:
        collection = Collection(plane, block)
        block.victim = collection
        plane.collected.add(block.number)
        plane.locked.update(block.pages[offset] for offset in block.valid)
        if block.in_use:
            collection.is_put_off = True
            self.counts["put off"] += 1
        else:
            self._begin(collection)
            self._queue(Of.ERASE, plane, block, 0, partial(self._erased, collection))

    def _victim(self, plane: Plane) -> Block:
        """Return the block with most invalid pages; the first is not asked whether it is in use."""
        best = plane.blocks[1 if 0 in plane.collected else 0]
        for block in plane.blocks[1:]:
            if (
                len(block.pages) - len(block.valid) > len(best.pages) - len(best.valid)
                and len(block.pages) == self.device.pages
                and self._is_safe(plane, block)
            ):
                best = block
        return best

    def _is_safe(self, plane: Plane, block: Block) -> bool:
        is_open = block in (plane.open_host, plane.open_moved, plane.blocks[1])
        return not is_open and not block.programs and block.victim is None

    def _begin(self, collection: Collection) -> None:
        plane, block = collection.plane, collection.block
        self.counts["collections"] += 1
        collection.moves = len(block.valid)
        for offset in sorted(block.valid):
            end = partial(self._read_of_move, collection, offset)
            self._queue(Of.MOVED_READ, plane, block, offset, end)

    def _read_of_move(self, collection: Collection, offset: int) -> None:
        plane = collection.plane
        page = collection.block.pages[offset]
        into = plane.open_moved
        self._map(plane, page, into)
        end = partial(self._moved, collection, page)
        self._queue(Of.MOVED_WRITE, plane, into, len(into.pages) - 1, end)
        if len(into.pages) == self.device.pages:
            plane.open_moved = plane.free.popleft()
            self._collect_if_short(plane)
        self._look_at_idle()

    def _moved(self, collection: Collection, page: int) -> None:
        collection.plane.locked.remove(page)
        for again in collection.plane.behind.pop(page, []):
            again()
        collection.moves -= 1

    def _erased(self, collection: Collection) -> None:
        plane, block = collection.plane, collection.block
        block.pages, block.valid, block.victim = [], set(), None
        plane.collected.remove(block.number)
        block.erases += 1
        plane.free = deque(sorted([*plane.free, block], key=lambda one: one.erases))
        self._level(plane)
        while plane.waiting and len(plane.free) >= MOST_AT_ONCE:
            self._place(plane, *plane.waiting.popleft())
        if len(plane.free) < MOST_AT_ONCE:
            self._collect_if_short(plane)
        self._look_at_idle()

    def _level(self, plane: Plane) -> None:
        """Level wear: by the numbers of the most and the least worn block, as MQSim does."""
        most = max(plane.blocks, key=lambda block: block.erases)
        least = min(plane.blocks, key=lambda block: block.erases)
        if (most.number - least.number) % UNSIGNED < APART or not self._is_safe(plane, least):
            return
        self._collect(plane, least)

    def _look_at_idle(self) -> None:
        """Let chips behind idle channels begin what has come, within the instant."""
        for bus in self._buses:
            if not bus.is_busy:
                self._look(bus)

    def _look(self, bus: Bus) -> None:
        """Let an idle channel carry what a chip has read, or else a command to the next chip."""
        for waiting in bus.out.values():
            if waiting:
                self._cross(bus, self.device.page_transfer, waiting.popleft())
                return
        for _ in bus.chips:
            chip = bus.chips[bus.turn]
            bus.turn = (bus.turn + 1) % len(bus.chips)
            together = [] if chip.is_busy else self._next(chip)
            if together:
                self._start(bus, chip, together)
                return

    def _cross(self, bus: Bus, time: int, then: Callable[[], None]) -> None:
        """Take the channel; it is taken until what follows from that has been done."""
        bus.is_busy = True

        def ended() -> None:
            then()
            bus.is_busy = False
            self._look(bus)

        self._clock.after(time, ended)

    def _next(self, chip: Chip) -> list[Page]:
        """Return the pages of the next command."""
        for first, second in self._order(chip):
            if chip.queues[first]:
                return self._joined(chip, first, second)
        erases = chip.queues[Of.ERASE]
        die = erases[0].plane.die if erases else 0
        planes: dict[int, Page] = {}
        for page in erases:
            if page.plane.die == die and self._is_ready(page):
                planes.setdefault(page.plane.number, page)
        for page in planes.values():
            erases.remove(page)
        return list(planes.values())

    def _order(self, chip: Chip) -> Iterator[tuple[Of, Of]]:
        """Return which queues a command comes from, and which may join it."""
        if self._is_urgent(chip):
            yield Of.MOVED_READ, Of.HOST_READ
            yield Of.MOVED_WRITE, Of.HOST_WRITE
            if not chip.queues[Of.ERASE]:
                yield Of.HOST_READ, Of.HOST_READ
                yield Of.HOST_WRITE, Of.HOST_WRITE
        else:
            yield Of.HOST_READ, Of.MOVED_READ
            yield Of.HOST_WRITE, Of.MOVED_WRITE
            yield Of.MOVED_READ, Of.MOVED_READ
            yield Of.MOVED_WRITE, Of.MOVED_WRITE

    def _is_urgent(self, chip: Chip) -> bool:
        """Whether collections go first: always, unless they are preempted and space is left."""
        return self.device.yields is Yields.NEVER or any(
            len(plane.free) < self.device.hard for plane in chip.planes
        )

    def _is_ready(self, erase: Page) -> bool:
        return erase.block.victim is not None and erase.block.victim.moves == 0

    def _joined(self, chip: Chip, first: Of, second: Of) -> list[Page]:
        lead = chip.queues[first][0]
        together: dict[int, Page] = {}
        for of in dict.fromkeys((first, second)):
            for page in chip.queues[of]:
                if len(together) == self.device.planes:
                    break
                is_along = page.offset == lead.offset and page.plane.die == lead.plane.die
                if is_along and page.plane.number not in together:
                    together[page.plane.number] = page
        for page in together.values():
            chip.queues[page.of].remove(page)
        return list(together.values())

    def _start(self, bus: Bus, chip: Chip, together: list[Page]) -> None:
        device, of = self.device, together[0].of
        chip.is_busy = True
        if of is Of.ERASE:
            self.counts["erases"] += len(together)
            before, array = ERASE.for_planes(len(together)), device.erase
        elif of in (Of.HOST_READ, Of.MOVED_READ):
            self.counts["page_reads"] += len(together)
            before, array = READ.for_planes(len(together)), device.read
        else:
            self.counts["page_programs"] += len(together)
            before = PROGRAM.for_planes(len(together)) + len(together) * device.page_transfer
            array = device.program

        def crossed() -> None:
            self._clock.after(array, partial(self._out_of_array, bus, chip, together))

        self._cross(bus, before, crossed)

    def _out_of_array(self, bus: Bus, chip: Chip, together: list[Page]) -> None:
        if together[0].of in (Of.HOST_READ, Of.MOVED_READ):
            free = last_of(len(together), partial(setattr, chip, "is_busy", False))
            for page in together:
                bus.out[together[0].of].append(partial(self._out_of_chip, page, free))
        else:
            for page in together:
                self._end(page)
            chip.is_busy = False
        if not bus.is_busy:
            self._look(bus)

    def _out_of_chip(self, page: Page, free: Callable[[], None]) -> None:
        self._end(page)
        free()

    def _end(self, page: Page) -> None:
        block = page.block
        page.on_end()
        if page.of in (Of.HOST_READ, Of.HOST_WRITE):
            block.in_use -= 1
            block.programs -= page.of is Of.HOST_WRITE
            collection = block.victim
            if collection is not None and collection.is_put_off and not block.in_use:
                collection.is_put_off = False
                self._begin(collection)
                self._look_at_idle()
