"""What a mapping table in flash costs, and what a little RAM takes of it (decision 23)."""

from __future__ import annotations

from typing import Any

import pytest

import copyback
from copyback.words import console
from terminal import printed

DRIVE: dict[str, Any] = {
    "ssd": {
        "geometry": {
            "channels": 2,
            "chips_per_channel": 1,
            "dies_per_chip": 2,
            "planes_per_die": 2,
            "blocks_per_plane": 256,
            "pages_per_block": 64,
            "page_size": "4KiB",
        },
        "ftl": {"over_provisioning": 0.28},
        "gc": {"victim": "fifo"},
    },
    "precondition": {"fill": 1.0, "overwrites": 1.0},
    "workload": {
        "type": "synthetic",
        "requests": 20_000,
        "request_size": "4KiB",
        "read_share": 0.0,
        "inter_arrival": "2ms",
    },
}


def write_amplification(**mapping: str) -> float:
    amplified = copyback.run(DRIVE, ssd__ftl__mapping=mapping).write_amplification
    assert amplified is not None
    return amplified


@pytest.fixture(scope="module")
def in_ram() -> float:
    return write_amplification(type="page")


def test_the_oldest_blocks_and_a_table_in_flash_feed_each_other(in_ram: float) -> None:
    # Each moved page makes a page of the table out of date, which is written and calls for more
    # collections.
    assert write_amplification(type="demand_paged") > 3 * in_ram


def test_changed_entries_that_may_wait_end_it(in_ram: float) -> None:
    assert write_amplification(type="demand_paged", unwritten="64KiB") < 1.2 * in_ram


def test_segments_need_them_too_and_are_written_for_one_entry_each(in_ram: float) -> None:
    segments = {"type": "demand_paged", "unit": "segment", "cache": "128KiB"}
    waiting = write_amplification(**segments, unwritten="64KiB")
    assert waiting < write_amplification(**segments) / 2
    assert waiting > 1.5 * in_ram


def test_more_room_to_wait_means_fewer_pages_of_the_table() -> None:
    sizes = ["0B", "2KiB", "8KiB", "32KiB", "128KiB"]
    amplified = [write_amplification(type="demand_paged", unwritten=size) for size in sizes]
    assert amplified == sorted(amplified, reverse=True)


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"unit": "segment", "cache": "2KiB"}, "at least one translation page of 4KiB"),
        ({"unwritten": "4B"}, "0B, or at least one entry of 8B"),
        ({"unit": "page"}, "entry"),
    ],
)
def test_sizes_that_hold_nothing_are_refused(mapping: dict[str, str], said: str) -> None:
    with pytest.raises(copyback.InputError, match=said):
        write_amplification(type="demand_paged", **mapping)


def test_notes_that_were_read_before_the_run_are_not_printed_again() -> None:
    mapping = {"type": "demand_paged"}
    result = copyback.run(DRIVE, ssd__ftl__mapping=mapping, workload__requests=2_000)
    result.summary.notes = ["read before", "new"]
    shown = printed(console.overview(result, told=["read before"]))
    assert "Found in RAM".lower() in shown, "the table has cost nothing"
    assert "new" in shown
    assert "read before" not in shown
