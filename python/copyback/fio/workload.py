"""Turns the jobs of a job file into a workload of a configuration."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.fio import values
from copyback.fio.addresses import address, has_map
from copyback.fio.amounts import amount
from copyback.fio.directions import READ, direction, order
from copyback.fio.files import layout
from copyback.fio.jobfile import read_sections
from copyback.fio.options import NOT_SIMULATED, WITHOUT_EFFECT
from copyback.fio.placement import placement, through_the_first
from copyback.fio.rates import pace
from copyback.fio.reader import Reader
from copyback.fio.scaling import note, scaled
from copyback.fio.sizes import (
    DEFAULT,
    common_size,
    in_sectors,
    least_size,
    of_range,
    of_those_used,
    request_size,
)
from copyback.fio.steadystate import stop_of_jobs
from copyback.fio.thinking import thinktime
from copyback.fio.timing import Order, times
from copyback.fio.values import share_of
from copyback.inputs import configuration
from copyback.inputs.arguments import COUNT, PATH, check

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from copyback.fio.directions import Direction
    from copyback.fio.files import Stretch

#: Addresses and sizes are multiples of this.
SECTOR = 512


@dataclass(frozen=True)
class Job:
    """Job as its job file describes it.

    Attributes
    ----------
    workload
        The table ``workload`` of a configuration.
    seed
        The seed that it names; None if it names none.
    stop
        The table ``stop``; None if requests or times end the jobs.
    notes
        What is done otherwise than fio does it, and what has no effect.
    """

    workload: dict[str, Any]
    seed: int | None
    stop: dict[str, Any] | None
    notes: tuple[str, ...]


def settings_of_job(
    path: str | os.PathLike[str], capacity: int, handles: int | None = None, scale: int = 1
) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Return the settings that put a job file in place of the workload, and what is to be told."""
    job = read_job_file(path, capacity, handles, scale)
    # A choice of another type replaces the whole; one of the same type would only be laid over it.
    settings = [
        ("workload", '{ type = "trace" }'),
        ("workload", configuration.to_toml(job.workload)),
    ]
    if job.stop is not None:
        settings.append(("stop", configuration.to_toml(job.stop)))
    if job.seed is not None:
        settings.append(("seed", str(job.seed)))
    return settings, job.notes


def read_job_file(
    path: str | os.PathLike[str], capacity: int, handles: int | None = None, scale: int = 1
) -> Job:
    """Read a job file.

    Parameters
    ----------
    path
        The file.
    capacity
        Of the device, in bytes: sizes in per cent are of it, and jobs without a size cover it.
    handles
        Placement handles that the device has; None if it goes by none.
    scale
        Times that the drive of the job file is larger than the device, which stands for it.

    Raises
    ------
    InputError
        With the file, the line, the option, what was found and what is allowed.
    """
    check(
        "read_job_file",
        path=(path, PATH),
        capacity=(capacity, COUNT),
        handles=(handles, COUNT.or_none()),
        scale=(scale, COUNT),
    )
    file = Path(path)
    large = capacity * scale
    jobs = _asking([Reader(section, large, file) for section in read_sections(file)])
    faults = [fault for job in jobs for fault in job.refused()]
    if faults:
        raise InputError("\n".join(dict.fromkeys(faults)))
    lie = layout(jobs, [least_size(_sizes_used(job)) for job in jobs], large)
    waits = Order()
    flows: list[dict[str, Any]] = []
    names: list[str] = []
    for number, job in enumerate(jobs):
        clones = job.whole("numjobs", 1, least=1)
        timing = times(job, waits.awaited(job))
        for clone in range(clones):
            stretch = lie.stretch(job, number, clone)
            flow = _flow(job, stretch, clone) | timing | placement(job, stretch, handles)
            flows.append(flow)
        names += [job.section.name] * clones
        waits.add(job, clones)
    through_the_first(flows)
    stop = stop_of_jobs(jobs, flows)
    if scale > 1:
        if stop is not None:
            raise jobs[0].fault(
                "ss", f"has rounds of some time; allowed: a scale of 1, not {scale}"
            )
        jobs[0].notes.insert(0, note(scale))
        flows = [scaled(flow, scale, capacity) for flow in flows]
    seeds = [job.whole("randseed") for job in jobs if "randseed" in job.options]
    workload = flows[0] if len(flows) == 1 else {"type": "flows", "flows": flows, "names": names}
    return Job(workload, seeds[0] if seeds else None, stop, tuple(_notes(jobs)))


