"""Blocks in another cell mode that take the host's pages first: the cliff, and how it heals."""

from __future__ import annotations

from typing import Any

import pytest

import copyback
from copyback import report
from copyback.words import console
from terminal import printed

MIB = 1 << 20

#: 3.5 GiB of three bits a cell: a static cache of 64 MiB, and up to 576 MiB that are lent. A page
#: takes 75 us in the cache and 600 us beside it.
DRIVE: dict[str, Any] = {
    "seed": 1,
    "ssd.geometry.channels": 4,
    "ssd.geometry.chips_per_channel": 1,
    "ssd.geometry.planes_per_die": 2,
    "ssd.geometry.blocks_per_plane": 150,
    "ssd.geometry.pages_per_block": 192,
    "ssd.geometry.page_size": "16KiB",
    "ssd.timing.program": "600us",
    "ssd.timing.transfer_rate": "1200MB/s",
    "ssd.ftl.allocation": "dynamic",
    "ssd.ftl.over_provisioning": 0.15,
    "ssd.slc_cache.static": {"blocks": 8},
    "ssd.slc_cache.dynamic": {"blocks": 72},
    "ssd.slc_cache.timing": {"read": "20us", "program": "75us", "erase": "1500us"},
    "ssd.slc_cache.fold_after_idle": "100ms",
    "precondition.fill": 0.0,
    "workload.type": "synthetic",
    "workload.request_size": "128KiB",
    "workload.read_share": 0.0,
    "workload.sequential_share": 1.0,
    "workload.iodepth": 32,
    "metrics.interval": "50ms",
}


def sequential(megabytes: int, **settings: Any) -> copyback.Result:
    """Return a run that writes so much, one address after the other."""
    settings = {key.replace("__", "."): value for key, value in settings.items()}
    return copyback.run({}, **{**DRIVE, "workload.requests": megabytes * 8, **settings})


def rates(result: copyback.Result) -> list[float]:
    """Return the MiB a second of each row, the last one left out."""
    return [float(written) / 0.05 / MIB for written in result.series["write_bytes"].to_numpy()[:-1]]


def cliff(result: copyback.Result) -> float:
    """Return the MiB that are written until the rate falls below half of the first."""
    fast = rates(result)
    slow = next(index for index, rate in enumerate(fast) if rate < fast[1] / 2)
    return sum(fast[:slow]) * 0.05


def test_writes_fall_off_a_cliff_where_the_cache_is_full() -> None:
    result = sequential(1200)
    cache = result.summary.slc_cache
    assert cache is not None
    # What is lent shrinks as the drive fills, so it is less than the 640 MiB of an empty one.
    assert cache.written_bytes / MIB == pytest.approx(cliff(result), abs=60)
    assert 64 < cache.written_bytes / MIB < 640
    assert cache.written_bytes + cache.past_bytes == 1200 * MIB
    fast = rates(result)
    assert fast[1] / fast[-1] > 4


def test_a_fuller_drive_has_less_of_it_and_a_full_one_the_static_blocks_alone() -> None:
    written = []
    for fill in (0.0, 0.5, 0.8):
        cache = sequential(1000, precondition__fill=fill).summary.slc_cache
        assert cache is not None
        written.append(cache.written_bytes / MIB)
    assert written[0] > written[1] > written[2]
    # 8 blocks of 64 pages in each of 8 planes.
    assert written[2] == pytest.approx(64, abs=1)


def test_idle_time_gives_it_back() -> None:
    # Bursts of 64 MiB into the static cache of a drive that is 80% full, and quiet between them.
    open_loop = {key: value for key, value in DRIVE.items() if key != "workload.iodepth"}

    def written(quiet: str) -> float:
        bursts = {"type": "on_off", "on": "51.2ms", "off": quiet}
        changes: dict[str, Any] = {
            "precondition.fill": 0.8,
            "workload.requests": 1024,
            "workload.inter_arrival": "100us",
            "workload.bursts": bursts,
        }
        cache = copyback.run({}, **{**open_loop, **changes}).summary.slc_cache
        assert cache is not None
        return cache.written_bytes / MIB

    assert written("1ms") < 70
    assert written("10s") > 120


def test_pages_that_die_in_it_are_never_folded() -> None:
    # A hundredth of the drive, over and over: what is folded is a small part.
    few = sequential(
        640,
        precondition__fill=0.8,
        workload__sequential_share=0.0,
        workload__footprint=0.01,
        ssd__slc_cache__when_full="wait",
    ).summary
    cache = few.slc_cache
    assert cache is not None
    assert cache.past_bytes == 0
    assert cache.dead_bytes > 0.5 * cache.written_bytes
    assert cache.folded_bytes + cache.dead_bytes <= cache.written_bytes


def test_the_page_and_the_terminal_tell_of_it() -> None:
    result = sequential(100)
    assert "Written to the SLC cache" in report.render(result)
    assert "SLC cache" in printed(console.overview(result))
    without = {key: value for key, value in DRIVE.items() if "slc_cache" not in key}
    other = copyback.run({}, **without, workload__requests=100)
    assert other.summary.slc_cache is None
    assert "SLC cache" not in report.render(other)
    assert "slc_pages" not in other.series.columns
