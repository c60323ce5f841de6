"""Places of files on the drive: one after the other, unless jobs share one or name a device."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from copyback.fio.reader import Reader

#: Files begin at multiples of this.
ALIGNMENT = 1 << 20

#: What names of files are parted by; fio takes a colon behind a backslash for a part of a name.
_BETWEEN = re.compile(r"(?<!\\):")


@dataclass(frozen=True)
class Stretch:
    """Bytes of the drive that a job has for itself, or shares."""

    start: int
    bytes: int


@dataclass
class Layout:
    """Begin and length of each file; a file that is not here is the whole device."""

    files: dict[Hashable, Stretch]
    capacity: int

    def stretch(self, job: Reader, number: int, clone: int) -> Stretch:
        """Return where the clone of a job works."""
        return self.files.get(_file(job, number, clone), Stretch(0, self.capacity))


def layout(jobs: Sequence[Reader], blocks: Sequence[int], capacity: int) -> Layout:
    """Lay the files of jobs on a drive; each begins at a multiple of the `blocks` of its jobs.

    Raises
    ------
    InputError
        If there are several and they do not fit.
    """
    _check_devices(jobs)
    sizes: dict[Hashable, int] = {}
    units: dict[Hashable, int] = {}
    for number, job in enumerate(jobs):
        for clone in range(job.whole("numjobs", 1, least=1)):
            file, needed = _file(job, number, clone), _needed(job, clone)
            if file is not None and needed is not None:
                sizes[file] = max(sizes.get(file, 0), needed)
                units[file] = lcm(units.get(file, ALIGNMENT), blocks[number])
    starts: dict[Hashable, Stretch] = {}
    end = 0
    for file, size in sizes.items():
        start = -(-end // units[file]) * units[file]
        starts[file] = Stretch(start, size)
        end = start + size
    if len(starts) < 2:
        return Layout({}, capacity)
    if end > capacity:
        problem = (
            f"found {len(starts)} files of {end} bytes in all; allowed: at most the device's "
            f"{capacity}, or one filename for jobs that share a file"
        )
        raise jobs[0].fault("size", problem)
    jobs[0].notes.append(f"fio: {len(starts)} files lie one after the other on the drive")
    return Layout(starts, capacity)


def _check_devices(jobs: Sequence[Reader]) -> None:
    """Refuse jobs that work on several devices, as one drive is simulated."""
    first: str | None = None
    for job in jobs:
        named = _BETWEEN.split(job.text("filename") or "") if job.engine.has_files else []
        for name in named:
            if name.startswith("/dev/"):
                first = first or name
                if name != first:
                    problem = f"found {name} beside {first}; allowed: one device, the drive"
                    raise job.fault("filename", problem)


def _file(job: Reader, number: int, clone: int) -> Hashable | None:
    """Return what tells a file from others; None if the job works on a device."""
    if not job.engine.has_files or job.is_set("fill_device"):
        return None
    options = job.options
    if "filename_format" in options:
        return (number, clone)
    name = options.get("filename")
    if name is None:
        return (number, clone)
    if (name.text or "").startswith("/dev/"):
        return None
    directory = options.get("directory")
    return (directory.text if directory else None, name.text)


def _needed(job: Reader, clone: int) -> int | None:
    """Return how long a job's file must be; None if the job does not say."""
    size = job.options.get("size", job.options.get("filesize"))
    if size is None or "%" in (size.text or ""):
        return None
    begin = job.begin(clone)
    return max(begin + job.extent("size", 0), job.extent("filesize", 0))
