"""Flushes and trims have response times, so that a commit of a database can be judged."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import copyback

if TYPE_CHECKING:
    from conftest import RunCli

ROOT = Path(__file__).parent.parent

#: What the guide shows: a job, a command, what that prints.
FENCES = ("ini", "sh", "text")

#: A page is written and flushed, one at a time, on a drive whose buffer is volatile.
COMMITS: dict[str, Any] = {
    "preset": "tlc-unbuffered-64gb",
    "ssd": {"power": {"protection": "none"}, "buffer": {"capacity": "32MiB"}},
    "workload": {
        "type": "synthetic",
        "requests": 1000,
        "request_size": "16KiB",
        "alignment": "16KiB",
        "read_share": 0.0,
        "sequential_share": 1.0,
        "iodepth": 1,
        "flush_every": 1,
    },
}

GUIDE = ROOT / "docs" / "guide" / "fio.md"


@pytest.fixture(scope="module")
def commits() -> copyback.Result:
    return copyback.run(COMMITS)


def test_a_write_and_its_flush_take_what_a_commit_takes(commits: copyback.Result) -> None:
    """At depth 1 one of both is under way all the time, so that their means add up."""
    times = commits.summary.response_us
    assert times.flush is not None
    assert times.flush.count == times.write.count == 1000
    assert times.all.count == 1000, "all stays reads and writes"
    a_commit = (times.write.mean or 0.0) + (times.flush.mean or 0.0)
    assert 1000 * a_commit / 1e6 == pytest.approx(commits.summary.throughput.simulated_s, rel=1e-3)
    # A page reaches the flash: longer than a program, where the write takes microseconds.
    assert (times.flush.min or 0.0) > 400 > 20 > (times.write.max or math.inf)


def test_the_parts_of_a_flush_add_up_to_it(commits: copyback.Result) -> None:
    summary = commits.summary
    assert summary.breakdown_by_class_us.flush is not None
    assert summary.response_us.flush is not None
    parts = summary.breakdown_by_class_us.flush.to_dict()
    assert sum(parts.values()) == pytest.approx(summary.response_us.flush.mean)


def test_a_run_without_them_says_nothing_of_them(tiny: dict[str, Any]) -> None:
    summary = copyback.run(tiny).summary
    assert "flush" not in summary.response_us.to_dict()
    assert "trim" not in summary.response_us.to_dict()


def test_trims_have_response_times(tiny: dict[str, Any]) -> None:
    trims = copyback.run(tiny, workload__trim_share=0.2).summary
    assert trims.response_us.trim is not None
    assert trims.response_us.trim.count == trims.requests.trims > 0
    assert trims.response_us.all.count == trims.requests.reads + trims.requests.writes


def test_terminal_page_and_distribution_show_them(commits: copyback.Result, tmp_path: Path) -> None:
    from rich.console import Console

    console = Console(width=80)
    with console.capture() as shown:
        console.print(commits)
    rows = [line.split()[0] for line in shown.get().splitlines() if line.strip()]
    assert "flush" in rows
    page = commits.report(tmp_path / "report.html").read_text()
    assert ">flush</th>" in page
    assert set(commits.to_polars("distribution")["operation"]) == {"all", "write", "flush"}


def test_the_guide_answers_etcd_s_question_of_fdatasync(cli: RunCli, tmp_path: Path) -> None:
    """Its job, its command and the rows that it shows."""
    told = GUIDE.read_text().split("## Is p99 of fdatasync below 10 ms?")[1]
    job, command, shown = (told.split(f"```{kind}\n")[1].split("```")[0] for kind in FENCES)
    (tmp_path / "etcd.fio").write_text(job)
    arguments = command.replace("etcd.", f"{tmp_path}/etcd.").split()[1:]
    printed = cli(*arguments).stdout.splitlines()
    rows = [line for line in shown.splitlines() if line.startswith(("write", "flush"))]
    assert len(rows) == 2
    assert [row for row in rows if row not in printed] == []
    found = json.loads((tmp_path / "etcd.json").read_text())["jobs"][0]["sync"]
    assert found["total_ios"] == found["lat_ns"]["N"] == 9011
    assert found["lat_ns"]["min"] <= found["lat_ns"]["percentile"]["99.000000"] < 10_000_000


def test_a_search_may_ask_for_the_flush(cli: RunCli, tiny_toml: Path) -> None:
    done = cli(
        "search",
        tiny_toml,
        *("--set", "workload.flush_every=4", "--set", "ssd.power.protection=none"),
        *("--set", "ssd.buffer.capacity=256KiB", "--least", "ssd.ftl.over_provisioning=0.25..0.4"),
        *("--where", "flush.p99 < 1s"),
    )
    assert "flush p99" in done.stdout.replace("flush.p99", "flush p99")
