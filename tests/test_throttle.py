"""Writes that are let in at a rate while the drive collects: what they wait, by a closed form."""

from __future__ import annotations

from typing import Any

import pytest

import copyback
from copyback import InputError

#: Time of a collection: lines hold no valid page, and all blocks of one are erased together.
COLLECTION_US = 10_000

#: Writes a second, and those that are let in while the drive collects.
OFFERED, ADMITTED = 100_000, 40_000

PAGE = 4096

CONFIG: dict[str, Any] = {
    "audit": True,
    "ssd": {
        "geometry": {
            "channels": 4,
            "chips_per_channel": 2,
            "dies_per_chip": 1,
            "planes_per_die": 1,
            "blocks_per_plane": 32,
            "pages_per_block": 32,
            "page_size": f"{PAGE}B",
        },
        "timing": {
            "read": "25us",
            "program": "50us",
            "erase": f"{COLLECTION_US}us",
            "command": "0s",
            "transfer_rate": "none",
        },
        "buffer": {"capacity": "64MiB", "high_watermark": 0.01, "low_watermark": 0.0},
        "ftl": {"over_provisioning": 0.3, "allocation": "dynamic"},
        "gc": {"unit": "line", "soft_threshold": {"blocks": 4}},
    },
    "precondition": {"fill": 1.0, "overwrites": 0.0},
    "workload": {
        "type": "synthetic",
        "request_size": f"{PAGE}B",
        "read_share": 0.0,
        "sequential_share": 1.0,
        "iodepth": 4096,
        "requests": 60_000,
        "rate": {"type": "requests", "gap": f"{1_000_000 // OFFERED}us"},
    },
}


def summary(throttle: Any) -> copyback.Summary:
    """Return the summary of the drive with one throttle."""
    return copyback.run(CONFIG, ssd__buffer__throttle=throttle).summary


def longest_us(admitted: float) -> float:
    """Return the longest wait: that of the write that comes as the collection ends."""
    return COLLECTION_US * (1 - admitted / OFFERED)


@pytest.fixture(scope="module")
def let_in() -> copyback.Summary:
    """Return the summary of the drive that lets writes in at a set rate."""
    return summary({"type": "set_rate", "rate": f"{ADMITTED * PAGE}B/s"})


def longest(found: copyback.Summary) -> float:
    """Return the longest response of a write, in microseconds."""
    write = found.response_us.write
    assert write is not None
    assert write.max is not None
    return write.max


def test_the_longest_wait_is_the_collections_time_by_one_less_the_share_let_in(
    let_in: copyback.Summary,
) -> None:
    assert let_in.gc.pages_moved == 0
    assert longest(let_in) == pytest.approx(longest_us(ADMITTED), rel=0.01)


def test_a_share_of_the_rate_that_writes_had_lets_in_that_share() -> None:
    found = summary({"type": "recent_rate", "share": 0.5, "window": "100ms"})
    # A window ends in the middle of a collection, and has some writes more or less.
    assert longest(found) == pytest.approx(longest_us(0.5 * OFFERED), rel=0.05)


def test_what_writes_wait_is_due_to_collections(let_in: copyback.Summary) -> None:
    """Nothing else delays writes: there is room, and dies have time. Placing a page takes 1 us."""
    parts = let_in.breakdown_us
    assert (parts.buffer, parts.gc_same_plane, parts.queue_behind_io) == (1.0, 0.0, 0.0)
    assert parts.late > 1000
    assert longest(summary("none")) == 1


@pytest.mark.parametrize(
    ("throttle", "message"),
    [
        ({"type": "set_rate", "rate": "4095B/s"}, "at least one page of 4KiB a second"),
        ({"type": "set_rate", "rate": "none"}, "found none; allowed: bytes a second"),
        ({"type": "recent_rate", "share": 0.0005}, "allowed: 0.001 to 1"),
        ({"type": "recent_rate", "least": "4095B/s"}, "at least one page of 4KiB a second"),
        ({"type": "recent_rate", "window": "0s"}, "found 0s; allowed: above 0"),
        ({"type": "recent_rate", "window": "2h"}, "at most 1h"),
        ({"type": "tokens", "share": 1e-300}, "allowed: 0.001 to 1"),
    ],
)
def test_a_rate_that_can_be_none_is_refused(throttle: Any, message: str) -> None:
    with pytest.raises(InputError, match=r"ssd\.buffer\.throttle") as refused:
        summary(throttle)
    assert message in str(refused.value)


def test_a_throttle_without_a_buffer_is_refused() -> None:
    with pytest.raises(InputError, match="found a rate without a buffer"):
        copyback.run(
            CONFIG,
            ssd__buffer__capacity=0,
            ssd__buffer__throttle={"type": "set_rate", "rate": "4MB/s"},
        )
