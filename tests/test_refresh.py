"""Blocks that are collected for the sake of their data, and reads that age."""

from __future__ import annotations

from typing import Any

import pytest

import copyback
from copyback.words import waits

#: 16 planes of 32 blocks of 16 pages, full; reads alone, one page each.
DRIVE: dict[str, Any] = {
    "ssd.geometry.blocks_per_plane": 32,
    "ssd.geometry.pages_per_block": 16,
    "precondition.fill": 1.0,
    "workload.type": "synthetic",
    "workload.requests": 40_000,
    "workload.request_size": "4KiB",
    "workload.read_share": 1.0,
    "workload.sequential_share": 0.0,
    "workload.inter_arrival": "1ms",
}


def test_as_many_blocks_are_reclaimed_as_reads_call_for() -> None:
    gc = copyback.run({}, **DRIVE, ssd__refresh__reads=10).summary.gc
    assert gc.refresh is not None
    # Each reclaim needs 10 reads; what it moves is not read over the channel, and counts as new.
    assert gc.refresh.read_reclaims <= 40_000 / 10
    assert gc.refresh.read_reclaims > 0.85 * 40_000 / 10
    assert gc.collections == 0
    # A block that is under way at the end (at most one a die and one of its pages' new block) is
    # counted as erased or as reclaimed only.
    assert abs(gc.erases - gc.refresh.read_reclaims) <= 16


def test_every_block_is_refreshed_once_in_the_time_that_it_may_become_old() -> None:
    ten_seconds = copyback.run({}, **DRIVE, ssd__refresh__age="10s").summary
    gc, simulated = ten_seconds.gc, ten_seconds.throughput.simulated_s
    assert gc.refresh is not None
    # 85% of 512 blocks hold data, and each is written anew every ten seconds.
    expected = 0.85 * 512 * simulated / 10
    assert gc.refresh.refreshes == pytest.approx(expected, rel=0.1)
    assert gc.refresh.read_reclaims == 0


def test_reads_take_longer_as_their_block_is_read_and_refreshing_ends_that() -> None:
    worse: dict[str, Any] = {
        "ssd.faults.disturbed_read_errors": {"share": 1.0, "reads": 200},
        "ssd.faults.retry_failures": 0.0,
    }

    def retried(**settings: Any) -> int:
        faults = copyback.run({}, **DRIVE, **worse, **settings).summary.faults
        assert faults is not None
        return sum(faults.read_retries)

    left_alone = retried()
    refreshed = retried(ssd__refresh__reads=20)
    # Of 40,000 reads the n-th of a block is retried with a chance of n in 200, some 92 a block.
    assert left_alone == pytest.approx(40_000 * 46 / 200, rel=0.1)
    assert refreshed == pytest.approx(40_000 * 10 / 200, rel=0.15)


def test_idle_dies_are_said_to_refresh_data() -> None:
    summary = copyback.run({}, **DRIVE, ssd__refresh__age="10s", metrics__idle_time=True).summary
    assert dict(waits.uses(summary))["refreshing data"] > 0


def test_a_run_without_any_of_this_says_nothing_of_it() -> None:
    summary = copyback.run({}, **DRIVE).summary
    assert summary.gc.refresh is None
    assert summary.faults is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"ssd.refresh.reads": 0}, "ssd.refresh.reads: found 0; allowed: 1 to 1e9"),
        ({"ssd.refresh.age": "0s"}, "ssd.refresh.age: found 0s; allowed: more than that"),
        (
            {"ssd.faults.aged_read_errors": {"share": 2, "age": "1d"}},
            "ssd.faults.aged_read_errors.share",
        ),
        ({"ssd.faults.disturbed_read_errors": {"share": 0.1}}, "reads"),
    ],
)
def test_limits_of_nothing_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(copyback.InputError, match=said):
        copyback.run({}, **DRIVE, **settings)