def _asking(jobs: list[Reader]) -> list[Reader]:
    """Return the jobs that ask a drive for something, and tell of the others."""
    idle = [job for job in jobs if job.is_set("create_only")]
    asking = [job for job in jobs if not job.is_set("create_only")]
    if not asking:
        raise idle[0].fault("create_only", "lays out files and asks a drive for nothing")
    if idle:
        names = _some([job.section.name for job in idle])
        asking[0].notes.append(
            f"fio: jobs with create_only lay out files alone: left out ({names})"
        )
    return asking


def _notes(jobs: Sequence[Reader]) -> list[str]:
    """Return what is to be told about all jobs, the weightiest first."""
    notes = [note for job in jobs for note in [*_of_engine(job), *job.notes]]
    cached = [job.section.name for job in jobs if _may_be_cached(job)]
    if cached:
        notes.insert(
            0,
            "fio: the page cache before jobs without direct=1 is not simulated: each of their "
            f"requests reaches the drive ({_some(cached)})",
        )
    options = {name for job in jobs for name in job.options}
    left_out: dict[str, list[str]] = {}
    for name in sorted(options & NOT_SIMULATED.keys()):
        left_out.setdefault(NOT_SIMULATED[name], []).append(name)
    notes += [f"fio: not simulated: {', '.join(names)}: {what}" for what, names in left_out.items()]
    idle = sorted(options & WITHOUT_EFFECT)
    if idle:
        notes.append(f"fio: without effect in a simulation: {', '.join(idle)}")
    return list(dict.fromkeys(notes))


def _of_engine(job: Reader) -> list[str]:
    note = job.engine.note
    return [] if note is None else [f"fio: ioengine={job.text('ioengine')}: {note}"]


def _may_be_cached(job: Reader) -> bool:
    """Whether fio would go through the page cache: unless a job says otherwise, it does."""
    if not job.engine.may_be_cached or job.is_set("direct"):
        return False
    return "buffered" not in job.options or job.is_set("buffered")


