"""Requests that have arrived: none waits unseen, none vanishes, and flows share their queue."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import copyback

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

#: A SATA drive with NCQ: 32 places.
NCQ = "intel-s4500"

JOBS = """[global]
filename=/dev/sda
ioengine=libaio
direct=1
norandommap
time_based
runtime=1
bs=4k
"""


def run_job(cli: RunCli, tmp_path: Path, jobs: str) -> dict[str, Any]:
    """Return the summary of a fio job on the SATA drive."""
    job = tmp_path / "job.fio"
    job.write_text(JOBS + jobs)
    summary: dict[str, Any] = json.loads(
        cli("run", "--preset", NCQ, "--fio-job", job, "--json").stdout
    )
    return summary


def test_a_deep_loop_on_a_short_queue_obeys_little_s_law(cli: RunCli, tmp_path: Path) -> None:
    """Depth 128 before 32 places: the mean was that of the 32 alone, a quarter."""
    summary = run_job(cli, tmp_path, "[a]\nrw=randread\niodepth=128\n")
    mean = summary["response_us"]["all"]["mean"] / 1e6
    assert summary["throughput"]["iops"] * mean == pytest.approx(128, rel=0.01)
    # 96 of 128 wait outside.
    waited = summary["breakdown_us"]["host_queue"] / summary["response_us"]["all"]["mean"]
    assert waited == pytest.approx(0.75, abs=0.02)


def test_equal_readers_share_the_queue(cli: RunCli, tmp_path: Path) -> None:
    both = run_job(cli, tmp_path, "rw=randread\niodepth=64\n[a]\n[b]\n")
    first, second = (flow["requests"]["count"] for flow in both["flows"])
    assert first == pytest.approx(second, rel=0.02)


def test_a_writer_beside_a_reader_gets_its_places(cli: RunCli, tmp_path: Path) -> None:
    """Each has its own depth outstanding, so that throughput times response is that."""
    jobs = "[reader]\nrw=randread\niodepth=32\n[writer]\nrw=randwrite\niodepth=4\n"
    both = run_job(cli, tmp_path, jobs)
    for flow, depth in zip(both["flows"], (32, 4), strict=True):
        product = flow["throughput"]["iops"] * flow["response_us"]["all"]["mean"] / 1e6
        assert product == pytest.approx(depth, rel=0.01)


def test_limited_equal_readers_get_equal_shares_beside_a_writer(
    cli: RunCli, tmp_path: Path
) -> None:
    jobs = (
        "[writer]\nrw=write\nbs=128k\niodepth=64\nrate=80m\n"
        "[one]\nrw=randread\niodepth=1000\nrate_iops=200000\n"
        "[two]\nrw=randread\niodepth=1000\nrate_iops=200000\n"
    )
    _, one, two = run_job(cli, tmp_path, jobs)["flows"]
    assert one["requests"]["count"] == pytest.approx(two["requests"]["count"], rel=0.02)


def offered(tiny: dict[str, Any], **workload: Any) -> dict[str, Any]:
    """Return an open loop of writes that ask for more than the drive can do."""
    every = {"type": "exponential", "mean": "40us"}
    changed = {"read_share": 0.0, "inter_arrival": every, **workload}
    return tiny | {"workload": tiny["workload"] | changed}


def test_duration_loses_nothing_that_has_arrived(tiny: dict[str, Any]) -> None:
    lasting = offered(tiny, requests="unlimited", duration="500ms")
    by_time = copyback.run(lasting).summary
    arrived = copyback.trace_info(lasting).requests
    assert by_time.requests["count"] == arrived
    # The verdict and every number are those of the same arrivals given by number.
    by_number = copyback.run(offered(tiny, requests=arrived)).summary
    assert by_time.response_us == by_number.response_us
    assert by_time.verdict.findings == by_number.verdict.findings
    assert "overload" in by_time.verdict.findings
