"""The summary in words names what requests waited for, and the time in which they came."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from conftest import tiny_config
from copyback.words import describe, failures, tail, units, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

#: A drive that reads a page each 10 ms, and does nothing else.
QUIET: dict[str, Any] = {
    "ssd": {
        "geometry": {
            "channels": 2,
            "chips_per_channel": 2,
            "dies_per_chip": 1,
            "planes_per_die": 1,
            "blocks_per_plane": 128,
            "pages_per_block": 64,
            "page_size": "4KiB",
        },
    },
    "precondition": {"fill": 1.0},
    "workload": {
        "type": "synthetic",
        "requests": 1_000,
        "read_share": 1.0,
        "request_size": "4KiB",
        "inter_arrival": {"type": "histogram", "times": ["10ms"], "weights": [1]},
    },
}

SCRUB = {"type": "throttled", "every": "100ms", "least": "20MB/s", "most": "200MB/s"}
REBUILD = {"type": "rate", "rate": "100MB/s"}


def test_a_recovery_is_no_burst_and_no_full_queue() -> None:
    """Requests 10 ms apart never meet; those that come while the drive recovers wait for that."""
    power = {"protection": "none", "cuts": {"type": "at", "times": ["2s"]}}
    found = copyback.run({**QUIET, "ssd": {**QUIET["ssd"], "power": power}}).summary
    assert verdict.findings(found) == []
    said = tail.sentence(found)
    assert said is not None
    cause = "waiting outside the drive, which was off or recovered"
    assert re.search(rf"(9\d|100)\.\d % of the time is {cause}", said)
    assert "was off" not in (tail.sentence(copyback.run(QUIET).summary) or "")


@pytest.mark.parametrize(
    ("upkeep", "told"),
    [
        ({"failed": [1], "rebuild": REBUILD}, True),
        ({"scrub": SCRUB}, True),
        ({}, False),
    ],
)
def test_waits_behind_a_rebuild_are_not_the_hosts_alone(upkeep: dict[str, Any], told: bool) -> None:
    """In a closed loop of one there is no other request to wait for."""
    load = {**QUIET["workload"], "iodepth": 1, "requests": 20_000}
    del load["inter_arrival"]
    array = {"layout": "raid5", "devices": 4, "stripe": "64KiB", **upkeep}
    ssd = {**QUIET["ssd"], "geometry": {**QUIET["ssd"]["geometry"], "blocks_per_plane": 64}}
    result = copyback.run({**QUIET, "ssd": ssd, "workload": load, "array": array})
    said = tail.sentence(result.summary) or ""
    assert "other host I/O" not in said
    assert ("of the host or of the array's own upkeep" in said) == told
    lines = dict(failures.facts(result.summary))
    assert ("Rebuild" in lines) == ("failed" in upkeep)
    if "failed" in upkeep:
        assert lines["Rebuild"].endswith(" rebuilt · no drive is missing at the end")


def test_requests_are_told_with_the_time_in_which_they_were_measured(
    cli: RunCli, tiny_toml: Path
) -> None:
    gap = "workload.inter_arrival='1ms'"
    done = cli("run", tiny_toml, "--set", gap, "--set", "workload.ramp=2s")
    summary = json.loads(
        cli("run", tiny_toml, "--set", gap, "--set", "workload.ramp=2s", "--json", "-q").stdout
    )
    count, measured = summary["requests"]["count"], summary["throughput"]["measured_s"]
    text = " ".join(done.stdout.split())
    assert f"{count:,} requests over {units.time_s(measured)} of " in text
    assert count / measured == pytest.approx(1_000, rel=0.01)


def test_no_number_is_cut_where_a_table_is_wide(cli: RunCli, tmp_path: Path) -> None:
    tables = tiny_config() | {"array": {"layout": "raid1", "devices": 2}}
    tables["ssd"]["endurance"] = {"rated_cycles": 1_000}
    (tmp_path / "wide.json").write_text(json.dumps(tables))
    result = copyback.run(tables)
    result.save(tmp_path / "out")
    told = cli("run", tmp_path / "out" / "config.toml", env={"COLUMNS": "60"}).stdout
    assert "…" not in told


def test_units_of_mapping_are_told_where_they_are_counted(cli: RunCli, tiny_toml: Path) -> None:
    told = cli(
        "run",
        tiny_toml,
        *("--set", "ssd.geometry.page_size=16KiB", "--set", "ssd.ftl.mapping_unit=4KiB"),
        *("--set", "ssd.gc.copyback=false"),
    ).stdout
    text = " ".join(told.split())
    assert "16 × 16 KiB a block · mapped by 4KiB, each counted as a page" in text


def test_sizes_are_not_rounded_in_silence() -> None:
    tables = tiny_config()
    tables["workload"] |= {"request_size": "4KiB", "alignment": "64KiB"}
    result = copyback.run(tables)
    found = result.summary.requests
    assert found.read_bytes + found.write_bytes == found.count * 65_536
    (note,) = result.summary.notes
    assert note == (
        "workload.request_size: requests have 64KiB, the next multiple of 64KiB from 4KiB on"
    )
    line = describe.workload(result.config)
    assert "4KiB requests, rounded up to multiples of 64KiB" in line
    tables["workload"]["size_alignment"] = "4KiB"
    result = copyback.run(tables)
    found = result.summary.requests
    assert found.read_bytes + found.write_bytes == found.count * 4096
    assert result.summary.notes == []
    assert "rounded" not in describe.workload(result.config)


def test_a_closed_loop_has_no_gaps_to_scale() -> None:
    tables = tiny_config()
    del tables["workload"]["inter_arrival"]
    tables["workload"] |= {"iodepth": 4, "time_scale": 0.1}
    with pytest.raises(copyback.InputError, match=r"time_scale: found 0\.1 in a closed loop"):
        copyback.run(tables)


def test_trims_have_bytes(tiny: dict[str, Any]) -> None:
    tiny["workload"] |= {"trim_share": 0.2, "read_share": 0.3}
    found = copyback.run(tiny).summary.requests
    assert found.trims > 0
    assert found.trim_bytes == found.trims * 4096
    del tiny["workload"]["trim_share"]
    assert copyback.run(tiny).summary.requests.trim_bytes is None


def test_a_result_of_before_has_no_bytes_of_trims(tiny: dict[str, Any], tmp_path: Path) -> None:
    tiny["workload"] |= {"trim_share": 0.2, "read_share": 0.3}
    home = copyback.run(tiny).save(tmp_path / "out")
    summary = json.loads((home / "summary.json").read_text())
    del summary["requests"]["trim_bytes"]
    (home / "summary.json").write_text(json.dumps(summary))
    assert copyback.Result.load(home).summary.requests.trim_bytes is None


def test_a_long_word_widens_no_text(cli: RunCli, tmp_path: Path) -> None:
    home = tmp_path / ("x" * 100)
    home.mkdir()
    trace = home / "trace.ascii"
    trace.write_text("".join(f"{i}.000 0 {8 * i} 8 1\n" for i in range(20)))
    told = cli("run", "--preset", "pgc-2011", "--trace", trace, "-q").stdout
    assert max(map(len, told.splitlines())) <= 80