def _some(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    return (
        ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
    )


def _flow(job: Reader, stretch: Stretch, clone: int) -> dict[str, Any]:
    """Return the clone of a job that works on a stretch of the drive as a flow of requests."""
    _check_modes(job)
    asked = job.value("rw", direction, READ)
    read_share = _read_share(job, asked)
    sizes = _sizes_used(job)
    begin = job.begin(clone, least_size(sizes))
    if begin >= stretch.bytes:
        name = "offset_increment" if clone and "offset_increment" in job.options else "offset"
        raise job.fault(
            name, f"found {begin} bytes; allowed: less than the {stretch.bytes} there are"
        )
    size = job.extent("size", job.extent("filesize", stretch.bytes - begin))
    if job.is_share("size"):
        size = min(size, stretch.bytes - begin)
    if not 0 < size <= stretch.bytes - begin:
        found = f"{begin} + {size} bytes of a device of {stretch.bytes}"
        raise job.fault("size", f"found {found}; allowed: what fits into it")
    if size < least_size(sizes):
        problem = f"found {size} bytes; allowed: at least a request, {least_size(sizes)}"
        raise job.fault("size", problem)
    skip = _skip(job, asked)
    random = {"address": address(job, sizes)} if asked.is_random else {}
    is_mapped = asked.is_random and has_map(random["address"])
    first = stretch.start + begin
    alignment = _alignment(job, asked, sizes, skip, None if asked.is_random else first, is_mapped)
    unit = int(alignment.get("alignment", sizes).removesuffix("B"))
    if unit > size:
        raise job.fault("ba", f"found {unit} bytes; allowed: at most those of the file, {size}")
    if first % unit:
        # Random requests are multiples of their size from the start of the drive.
        job.notes.append(
            f"fio: random requests are at multiples of {unit} bytes of the drive: those from "
            f"{begin} on begin {unit - first % unit} bytes later"
        )
        first += unit - first % unit
        size = min(size, stretch.start + stretch.bytes - first)
    requests = pace(job, asked, read_share, sizes)
    flow: dict[str, Any] = {
        "type": "synthetic",
        **amount(job, size, sizes, in_passes=is_mapped or not asked.is_random),
        "request_size": sizes,
        "read_share": read_share,
        "trim_share": asked.trim_share,
        **order(asked, job.value("percentage_random", values.per_cent, 1.0)),
        "offset": share_of(first // unit, job.capacity // unit),
        "footprint": share_of(size // unit, job.capacity // unit),
        **alignment,
        **_flushes(job),
        **random,
        **requests,
        **thinktime(job, requests),
    }
    if skip:
        flow["sequential_skip"] = skip
    if asked.trims_first:
        flow["trim_before_write"] = True
    return flow


def _check_modes(job: Reader) -> None:
    """Refuse commands and orders that are none of reads, writes, trims and flushes in sequence."""
    allowed = {
        "write_mode": "write",
        "sg_write_mode": "write",
        "rw_sequencer": "sequential",
    }
    for name, mode in allowed.items():
        found = job.text(name)
        if found not in {None, mode}:
            raise job.fault(name, f"found {found}; allowed: {mode}")


def _sizes(job: Reader) -> Any:
    if "bsrange" in job.options:
        sizes = job.value("bsrange", of_range, DEFAULT)
    else:
        sizes = job.value("bssplit", request_size, job.value("bs", request_size, DEFAULT))
    if not _may_be_cached(job) or common_size(sizes) % SECTOR == 0:
        return sizes
    job.notes.append(
        f"fio: sizes are rounded up to whole sectors of {SECTOR} bytes, as the page cache takes "
        "any and a drive does not"
    )
    return in_sectors(sizes, SECTOR)


def _sizes_used(job: Reader) -> Any:
    """Return the sizes of the operations that the job asks for."""
    return of_those_used(_sizes(job), _read_share(job, job.value("rw", direction, READ)))


def _read_share(job: Reader, asked: Direction) -> float:
    if asked.read_share is not None:
        return asked.read_share
    if job.last_of("rwmixread", "rwmixwrite") == "rwmixwrite":
        return 1.0 - job.value("rwmixwrite", values.per_cent, 0.5)
    return job.value("rwmixread", values.per_cent, 0.5)


def _alignment(
    job: Reader,
    asked: Direction,
    sizes: Any,
    skip: Mapping[str, Any],
    first: int | None,
    has_map: bool,
) -> dict[str, Any]:
    """Return what offsets and sizes are multiples of; sequential ones begin at `first`.

    fio aligns random offsets to the smallest size, or to `ba`; with a map, to what is common to all
    sizes here. A fixed size that offsets are multiples of needs no word: that is what a workload
    does by itself.
    """
    least, unit = least_size(sizes), common_size(sizes)
    if unit % SECTOR:
        name = next(name for name in ("bsrange", "bssplit", "bs") if name in job.options)
        text = job.text(name) or ""
        units = " (Ki is 1,000 for fio, and k 1,024)" if "i" in text.lower() else ""
        raise job.fault(name, f"found {text}{units}; allowed: multiples of {SECTOR} bytes")
    skipped = [int(skip[key].removesuffix("B")) for key in ("bytes", "every") if key in skip]
    is_free = asked.is_random and not has_map
    offsets = gcd(job.value("ba", values.size, least) if is_free else unit, *skipped, first or 0)
    if offsets % SECTOR:
        odd = [
            name
            for name in ("ba", "zonesize", "zonerange", "zoneskip")
            if job.value(name, values.size, 0) % SECTOR
        ]
        culprit = odd[0] if odd else "rw"
        raise job.fault(culprit, f"found {job.text(culprit)}; allowed: multiples of {SECTOR} bytes")
    if isinstance(sizes, str) and offsets == least:
        return {}
    keys = {"alignment": f"{offsets}B"}
    parts = gcd(unit, offsets)
    if parts != offsets:
        keys["size_alignment"] = f"{parts}B"
    return keys


def _skip(job: Reader, asked: Direction) -> dict[str, Any]:
    """Return what lies between sequential requests: ``rw=read:8k``, or ``zonemode=strided``."""
    mode = job.text("zonemode")
    if mode == "strided":
        return _zones(job, asked)
    if mode not in {None, "none"}:
        raise job.fault("zonemode", f"found {mode}; allowed: none, strided")
    for name in ("zonesize", "zonerange", "zoneskip"):
        if name in job.options:
            raise job.fault(name, "needs zonemode=strided")
    if not asked.skip:
        return {}
    kind = "forward" if asked.skip > 0 else "backward"
    return {"type": kind, "bytes": f"{abs(asked.skip)}B"}


def _zones(job: Reader, asked: Direction) -> dict[str, Any]:
    if asked.is_random or asked.skip:
        raise job.fault(
            "zonemode", "found strided with random or spaced requests; allowed: neither"
        )
    size = job.value("zonesize", values.size, 0)
    if size == 0:
        raise job.fault("zonesize", "is needed above 0 with zonemode=strided")
    reach = job.value("zonerange", values.size, size)
    if reach < size:
        raise job.fault("zonerange", f"found {reach} bytes; allowed: zonesize, {size}, or more")
    skipped = reach - size + job.value("zoneskip", values.size, 0)
    if skipped == 0:
        return {}
    return {"type": "forward", "bytes": f"{skipped}B", "every": f"{size}B"}


def _flushes(job: Reader) -> dict[str, Any]:
    """Return the flushes between writes, of ``fsync`` or ``fdatasync``."""
    for name in ("fsync", "fdatasync"):
        writes = job.whole(name)
        if writes:
            return {"flush_every": writes}
    return {}
