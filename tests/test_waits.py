"""Long waits, kinds of collections and idle time: in the summary, the terminal and the report."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.words import waits

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

ASKED: dict[str, Any] = {
    "metrics.excess_bound": "1ms",
    "metrics.worst_window": "100ms",
    "metrics.idle_time": True,
    "ssd.gc.idle": "delayed",
    "ssd.gc.soft_threshold": {"blocks": 4},
}


def settings() -> list[str]:
    from copyback.inputs.configuration import to_toml

    return [part for key, value in ASKED.items() for part in ("--set", f"{key}={to_toml(value)}")]


@pytest.fixture
def result(tiny: dict[str, Any]) -> copyback.Result:
    return copyback.run(tiny, audit=True, **{"metrics.requests": True, **ASKED})


def test_excess_and_worst_are_those_of_the_requests(result: copyback.Result) -> None:
    assert result.requests is not None
    rows = result.requests.to_dict()
    responses = rows["response_ns"]
    excess = [response - 1_000_000 for response in responses if response > 1_000_000]
    found = result.summary["excess_wait_us"]
    assert excess
    assert found.all["count"] == len(excess)
    assert found.all.total == pytest.approx(sum(excess) / 1e3)
    assert found.all.share == len(excess) / len(responses)
    worst: dict[int, int] = {}
    for arrival, response in zip(rows["arrival_ns"], responses, strict=True):
        window = (arrival + response) // 100_000_000
        worst[window] = max(worst.get(window, 0), response)
    windows = result.summary.worst_response_us
    assert windows.all.windows == len(worst) == len(windows.by_window)
    assert windows.all.mean == pytest.approx(statistics.fmean(worst.values()) / 1e3)
    assert windows.all.max == result.summary.response_us.all.max


def test_the_distribution_of_the_excess_is_there_if_asked_for(result: copyback.Result) -> None:
    import polars as pl

    rows = result.to_polars("distribution").filter(pl.col("operation") == "excess_all")
    assert rows["fraction"][-1] == 1.0
    assert rows["response_us"][-1] == result.summary["excess_wait_us"].all.max


def test_idle_time_and_its_uses_add_up(result: copyback.Result) -> None:
    found = result.summary["idle_time"]
    simulated_us = result.summary.throughput.simulated_s * 1e6
    assert found.busy_us + found.all.us == pytest.approx(simulated_us, abs=1e-3)
    uses_us = found.all.die_us.to_dict().values()
    assert math.fsum(uses_us) == pytest.approx(2 * found.all.us, abs=1e-3)
    assert found.all.die_us.delayed > 0
    assert math.fsum(share for _, share in waits.uses(result.summary)) == pytest.approx(1.0)


def test_the_kinds_are_all_collections(result: copyback.Result) -> None:
    found = dict(waits.kinds(result.summary))
    assert found["put off and caught up"] > 0
    assert sum(found.values()) == result.summary.gc.collections


def test_a_plain_run_says_nothing_of_them(tiny: dict[str, Any]) -> None:
    summary = copyback.run(tiny).summary
    assert "idle_time" not in summary
    assert "excess_wait_us" not in summary
    assert waits.facts(summary) == []


def test_terminal_and_report_show_them(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    done = cli("run", tiny_toml, *settings(), "--out", tmp_path / "out")
    for label in ("By kind", "Worst", "Excess wait", "Idle time", "Idle dies"):
        assert any(line.startswith(label) for line in done.stdout.splitlines()), label
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for text in ("Long waits", "Worst of each window", "Idle time, and what dies do meanwhile"):
        assert text in page


def test_windows_of_no_length_are_refused(cli: RunCli, tiny_toml: Path) -> None:
    done = cli("run", tiny_toml, "--set", "metrics.worst_window=0s", status=2)
    assert "metrics.worst_window: found 0s; allowed: more than 0s" in done.stderr
