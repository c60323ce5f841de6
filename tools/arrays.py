"""What arrays must cost, counted page by page, for the reference tests of the engine.

    python tools/arrays.py        # writes crates/copyback/tests/reference/arrays.csv

Nothing here is the engine's. A request is taken apart row by row (a page of each unit of a stripe,
as Linux md's `stripe_head`), and each row is decided as md decides it: by counting, drive by drive,
what a read-modify-write and a reconstruct-write would have to read. Where drives are lost the rules
are those of `docs/concepts/arrays.md`; `md_reads` says what md would have read there.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STORED = Path(__file__).parents[1] / "crates/copyback/tests/reference/arrays.csv"
HEADER = "# What arrays cost; README.md says what the columns are and where they come from.\n"
PARITIES = {"raid0": 0, "raid5": 1, "raid6": 2}
READ_US, PROGRAM_US = 50, 200
#: Logical pages of a die: 32 blocks of 16 pages, of which a quarter is over-provisioned.
DIE_PAGES = 384
KIB = 1024

#: A page of a drive.
Page = tuple[int, int]


class Request(NamedTuple):
    """A request: `r` or `w`, pages of the array, arrival in microseconds."""

    operation: str
    first: int
    pages: int
    at: int = 0

    def text(self) -> str:
        """Return what the table says of it."""
        return f"{self.operation}:{self.first}:{self.pages}@{self.at}"


@dataclass(frozen=True)
class Array:
    """Drives of some dies each, pages in turn, and how stripes lie on them.

    Attributes
    ----------
    chunk
        Pages of a stripe unit.
    page
        KiB.
    lost
        Drives that are lost.
    """

    layout: str
    drives: int
    chunk: int = 1
    page: int = 4
    dies: int = 1
    lost: tuple[int, ...] = ()

    @property
    def parities(self) -> int:
        """Return the parity units of a stripe."""
        return PARITIES[self.layout]

    @property
    def data(self) -> int:
        """Return the data units of a stripe."""
        return self.drives - self.parities

    @property
    def drive_pages(self) -> int:
        """Return the pages of a drive that whole units take."""
        return DIE_PAGES * self.dies // self.chunk * self.chunk

    def drive(self, stripe: int, role: int) -> int:
        """Return who has a role: P, Q, data units in turn. P moves to the left stripe by stripe."""
        if not self.parities:
            return role
        return (self.drives - 1 - stripe % self.drives + role) % self.drives

    def lives(self, stripe: int, role: int) -> bool:
        """Return whether what has this role is there."""
        return self.drive(stripe, role) not in self.lost

    def rows(self, request: Request) -> dict[tuple[int, int], set[int]]:
        """Return which roles a request touches of each row, by stripe and row."""
        rows: dict[tuple[int, int], set[int]] = {}
        for page in range(request.first, request.first + request.pages):
            unit, row = divmod(page, self.chunk)
            stripe, data = divmod(unit, self.data)
            rows.setdefault((stripe, row), set()).add(self.parities + data)
        return rows

    def page_of(self, stripe: int, row: int, role: int) -> Page:
        """Return where a page lies."""
        return self.drive(stripe, role), stripe * self.chunk + row

    def time(self, reads: list[Page], writes: list[Page]) -> int:
        """Return how long idle drives take: all reads, then all writes; dies work side by side."""

        def longest(pages: list[Page]) -> int:
            dies = Counter((drive, page % self.dies) for drive, page in pages)
            return max(dies.values(), default=0)

        return longest(reads) * READ_US + longest(writes) * PROGRAM_US


@dataclass(frozen=True)
class Mirrors(Array):
    """Drives that hold copies: `raid1`, or `raid10-near-2` and the like.

    Where a copy lies follows md's arithmetic (`__raid10_find_phys` in drivers/md/raid10.c), which
    knows near copies, far copies and the stride between these.
    """

    @property
    def parities(self) -> int:
        """Return none."""
        return 0

    @property
    def copies(self) -> int:
        """Return the copies of a page."""
        return self.drives if self.layout == "raid1" else int(self.layout.split("-")[2])

    @property
    def piece(self) -> int:
        """Return the pages that are read from one drive: RAID-1 has no chunks."""
        return DIE_PAGES * self.dies if self.layout == "raid1" else self.chunk

    @property
    def far(self) -> int:
        """Return md's far copies; the others are near ones."""
        return 1 if self.layout == "raid1" or "near" in self.layout else self.copies

    @property
    def chunks(self) -> int:
        """Return the chunks that differ: md's `raid10_size`."""
        rows = DIE_PAGES * self.dies // self.piece
        return rows // self.far * self.drives // (self.copies // self.far)

    @property
    def drive_pages(self) -> int:
        """Return the pages of a drive that copies take: md's `calc_sectors`."""
        return math.ceil(self.chunks * self.copies / self.drives) * self.piece

    def places(self, page: int) -> list[Page]:
        """Return where the copies of a page lie, the first one first."""
        chunk, rest = divmod(page, self.piece)
        near = self.copies // self.far
        stripe, drive = divmod(chunk * near, self.drives)
        stride = self.drive_pages // self.far
        if "offset" in self.layout:
            stripe, stride = stripe * self.far, self.piece
        found = []
        for _ in range(near):
            first = stripe * self.piece + rest
            found += [
                ((drive + copy * near) % self.drives, first + copy * stride)
                for copy in range(self.far)
            ]
            drive += 1
            if drive == self.drives:
                drive, stripe = 0, stripe + 1
        return found

    def living(self, page: int) -> list[Page]:
        """Return the copies of a page that are there."""
        return [place for place in self.places(page) if place[0] not in self.lost]

    def plan(self, request: Request) -> tuple[list[Page], list[Page]]:
        """Return what a request reads and writes: each chunk of a read from the least busy copy."""
        pages = range(request.first, request.first + request.pages)
        if request.operation == "w":
            return [], [place for page in pages for place in self.living(page)]
        reads: list[Page] = []
        pending = Counter[int]()
        for chunk in sorted({page // self.piece for page in pages}):
            mine = [page for page in pages if page // self.piece == chunk]
            drives = [drive for drive, _ in self.living(mine[0])]
            chosen = min(drives, key=lambda drive: pending[drive])
            pending[chosen] += 1
            reads += [place for page in mine for place in self.living(page) if place[0] == chosen]
        return reads, []


def plan(array: Array, request: Request) -> tuple[list[Page], list[Page]]:
    """Return the pages that a request reads, and those that it writes."""
    if isinstance(array, Mirrors):
        return array.plan(request)
    reads: list[Page] = []
    writes: list[Page] = []
    for (stripe, row), touched in array.rows(request).items():
        if request.operation == "r":
            roles, written = read_row(array, stripe, touched), set[int]()
        else:
            roles = write_row(array, stripe, touched)
            written = {r for r in touched | set(range(array.parities)) if array.lives(stripe, r)}
        reads += [array.page_of(stripe, row, role) for role in sorted(roles)]
        writes += [array.page_of(stripe, row, role) for role in sorted(written)]
    return reads, writes


def survivors(array: Array, stripe: int) -> set[int]:
    """Return what tells all data of a row: those there, and a parity for each that is not."""
    data = range(array.parities, array.drives)
    living = {role for role in data if array.lives(stripe, role)}
    parities = [role for role in range(array.parities) if array.lives(stripe, role)]
    return living | set(parities[: len(data) - len(living)])


def read_row(array: Array, stripe: int, touched: set[int]) -> set[int]:
    """Return what a read of these roles reads."""
    if all(array.lives(stripe, role) for role in touched):
        return touched
    return survivors(array, stripe)


def counts_of_md(array: Array, stripe: int, touched: set[int]) -> tuple[int, int]:
    """Return what each way would read; a page that is not there counts for more than all drives."""
    modify = reconstruct = 0
    for role in range(array.drives):
        costs = 1 if array.lives(stripe, role) else 2 * array.drives
        is_parity = role < array.parities
        if role in touched or is_parity:
            modify += costs
        if role not in touched and not is_parity:
            reconstruct += costs
    return modify, reconstruct


def write_row_of_md(array: Array, stripe: int, touched: set[int]) -> set[int]:
    """Return what md reads before a write: drivers/md/raid5.c, `rmw_level` 1, an empty cache."""
    roles = set(range(array.drives))
    there = {role for role in roles if array.lives(stripe, role)}
    parities = set(range(array.parities))
    if not parities:
        return set()
    gone = roles - there
    # `need_this_block`: two are gone; one is written or parity, and of another old data are needed.
    if len(gone) == 2 and gone & (touched | parities) and gone - touched - parities:
        return there
    modify, reconstruct = counts_of_md(array, stripe, touched)
    if modify < reconstruct:
        return touched | parities
    return roles - parities - touched


def write_row(array: Array, stripe: int, touched: set[int]) -> set[int]:
    """Return what the simulator says that it reads before a write (docs/concepts/arrays.md)."""
    if not array.lost:
        return write_row_of_md(array, stripe, touched)
    parities = {role for role in range(array.parities) if array.lives(stripe, role)}
    others = set(range(array.parities, array.drives)) - touched
    if not parities or not others:
        return set()
    old_is_there = all(array.lives(stripe, role) for role in touched)
    others_are_there = all(array.lives(stripe, role) for role in others)
    ways = []
    if others_are_there:
        ways.append(others)
    if old_is_there:
        ways.append(touched | parities)
    # Of two that read as much the first is taken.
    return min(ways, key=len) if ways else survivors(array, stripe)


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    case: str
    array: Array
    requests: tuple[Request, ...]
    source: str
    rebuild: str = ""
    results: Mapping[str, float | str] = field(default_factory=dict)

    def cells(self) -> list[str]:
        """Return them in the order of `COLUMNS`."""
        array = self.array
        shown = {
            "case": self.case,
            "layout": array.layout,
            "drives": array.drives,
            "chunk_pages": array.chunk,
            "page_kib": array.page,
            "dies": array.dies,
            "lost": "|".join(map(str, array.lost)),
            "rebuild": self.rebuild,
            "requests": "|".join(request.text() for request in self.requests),
            **self.results,
            "source": self.source,
        }
        return [str(shown.get(column, "")) for column in COLUMNS.split(",")]


COLUMNS = (
    "case,layout,drives,chunk_pages,page_kib,dies,lost,rebuild,requests,drive,gap_us,rows,rebuilt_rows,"
    "reads,writes,md_reads,response_us,finish_us,finish_by_us,lost_pages,source"
)


def by_drive(array: Array, pages: list[Page]) -> str:
    """Return how many pages are of each drive."""
    drives = Counter(drive for drive, _ in pages)
    return "|".join(str(drives[drive]) for drive in range(array.drives))


def alone(case: str, array: Array, request: Request, source: str) -> Row:
    """Return the row of a request that meets idle drives."""
    reads, writes = plan(array, request)
    results: dict[str, float | str] = {
        "reads": by_drive(array, reads),
        "writes": by_drive(array, writes),
        "response_us": array.time(reads, writes),
    }
    if request.operation == "w" and array.parities:
        rows = array.rows(request).items()
        results["md_reads"] = sum(
            sum(array.lives(stripe, role) for role in write_row_of_md(array, stripe, touched))
            for (stripe, _), touched in rows
        )
    return Row(case, array, (request,), source, results=results)


def small_writes() -> Iterator[Row]:
    """Yield writes of 1, 2, ... units of a stripe: where md turns from one way to the other."""
    for layout, widths in (("raid5", (3, 4, 5, 6, 8, 11)), ("raid6", (4, 5, 6, 7, 8, 12))):
        for drives in widths:
            array = Array(layout, drives)
            for units in range(1, array.data + 1):
                yield alone("small_write", array, Request("w", 0, units), "md")


def long_writes() -> Iterator[Row]:
    """Yield writes with ragged ends, over units and stripes, with other chunks, pages and dies."""
    for layout, drives in (("raid5", 4), ("raid5", 6), ("raid6", 6), ("raid6", 9)):
        for chunk, page, dies in ((4, 4, 1), (16, 4, 4), (4, 16, 2), (1, 8, 1)):
            array = Array(layout, drives, chunk, page, dies)
            width = array.data * chunk
            for first, pages in ((chunk // 2, chunk), (width - 1, 2), (1, 2 * width)):
                yield alone("write", array, Request("w", first, pages), "md")


def degraded_reads() -> Iterator[Row]:
    """Yield reads of a unit, and of a stripe, of which nothing, one or two are lost."""
    for layout, drives, lost in (
        ("raid5", 3, (0,)),
        ("raid5", 5, (0,)),
        ("raid5", 9, (0,)),
        ("raid5", 5, (4,)),
        ("raid6", 4, (1,)),
        ("raid6", 6, (1,)),
        ("raid6", 6, (1, 2)),
        ("raid6", 6, (1, 5)),
        ("raid6", 6, (5, 0)),
        ("raid6", 10, (1, 2)),
    ):
        for chunk, page, dies in ((1, 4, 1), (4, 16, 2)):
            array = Array(layout, drives, chunk, page, dies, tuple(sorted(lost)))
            whole = array.data * chunk
            for name, sound in (("read", True), ("degraded_read", False)):
                state = replace(array, lost=()) if sound else array
                for pages in (chunk, whole):
                    yield alone(name, state, Request("r", 0, pages), "any data units' worth tells")


def degraded_writes() -> Iterator[Row]:
    """Yield writes of 1, 2, ... units of a stripe of which some are lost."""
    # P, Q, the first and the last data unit; -1 is the last role.
    lost_roles: dict[str, list[tuple[int, ...]]] = {
        "raid5": [(0,), (1,), (-1,)],
        "raid6": [(0,), (1,), (0, 1), (2,), (-1,), (2, -1), (0, -1), (1, 2)],
    }
    for layout, drives in (("raid5", 6), ("raid6", 8)):
        for roles in lost_roles[layout]:
            sound = Array(layout, drives)
            lost = tuple(sorted(sound.drive(0, role % drives) for role in roles))
            array = replace(sound, lost=lost)
            for units in range(1, array.data + 1):
                request = Request("w", 0, units)
                yield alone("degraded_write", array, request, "docs/concepts/arrays.md")


def controls() -> Iterator[Row]:
    """Yield RAID-0: nothing is read for a write."""
    for drives in (2, 3, 5):
        for chunk, dies in ((1, 1), (4, 2)):
            array = Array("raid0", drives, chunk, 4, dies)
            for operation in "rw":
                request = Request(operation, 1, 2 * drives * chunk)
                yield alone("control", array, request, "pages of each die")


def mirrored() -> Iterator[Row]:
    """Yield reads and writes of mirrors, sound ones and such that have lost drives."""
    for layout, drives, lost in (
        ("raid1", 2, (0,)),
        ("raid1", 3, (0, 2)),
        ("raid10-near-2", 4, (0, 3)),
        ("raid10-near-2", 5, (2,)),
        ("raid10-near-3", 5, (0, 1)),
        ("raid10-far-2", 4, (1, 3)),
        ("raid10-far-2", 5, (4,)),
        ("raid10-offset-2", 4, (1, 3)),
        ("raid10-offset-2", 5, (4,)),
        ("raid10-offset-3", 4, (0, 1)),
    ):
        for chunk, page, dies in ((1, 4, 1), (4, 16, 2)):
            for gone in ((), lost):
                array = Mirrors(layout, drives, chunk, page, dies, gone)
                for operation in "rw":
                    for first, pages in ((0, 1), (chunk, chunk), (1, 3 * drives * chunk)):
                        request = Request(operation, first, pages)
                        yield alone("mirrored", array, request, "md")


def steps_of_rebuild(array: Array, unit: int) -> Iterator[tuple[list[Page], list[Page]]]:
    """Yield what each step of a rebuild reads and writes: drive by drive, from the first page."""
    left = list(array.lost)
    while left:
        device = left[0]
        # What comes after it is still lost, what came before is there again.
        state = replace(array, lost=tuple(left))
        for first in range(0, array.drive_pages, unit):
            pages = range(first, min(first + unit, array.drive_pages))
            if isinstance(state, Mirrors):
                others = copied_from(state, device)
                yield [others[page] for page in pages], [(device, page) for page in pages]
                continue
            reads = [
                state.page_of(page // array.chunk, page % array.chunk, role)
                for page in pages
                for role in sorted(survivors(state, page // array.chunk))
            ]
            yield reads, [(device, page) for page in pages]
        left.pop(0)


def copied_from(array: Mirrors, device: int) -> dict[int, Page]:
    """Return the first copy that is there of each page of a drive."""
    found: dict[int, Page] = {}
    for page in range(array.chunks * array.piece):
        places = array.places(page)
        mine = [place for drive, place in places if drive == device]
        if mine:
            found[mine[0]] = array.living(page)[0]
    return found


def rebuilt(array: Array, unit: int, rate: int | None) -> Row:
    """Return the row of a rebuild on idle drives: `unit` pages a step, `rate` bytes a second."""
    interval = math.ceil(unit * array.page * KIB * 10**9 / rate) if rate else 0
    reads: list[Page] = []
    writes: list[Page] = []
    begin = end = 0
    first = True
    for read, written in steps_of_rebuild(array, unit):
        begin = 0 if first else max(begin + interval, end)
        first = False
        end = begin + 1000 * array.time(read, written)
        reads += read
        writes += written
    per_page = 1 if isinstance(array, Mirrors) else array.drives - array.parities
    if len(reads) != per_page * len(writes) or len(writes) != len(array.lost) * array.drive_pages:
        raise AssertionError((array, len(reads), len(writes)))
    results: dict[str, float | str] = {
        "reads": by_drive(array, reads),
        "writes": by_drive(array, writes),
        "finish_us": end / 1000,
    }
    limit = f"{unit * array.page}KiB at {rate or 'none'}"
    source = "steps x max(interval; read + program)"
    return Row("rebuild", array, (), source, limit, results)


def rebuilds() -> Iterator[Row]:
    """Yield rebuilds as fast as drives are, and as slow as they may be."""
    for layout, drives, lost in (
        ("raid5", 3, (1,)),
        ("raid5", 8, (0,)),
        ("raid6", 4, (3,)),
        ("raid6", 6, (2,)),
        ("raid6", 6, (1, 4)),
        ("raid6", 6, (4, 5)),
    ):
        for chunk, page, dies, unit in ((1, 4, 1, 1), (4, 4, 2, 16), (4, 16, 1, 20)):
            array = Array(layout, drives, chunk, page, dies, lost)
            for rate in (None, 2_000_000, 20_000_000):
                yield rebuilt(array, unit, rate)
    for layout, drives, lost in (
        ("raid1", 2, (0,)),
        ("raid1", 3, (0, 1)),
        ("raid10-near-2", 4, (0, 3)),
        ("raid10-near-2", 6, (5,)),
        ("raid10-far-2", 4, (1,)),
        ("raid10-far-3", 5, (0, 1)),
        ("raid10-offset-2", 5, (4,)),
    ):
        for chunk, page, dies, unit in ((1, 4, 1, 1), (4, 16, 2, 16)):
            for rate in (None, 2_000_000):
                yield rebuilt(Mirrors(layout, drives, chunk, page, dies, lost), unit, rate)


def most_work(array: Array, request: Request) -> int:
    """Return how long all dies work for a request at most, however much has been rebuilt."""
    states = [replace(array, lost=array.lost[done:]) for done in range(len(array.lost) + 1)]
    width = array.data * array.chunk
    first, last = request.first // width, (request.first + request.pages - 1) // width
    total = 0
    for stripe in range(first, last + 1):
        for row in range(array.chunk):
            mine = [
                page
                for page in range(request.first, request.first + request.pages)
                if page // width == stripe and page % array.chunk == row
            ]
            if mine:
                total += max(work_on_row(state, request.operation, mine) for state in states)
    return total


def work_on_row(array: Array, operation: str, pages: list[int]) -> int:
    """Return how long dies work for these pages of one row."""
    touched = {array.parities + page // array.chunk % array.data for page in pages}
    stripe = pages[0] // (array.data * array.chunk)
    if operation == "r":
        return READ_US * len(read_row(array, stripe, touched))
    written = [role for role in touched | set(range(array.parities)) if array.lives(stripe, role)]
    return READ_US * len(write_row(array, stripe, touched)) + PROGRAM_US * len(written)


def under_load() -> Iterator[Row]:
    """Yield rebuilds while the host reads and writes.

    They end no sooner than on idle drives, and no later than if they had waited for each of the
    host's page operations.
    """
    for layout, drives, lost in (("raid5", 5, (2,)), ("raid6", 6, (2,)), ("raid6", 6, (0, 1))):
        array = Array(layout, drives, 4, 4, 1, lost)
        idle = rebuilt(array, 16, None)
        requests = tuple(
            Request("r" if number % 3 else "w", 17 * number % 1000, 1 + number % 9, 1000 * number)
            for number in range(40)
        )
        earliest = float(idle.results["finish_us"])
        latest = earliest + sum(most_work(array, request) for request in requests)
        results = {"finish_us": earliest, "finish_by_us": latest}
        yield Row("rebuild_under_load", array, requests, "bounds", idle.rebuild, results)


def at_once() -> Iterator[Row]:
    """Yield requests that meet in a stripe, whose mean response is counted by hand."""
    sound = Array("raid5", 5, 4, 4, 4)
    lost = replace(sound, lost=(0,))
    small = READ_US + PROGRAM_US

    def row(array: Array, requests: list[tuple[str, int]], mean: float, source: str) -> Row:
        one = tuple(Request(operation, first, 1) for operation, first in requests)
        return Row("at_once", array, one, source, results={"response_us": mean})

    pair = [("r", 0), ("r", 1)]
    yield row(sound, pair, READ_US, "other dies")
    yield row(lost, pair, READ_US, "reads of lost data share their stripe")
    yield row(lost, [("r", 0), ("r", 0)], 1.5 * READ_US, "a die reads one page after the other")
    yield row(sound, [("w", 0), ("w", 1)], 1.5 * small, "a write has its stripe for itself")
    yield row(sound, [("w", 0), ("w", 17)], small, "stripes apart")
    mean = (small + READ_US) / 2
    yield row(sound, [("w", 0), ("r", 1)], mean, "a read that finds its data waits for nobody")
    mean = (2 * small + READ_US) / 2
    yield row(lost, [("w", 4), ("r", 1)], mean, "a read of lost data waits for a write")
    mean = (2 * READ_US + small) / 2
    yield row(lost, [("r", 1), ("w", 4)], mean, "a write waits for a read of lost data")


def under_random_reads() -> Iterator[Row]:
    """Yield drives under Poisson arrivals of reads of a page anywhere.

    The commands that a drive gets are a Poisson process, and each takes the same time: M/D/1. With
    one drive of RAID-5 lost the others get twice as many (Muntz, Lui: Performance Analysis of Disk
    Arrays Under Failure, VLDB 1990). With RAID-6 so does the drive behind it; each other is spared
    where it holds Q.
    """
    for layout, drives in (("raid5", 3), ("raid5", 5), ("raid6", 4), ("raid6", 7)):
        for load in (0.3, 0.5):
            array = Array(layout, drives, lost=(1,))
            gap = 2 / drives * READ_US / load
            spared = -1 / array.data if layout == "raid6" else 0
            for drive, rate in ((2, 2.0), (0, 2.0 + spared)):
                busy = load * rate / 2
                response = READ_US + busy * READ_US / (2 * (1 - busy))
                results: dict[str, float | str] = {
                    "drive": drive,
                    "gap_us": f"{gap:.6f}",
                    "response_us": f"{response:.6f}",
                }
                yield Row("random_reads", array, (), "M/D/1", results=results)


def second_losses() -> Iterator[Row]:
    """Yield what is lost with a second drive while the first is rebuilt.

    Of a row that is not rebuilt, RAID-5 loses what both hold, which is one page where either holds
    P: in all 2 / drives of the data in such rows.
    """
    for layout, drives in (("raid5", 3), ("raid5", 5), ("raid5", 8), ("raid6", 4), ("raid6", 7)):
        array = Array(layout, drives, 4, lost=(1,))
        # Whole rounds of P, so that the share is exact.
        rows = drives * array.chunk * 2
        for done in (0, rows // 2, rows):
            lost = 0
            for row in range(done, rows):
                holds = [role for role in range(drives) if array.drive(row // 4, role) in (1, 2)]
                lost += sum(role >= array.parities for role in holds) if array.parities == 1 else 0
            if array.parities == 1 and lost * drives != (rows - done) * array.data * 2:
                raise AssertionError((array, done, lost))
            results = {"rows": rows, "rebuilt_rows": done, "lost_pages": lost}
            yield Row(
                "second_loss", array, (), "2 / drives of what is not rebuilt", results=results
            )


def main() -> None:
    """Count and store."""
    families = (
        small_writes,
        long_writes,
        degraded_reads,
        degraded_writes,
        controls,
        mirrored,
        rebuilds,
        under_load,
        at_once,
        under_random_reads,
        second_losses,
    )
    with STORED.open("w", newline="", encoding="utf-8") as file:
        file.write(HEADER)
        file.write(COLUMNS + "\n")
        table = csv.writer(file, lineterminator="\n")
        for family in families:
            table.writerows(row.cells() for row in family())


if __name__ == "__main__":
    main()
