"""What a run will take is told before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback import configuration
from copyback.beforehand import announcements, check_memory, memory_of_machine

if TYPE_CHECKING:
    from copyback._core import Config

GIB = 1 << 30


def sized(**settings: str) -> Config:
    return configuration.load({"workload": {"type": "synthetic"}}, settings=list(settings.items()))


def test_a_run_that_this_machine_cannot_hold_is_refused() -> None:
    # 1.07 billion pages at 16 bytes and what comes with them.
    large = sized(**{"ssd.geometry.blocks_per_plane": "1048576"})
    check_memory(large, there_is=16 * GIB)
    problem = r"ssd.geometry: a run of this needs about 1\d\.?\d* GiB of memory; allowed: what fits"
    with pytest.raises(copyback.InputError, match=problem):
        check_memory(large, there_is=4 * GIB)


def test_what_takes_hours_or_much_memory_is_announced_with_its_key() -> None:
    assert announcements(sized(), there_is=GIB) == []
    large = sized(**{"ssd.geometry.blocks_per_plane": "1048576"})
    (line,) = announcements(large, there_is=12 * GIB)
    assert line.startswith("ssd.geometry: this run needs up to 1")
    (line,) = announcements(sized(**{"workload.requests": "100_000_000_000"}), there_is=GIB)
    assert line == (
        "workload.requests: this run takes hours or more: up to 8e11 page operations of requests"
    )


def test_nothing_is_prepared_for_what_nobody_could_wait_for(tiny: dict[str, Any]) -> None:
    tiny["workload"] = {"type": "synthetic", "requests": 10**12, "iodepth": 1}
    tiny["workload"]["request_size"] = "1MiB"
    with pytest.raises(copyback.InputError, match=r"workload\.requests: found about \de14 page"):
        copyback.run(tiny)


def test_a_machine_knows_its_memory() -> None:
    there_is = memory_of_machine()
    assert there_is is None or there_is > 1 << 26
