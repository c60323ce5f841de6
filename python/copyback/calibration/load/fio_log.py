"""Logs of completion latencies as fio writes them, an entry a request."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from copyback._core import InputError
from copyback.calibration.load.table import QUANTILES, STATISTICS
from copyback.calibration.search.bench import OPERATIONS

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterator
    from pathlib import Path

#: Least and greatest number of fields of an entry: time, latency, direction, size, and what
#: options of fio add.
FIELDS = (4, 7)
#: Sizes in the entries of a window: 0, or the direction where both mean and maximum stand before.
SIZES_OF_WINDOWS = (0, 1, 2)
#: Most digits of a number, so that a latency fits into 64 bits.
DIGITS = 18
#: Nanoseconds of a microsecond.
US = 1e3


@dataclass
class Entries:
    """Requests of the logs of a job, in nanoseconds, and the milliseconds of first and last."""

    times: dict[str, array[int]] = field(default_factory=dict)
    first: int | None = None
    last: int | None = None

    @property
    def done(self) -> list[str]:
        """Return the operations that have entries."""
        return [name for name in OPERATIONS if name in self.times]

    @property
    def achieved(self) -> float | None:
        """Requests a second between the first and the last; None if no time is between them."""
        if self.first is None or self.last is None or self.first == self.last:
            return None
        count = sum(len(times) for times in self.times.values())
        return (count - 1) * 1e3 / (self.last - self.first)

    def add(self, milliseconds: int, nanoseconds: int, operation: str) -> None:
        """Add an entry."""
        if operation not in self.times:
            self.times[operation] = array("q")
        self.times[operation].append(nanoseconds)
        self.first = milliseconds if self.first is None else min(self.first, milliseconds)
        self.last = milliseconds if self.last is None else max(self.last, milliseconds)

    def latencies(self) -> Iterator[tuple[str, float]]:
        """Yield metrics and microseconds."""
        for name in self.done:
            times = np.sort(np.frombuffer(self.times[name], dtype=np.int64))
            for statistic in (*STATISTICS, *QUANTILES):
                value = times.mean() if statistic == "mean" else times[rank(statistic, len(times))]
                yield f"{name}_{statistic}", float(value) / US


def rank(statistic: str, count: int) -> int:
    """Return the place of a percentile among so many sorted values.

    It is the least value that the share of the values does not exceed.

    >>> rank("p50", 4), rank("p99_9", 1000), rank("p99_9", 1001)
    (1, 998, 999)
    """
    digits = statistic.removeprefix("p").replace("_", "")
    shares: int = 10 ** len(digits)
    return -(-count * int(digits) // shares) - 1


def read(path: Path, entries: Entries, digest: hashlib._Hash) -> None:
    """Add the entries of a log, and its bytes to a digest.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is no entry of a request.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                digest.update(line)
                entries.add(*_entry(line, f"{path}:{number}"))
    except OSError as fault:
        raise InputError(f"{path}: {fault}") from fault


def _entry(line: bytes, place: str) -> tuple[int, int, str]:
    """Return milliseconds, nanoseconds and the operation of an entry."""
    fields = line.split(b",")
    if not FIELDS[0] <= len(fields) <= FIELDS[1]:
        raise InputError(
            f"{place}: found {_shown(line)}; allowed: time, latency, direction, size, and up to "
            "three fields more, between commas"
        )
    time, latency, direction, size = (_number(one, line, place) for one in fields[:4])
    if size in SIZES_OF_WINDOWS:
        raise InputError(
            f"{place}: found {_shown(line)}, a mean or maximum over a time; allowed: entries of "
            "single requests (log_avg_msec=0), as percentiles of means are none of requests"
        )
    if direction >= len(OPERATIONS):
        raise InputError(f"{place}: direction: found {direction}; allowed: 0 (read) or 1 (write)")
    return time, latency, OPERATIONS[direction]


def _number(field: bytes, line: bytes, place: str) -> int:
    text = field.strip()
    if not (text.isdigit() and len(text) <= DIGITS):
        raise InputError(
            f"{place}: found {_shown(line)}; allowed: whole numbers of milliseconds, nanoseconds, "
            "direction and bytes"
        )
    return int(text)


def _shown(line: bytes) -> str:
    """Return the beginning of a line for a message."""
    return repr(line.decode("ascii", "replace").strip()[:60])
