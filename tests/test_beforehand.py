"""What a run will take is told before it begins."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.inputs import configuration
from copyback.simulation.beforehand import announcements, check_memory, memory_of_machine

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_drive_that_is_too_large_is_refused_with_its_two_ways_out() -> None:
    geometry = {
        "channels": 16,
        "chips_per_channel": 8,
        "dies_per_chip": 2,
        "planes_per_die": 4,
        "blocks_per_plane": 1_700,
        "pages_per_block": 1_152,
        "page_size": "16KiB",
    }
    ssd = {"geometry": geometry, "ftl": {"mapping_unit": "4KiB"}, "gc": {"copyback": False}}
    large = configuration.load({"ssd": ssd, "workload": {"type": "synthetic"}})
    with pytest.raises(copyback.InputError) as refused:
        check_memory(large, there_is=24 * GIB)
    found = re.fullmatch(
        r"ssd\.geometry: a run of this needs about 120 GiB of memory; allowed: what fits into "
        r"the 24 GiB that this process may use; without ssd\.ftl\.mapping_unit, so that pages of "
        r"16KiB are mapped, it needs about 30\.\d GiB; with ssd\.geometry\.blocks_per_plane = "
        r"(\d+) it fits, a drive 1/[\d.]+ as large with as many dies",
        str(refused.value),
    )
    assert found is not None, refused.value
    # Both are taken.
    whole = {**ssd, "ftl": {}}
    check_memory(
        configuration.load({"ssd": whole, "workload": {"type": "synthetic"}}), there_is=32 * GIB
    )
    fewer = {**ssd, "geometry": {**geometry, "blocks_per_plane": int(found[1])}}
    smaller = configuration.load({"ssd": fewer, "workload": {"type": "synthetic"}})
    assert smaller.memory_bytes <= 24 * GIB
    check_memory(smaller, there_is=24 * GIB)


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


@pytest.mark.parametrize("limit", ["v", "d"])
def test_a_run_that_a_limit_of_the_process_cannot_hold_is_refused(
    limit: str, tmp_path: Path
) -> None:
    config = tmp_path / "drive.toml"
    config.write_text('[workload]\ntype = "synthetic"\nrequests = 1000\n')
    # 268 million pages: at least half of 4 GiB, under a limit of 1.4.
    large = "--set=ssd.geometry.blocks_per_plane=262144"
    script = f'ulimit -{limit} 1500000; exec "$@"'
    run = (sys.executable, "-m", "copyback", "run", config, "-q", large)
    done = subprocess.run(["sh", "-c", script, "sh", *run], capture_output=True, text=True)
    assert done.returncode == 2, done
    assert re.fullmatch(
        r"copyback: error: ssd\.geometry: a run of this needs about \S+ GiB of memory; "
        r"allowed: what fits into the \S+ [GM]iB that this process may use; "
        r"with ssd\.geometry\.blocks_per_plane = \d+ it fits, a drive 1/[\d.]+ as large with as "
        r"many dies\n",
        done.stderr,
    ), done.stderr


#: A device of 8 million pages that no estimate has refused, where 16 MiB are left.
SHORT_OF_MEMORY = """
import resource
from copyback import _core
from copyback.inputs import configuration

geometry = {"geometry": {"blocks_per_plane": 8192}}
config = configuration.load({"ssd": geometry, "workload": {"type": "synthetic", "requests": 10}})
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (16 << 20), resource.RLIM_INFINITY))
_core.Simulation(config)
"""


def test_an_allocation_that_fails_ends_the_process_with_a_line() -> None:
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", SHORT_OF_MEMORY], capture_output=True, text=True)
    assert done.returncode == 2, done
    assert re.fullmatch(
        r"copyback: memory: \d+ more bytes were asked for and not given; "
        r"allowed: a smaller device, or more memory\n",
        done.stderr,
    ), done.stderr


def test_what_the_process_uses_already_is_no_room() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (64 * GIB, before[1]))
        room = memory_of_machine()
        assert room is not None
        assert room < 64 * GIB
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_a_machine_knows_its_memory() -> None:
    there_is = memory_of_machine()
    assert there_is is None or there_is > 1 << 26
