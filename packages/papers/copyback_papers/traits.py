"""Traits of a workload that decide how collections meet it: bursts, runs, coverage, planes.

A workload is a table of requests in the order of their arrival, with the columns ``arrival_ns``,
``operation``, ``offset``, ``bytes`` and perhaps ``device``: what ``copyback trace convert`` writes
as Parquet. Trims and flushes do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

MILLISECOND = 1_000_000

#: Page of the footprint, in bytes.
PAGE = 4096

#: Page and number of planes of the drive of pagc-2016, over which shares of planes are counted.
DRIVE_PAGE, PLANES = 8192, 256

MIB = 1024**2


@dataclass(frozen=True)
class Bursts:
    """Burstiness of arrivals.

    Attributes
    ----------
    per_second
        Mean rate.
    within_5ms, within_50ms, within_1s
        Rate within this time after an arrival, in units of the mean rate.
    gaps_under_1ms
        Share of the gaps that are shorter, 0 to 1.
    """

    per_second: float
    within_5ms: float
    within_50ms: float
    within_1s: float
    gaps_under_1ms: float


@dataclass(frozen=True)
class Places:
    """Addresses of the requests.

    Attributes
    ----------
    touched_mib, written_mib
        Pages of 4 KiB that some request touches, and that one writes.
    run
        Mean number of requests in a run: each starts where the one before it of its kind, on its
        device, ended.
    busiest_planes
        Share of the page writes that goes to the busiest eighth of 256 planes, if pages of 8 KiB
        are dealt to them in turn: an eighth if all are alike.
    """

    touched_mib: float
    written_mib: float
    run: float
    busiest_planes: float


def bursts(requests: pl.DataFrame) -> Bursts:
    """Return how bursty requests arrive."""
    arrivals = _counted(requests)["arrival_ns"].to_numpy().astype(np.int64)
    gaps = np.diff(arrivals)
    return Bursts(
        per_second=_rate(arrivals) * 1e9,
        within_5ms=intensity(arrivals, 5 * MILLISECOND),
        within_50ms=intensity(arrivals, 50 * MILLISECOND),
        within_1s=intensity(arrivals, 1000 * MILLISECOND),
        gaps_under_1ms=float(np.mean(gaps < MILLISECOND)),
    )


def places(requests: pl.DataFrame) -> Places:
    """Return where requests go."""
    counted = _counted(requests)
    writes = counted.filter(pl.col("operation") == "write")
    return Places(
        touched_mib=len(np.unique(_pages(counted, PAGE))) * PAGE / MIB,
        written_mib=len(np.unique(_pages(writes, PAGE))) * PAGE / MIB,
        run=_run(counted),
        busiest_planes=_busiest(_pages(writes, DRIVE_PAGE) % PLANES),
    )


def intensity(arrivals: NDArray[np.int64], within_ns: int) -> float:
    """Return the rate within a time after an arrival, in units of the mean rate.

    Parameters
    ----------
    arrivals
        In nanoseconds, ascending.

    >>> round(intensity(np.arange(0, 100_000, 10), 100), 3)  # ten follow each but the last
    0.999
    """
    followers = np.searchsorted(arrivals, arrivals + within_ns, side="right")
    mean = float(np.mean(followers - np.arange(1, len(arrivals) + 1)))
    return mean / (_rate(arrivals) * within_ns)


def _rate(arrivals: NDArray[np.int64]) -> float:
    """Return the mean rate in arrivals a nanosecond."""
    return len(arrivals) / float(arrivals[-1] - arrivals[0])


def _counted(requests: pl.DataFrame) -> pl.DataFrame:
    return requests.filter(pl.col("operation").is_in(["read", "write"])).sort(
        "arrival_ns", maintain_order=True
    )


def _pages(requests: pl.DataFrame, page: int) -> NDArray[np.int64]:
    """Return the number of each page that each request touches."""
    first: NDArray[np.int64] = requests["offset"].to_numpy().astype(np.int64) // page
    ends = (requests["offset"] + requests["bytes"]).to_numpy().astype(np.int64)
    many = (ends - 1) // page - first + 1
    before: NDArray[np.int64] = np.repeat(np.cumsum(many) - many - first, many)
    return np.arange(many.sum()) - before


def _run(requests: pl.DataFrame) -> float:
    kind = [name for name in ("device", "operation") if name in requests.columns]
    ended = (pl.col("offset") + pl.col("bytes")).shift(1).over(kind)
    follows = requests.select((pl.col("offset") == ended).fill_null(value=False).sum()).item()
    return requests.height / (requests.height - int(follows))


def _busiest(planes: NDArray[np.int64]) -> float:
    counts = np.sort(np.bincount(planes, minlength=PLANES))[::-1]
    return float(counts[: PLANES // 8].sum() / max(counts.sum(), 1))
