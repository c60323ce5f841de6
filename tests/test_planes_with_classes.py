"""Which plane of a die a page goes to, where pages have classes."""

from __future__ import annotations

from typing import Any

import pytest

import copyback


def write_amplification(placement: str, plane: str) -> float:
    """Return that of random writes, 80% of them to 20% of the pages, with two planes a die."""
    drive: dict[str, Any] = {
        "preset": "pgc-2011",
        "precondition": {"fill": 1.0, "overwrites": 0.3},
        "workload": {
            "type": "synthetic",
            "requests": 200_000,
            "request_size": "4KiB",
            "read_share": 0.0,
            "sequential_share": 0.0,
            "iodepth": 32,
            "address": {"type": "hot_cold", "pages": 0.2, "requests": 0.8},
        },
    }
    amplification = copyback.run(
        drive,
        ssd__geometry__planes_per_die=2,
        ssd__geometry__blocks_per_plane=256,
        ssd__ftl__over_provisioning=0.2,
        ssd__ftl__placement=placement,
        ssd__ftl__allocation={"order": "CWDP", "plane": plane},
    ).summary.write_amplification
    assert amplification is not None
    return amplification


@pytest.mark.parametrize("placement", ["one_class", "host_and_gc_apart", "sepbit", "dac"])
def test_the_plane_with_most_free_pages_wears_no_more_than_planes_in_turn(placement: str) -> None:
    in_turn, most_free = (
        write_amplification(placement, plane) for plane in ("round_robin", "most_free")
    )
    assert most_free < 1.05 * in_turn
