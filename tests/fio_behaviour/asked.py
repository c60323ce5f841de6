"""Demands of each job of a file, one a clone (``numjobs``): fio's HOWTO, with its defaults."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm
from typing import TYPE_CHECKING

from fio_behaviour import jobfile, values

if TYPE_CHECKING:
    from pathlib import Path

OPERATIONS = ("read", "write", "trim")

#: Engines whose calls return when the request has ended (HOWTO, "ioengine").
_SYNCHRONOUS = frozenset(
    [
        "sync",
        "psync",
        "vsync",
        "pvsync",
        "pvsync2",
        "mmap",
        "splice",
        "dev-dax",
        "libpmem",
        "pmemblk",
    ]
)

#: Engines that drive a device and no file, whatever the file is called.
_WITHOUT_FILES = frozenset(
    [
        "io_uring_cmd",
        "sg",
        "libblkio",
        "xnvme",
        "spdk",
        "spdk_bdev",
        "nbd",
        "libiscsi",
        "rbd",
        "null",
        "cpp_null",
    ]
)

MIB = 1 << 20

#: Of sizes in bytes, how often each is asked for.
Sizes = dict[int, float]


@dataclass(frozen=True)
class Rate:
    """Most of one operation in a second: requests, or bytes."""

    per_second: float
    in_bytes: bool


@dataclass(frozen=True)
class Pause:
    """A pause of so many ns after so many requests."""

    time_ns: int
    blocks: int


@dataclass(frozen=True)
class Asked:
    """Demands of one clone of a job. Times are in ns, sizes in bytes."""

    name: str
    start: int
    length: int
    kind: str
    run: int
    skip: int
    zone: int | None
    random_share: float
    distribution: str
    has_map: bool
    align: int
    sizes: dict[str, Sizes]
    shares: dict[str, float]
    depth: int
    rates: dict[str, Rate]
    is_poisson: bool
    is_open_loop: bool
    most_bytes: int
    most_requests: int | None
    is_endless: bool
    runtime_ns: int | None
    ramp_ns: int
    delay_ns: int
    awaited: tuple[int, ...]
    pause: Pause | None
    flush_every: int
    is_steady: bool

    @property
    def is_random(self) -> bool:
        """Whether requests start anywhere."""
        return self.kind.startswith("rand")

    @property
    def trims_first(self) -> bool:
        """Whether each write comes after a trim of its bytes."""
        return self.kind.endswith("trimwrite")

    @property
    def all_sizes(self) -> set[int]:
        """Sizes of any operation."""
        return {size for sizes in self.sizes.values() for size in sizes}


def read(path: Path, capacity: int) -> list[Asked]:
    """Return what the jobs of a file ask a drive of so many bytes for."""
    jobs = jobfile.read(path)
    places = _places(jobs, capacity)
    found: list[Asked] = []
    wall: list[int] = []
    by_name: dict[str, list[int]] = {}
    for number, job in enumerate(jobs):
        if "stonewall" in job.options and values.flag(job.options["stonewall"]):
            wall = list(range(len(found)))
        named = by_name.get(job.options.get("wait_for") or "", [])
        awaited = tuple(sorted({*wall, *named}))
        for clone in range(_clones(job)):
            by_name.setdefault(job.name, []).append(len(found))
            start, length = places[number, clone]
            found.append(_Reading(job, capacity).asked(start, length, clone, awaited))
    return found


def _clones(job: jobfile.Job) -> int:
    return int(job.options.get("numjobs") or 1)


def _places(jobs: list[jobfile.Job], capacity: int) -> dict[tuple[int, int], tuple[int, int]]:
    """Return where the file of each clone begins and ends: docs/guide/fio.md, "filename"."""
    needed: dict[object, int] = {}
    units: dict[object, int] = {}
    files: dict[tuple[int, int], object] = {}
    for number, job in enumerate(jobs):
        for clone in range(_clones(job)):
            file = _file(job, number, clone)
            size = _Reading(job, capacity).file_size(clone)
            if file is not None and size is not None:
                files[number, clone] = file
                needed[file] = max(needed.get(file, 0), size)
                units[file] = lcm(units.get(file, MIB), _Reading(job, capacity).block())
    starts: dict[object, int] = {}
    end = 0
    for file, size in needed.items():
        starts[file] = -(-end // units[file]) * units[file]
        end = starts[file] + size
    whole = {
        (number, clone): (0, capacity)
        for number, job in enumerate(jobs)
        for clone in range(_clones(job))
    }
    if len(needed) < 2:
        return whole
    return whole | {who: (starts[file], needed[file]) for who, file in files.items()}


def _file(job: jobfile.Job, number: int, clone: int) -> object:
    options = job.options
    if options.get("ioengine") in _WITHOUT_FILES or "fill_device" in options:
        return None
    name = options.get("filename")
    if name is None or "filename_format" in options:
        return (number, clone)
    return None if name.startswith("/dev/") else (options.get("directory"), name)


class _Reading:
    """Reads the options of one job."""

    def __init__(self, job: jobfile.Job, capacity: int) -> None:
        self._job = job
        self._options = job.options
        self._capacity = capacity

    def file_size(self, clone: int) -> int | None:
        """Return how long the file must be; None if the job does not say."""
        size, filesize = self._number("size"), self._number("filesize")
        text = self._text("size") if size else self._text("filesize")
        if not text or text.endswith("%"):
            return None
        return max(self._begin(clone) + size, filesize)

    def block(self) -> int:
        """Return the smallest size of a request."""
        sizes = self._sizes()
        kind = (self._text("rw") or "read").partition(":")[0].strip()
        return min(size for operation in self._shares(kind) for size in sizes[operation])

    def asked(self, start: int, length: int, clone: int, awaited: tuple[int, ...]) -> Asked:
        begin = self._begin(clone)
        size = self._number("size") or self._number("filesize") or length - begin
        if (self._text("size") or "").endswith("%"):
            size = min(size, length - begin)
        kind, _, modifier = (self._text("rw") or "read").partition(":")
        kind = kind.strip()
        sizes = self._sizes()
        shares = self._shares(kind)
        used = {size for operation in shares for size in sizes[operation]}
        least = min(used)
        runtime = self._time("runtime") or None
        is_random = kind.startswith("rand")
        align = values.size(self._text("ba") or "0") or least
        text = self._text("random_distribution") or "random"
        has_map = (
            is_random and text == "random" and align == least and not self._flag("norandommap")
        )
        is_shift_register = self._text("random_generator") == "lfsr"
        if is_random and text == "random" and is_shift_register:
            has_map = len(used) == 1
        if has_map and len(used) > 1:
            # A request ends before what a pass has covered, so sizes have this in common.
            align = gcd(*used)
        first = start + begin
        if is_random:
            # Multiples are those of the drive (docs/guide/fio.md).
            first = -(-first // align) * align
            size = min(size, start + length - first)
        loops = int(self._text("loops") or 1)
        rates = self._rates()
        return Asked(
            name=self._job.name,
            start=first,
            length=size,
            kind=kind,
            run=int(modifier) if is_random and modifier else 1,
            skip=self._skip(kind, modifier),
            zone=self._zone(),
            random_share=float(self._text("percentage_random") or 100) / 100,
            distribution=text,
            has_map=has_map,
            align=align,
            sizes={operation: sizes[operation] for operation in shares},
            shares=shares,
            depth=self._depth(),
            rates={operation: rates[operation] for operation in shares if operation in rates},
            is_poisson=self._text("rate_process") == "poisson",
            is_open_loop=bool(rates) and self._text("io_submit_mode") == "offload",
            most_bytes=(values.extent(self._text("io_size") or "0", size) or size) * loops,
            most_requests=values.size(self._text("number_ios") or "0") * loops or None,
            is_endless=self._flag("time_based") and runtime is not None,
            runtime_ns=runtime,
            ramp_ns=self._time("ramp_time"),
            delay_ns=self._time("startdelay"),
            awaited=awaited,
            pause=self._pause(),
            flush_every=int(self._text("fsync") or 0) or int(self._text("fdatasync") or 0),
            is_steady="ss" in self._options,
        )

    def _text(self, name: str) -> str | None:
        return self._options.get(name)

    def _flag(self, name: str) -> bool:
        return name in self._options and values.flag(self._options[name])

    def _number(self, name: str) -> int:
        return values.extent(self._text(name) or "0", self._capacity)

    def _time(self, name: str) -> int:
        return values.time_ns(self._text(name) or "0")

    def _begin(self, clone: int) -> int:
        """Return the offset; one in per cent is rounded up to the smallest size."""
        begin = self._number("offset") + clone * self._number("offset_increment")
        texts = [self._text(name) or "" for name in ("offset", "offset_increment")]
        if any(text.endswith("%") for text in texts):
            begin = -(-begin // self.block()) * self.block()
        return begin

    def _sizes(self) -> dict[str, Sizes]:
        """Return the sizes of each operation; through the page cache, in whole sectors."""
        split = self._text("bssplit")
        if "bsrange" in self._options:
            found = [_range(part) for part in values.by_operation(self._text("bsrange") or "")]
        elif split is not None:
            found = [_split(part) for part in values.by_operation(split)]
        else:
            parts = values.by_operation(self._text("bs") or "4k")
            found = [{values.size(part or "4k"): 1.0} for part in parts]
        return {
            operation: _added((-(-size // 512) * 512, share) for size, share in sizes.items())
            for operation, sizes in zip(OPERATIONS, found, strict=True)
        }

    def _shares(self, kind: str) -> dict[str, float]:
        """Return which operations there are, and which share of the requests each is."""
        name = kind.removeprefix("rand")
        if name == "trimwrite":
            return {"trim": 0.5, "write": 0.5}
        if name not in {"rw", "readwrite"}:
            return {name: 1.0}
        reads = float(self._text("rwmixread") or 50) / 100
        return {name: share for name, share in (("read", reads), ("write", 1 - reads)) if share}

    def _depth(self) -> int:
        engine = self._text("ioengine") or "psync"
        return 1 if engine in _SYNCHRONOUS else int(self._text("iodepth") or 1)

    def _rates(self) -> dict[str, Rate]:
        for name in ("rate", "rate_iops"):
            parts = values.by_operation(self._text(name) or "0")
            found = {
                operation: Rate(values.size(part), name == "rate")
                for operation, part in zip(OPERATIONS, parts, strict=True)
                if part and values.size(part)
            }
            if found:
                return found
        return {}

    def _pause(self) -> Pause | None:
        time = values.time_ns(self._text("thinktime") or "0", "us")
        return Pause(time, int(self._text("thinktime_blocks") or 1)) if time else None

    def _skip(self, kind: str, modifier: str) -> int:
        """Return the bytes between a sequential request and that before it, or between zones."""
        if self._text("zonemode") == "strided":
            size = self._number("zonesize")
            return (self._number("zonerange") or size) - size + self._number("zoneskip")
        if kind.startswith("rand") or not modifier:
            return 0
        size = values.size(modifier.strip().removeprefix("-"))
        return -size if modifier.strip().startswith("-") else size

    def _zone(self) -> int | None:
        return self._number("zonesize") if self._text("zonemode") == "strided" else None


def _added(pairs: object) -> Sizes:
    found: Sizes = {}
    for size, share in pairs:  # type: ignore[attr-defined]
        found[size] = found.get(size, 0.0) + share
    return found


def _split(text: str) -> Sizes:
    """Return the sizes of ``4k/60:64k/40``, each cut to a multiple of the smallest."""
    if not text:
        return {4096: 1.0}
    pairs = [part.partition("/") for part in text.split(":")]
    said = [float(share) if share else None for _, _, share in pairs]
    rest = 100 - sum(share for share in said if share is not None)
    empty = said.count(None)
    shares = [(rest / empty if share is None else share) / 100 for share in said]
    sizes = [values.size(size) for size, _, _ in pairs]
    least = min(size for size, share in zip(sizes, shares, strict=True) if share)
    cut = [(size - size % least, share) for size, share in zip(sizes, shares, strict=True)]
    return _added((size, share) for size, share in cut if share)


def _range(text: str) -> Sizes:
    """Return the sizes of ``4k-12k``: fio adds up to the largest to the smallest, and cuts."""
    first, _, last = text.replace(":", "-").partition("-")
    least, most = values.size(first), values.size(last)
    if least == most:
        return {least: 1.0}
    cuts = [(size, least / most) for size in range(least, most + 1, least)]
    return _added([*cuts, (most, most % least / most)] if most % least else cuts)
