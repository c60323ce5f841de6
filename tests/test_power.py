"""Cuts of power: what is told of them, in every place that shows it, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.inputs import configuration

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

CUTS: dict[str, Any] = {
    "ssd.power.protection": "none",
    "ssd.power.cuts": {"type": "random", "count": 5, "mean_interval": "5ms"},
}


def test_a_run_goes_on_after_cuts_and_tells_of_them(tiny: dict[str, Any]) -> None:
    calm = copyback.run(tiny).summary
    found = copyback.run(tiny, audit=True, **CUTS).summary
    assert found.requests.count == calm.requests.count
    loss = found["power_loss"]
    assert loss.cuts == loss.recoveries + loss.cuts_in_recovery == 5
    assert loss.durable_pages_lost == 0
    assert 0 < loss.recovery_ms.mean <= loss.recovery_ms.max
    assert found.throughput.simulated_s > calm.throughput.simulated_s
    assert "power_loss" not in calm


def test_the_time_of_a_recovery_is_that_of_the_scan(tiny: dict[str, Any]) -> None:
    """Nothing has been written: one page of each block is looked at, every die its own."""
    settings: dict[str, Any] = {
        "precondition.fill": 0,
        "workload.read_share": 1.0,
        "ssd.power.protection": "none",
        "ssd.power.cuts": {"type": "at", "times": ["1ns"]},
        "ssd.timing.transfer_rate": "none",
    }
    loss = copyback.run(tiny, **settings).summary["power_loss"]
    geometry = copyback.run(tiny).config["ssd"]["geometry"]
    blocks = geometry["blocks_per_plane"] * geometry["planes_per_die"]
    dies = geometry["channels"] * geometry["chips_per_channel"] * geometry["dies_per_chip"]
    assert loss.pages_read == blocks * dies
    read_ms = 0.025
    assert loss.recovery_ms.mean == pytest.approx(blocks * read_ms)


def test_terminal_and_report_show_it(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    cuts = "{ type = 'at', times = ['1ms'] }"
    shown = cli("run", tiny_toml, "--set", f"ssd.power.cuts={cuts}", "--out", out).stdout
    assert "cuts: 1 · recovery" in shown
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<h3>Power loss</h3>" in page


def test_pages_that_share_cells_are_lost_and_told(
    cli: RunCli, tiny_toml: Path, tiny: dict[str, Any]
) -> None:
    """Apart from what a drive must never lose, which stays nothing."""
    cuts = {"type": "random", "count": 40, "mean_interval": "60ms"}
    settings = {**CUTS, "ssd.power.cuts": cuts, "ssd.power.paired_pages": 4}
    loss = copyback.run(tiny, audit=True, **settings).summary["power_loss"]
    assert loss.paired_pages_torn >= loss.paired_pages_lost > 0
    assert loss.durable_pages_lost == 0
    alone = copyback.run(tiny, **{**settings, "ssd.power.paired_pages": 1}).summary["power_loss"]
    assert (alone.paired_pages_torn, alone.paired_pages_lost) == (0, 0)
    sets = [f"--set={key}={configuration.to_toml(value)}" for key, value in settings.items()]
    shown = " ".join(cli("run", tiny_toml, *sets).stdout.split())
    assert f"0 durable ones, {loss.paired_pages_lost} that shared cells with torn ones" in shown


def test_what_does_not_go_with_cuts_is_refused(tiny: dict[str, Any]) -> None:
    wrong: dict[str, Any] = {
        "ssd.power.cuts": {"type": "random", "count": 0, "mean_interval": "0s"}
    }
    with pytest.raises(copyback.InputError) as refused:
        copyback.run(tiny, **wrong)
    text = str(refused.value)
    assert "ssd.power.cuts.count: found 0; allowed: 1 to 100000" in text
    assert "ssd.power.cuts.mean_interval: found 0s; allowed: more than 0s" in text


def test_writes_that_need_tokens_go_on_after_a_cut() -> None:
    """What victims cost is counted on: the tokens' last look at it lies before the cut."""
    cuts = {"type": "at", "times": ["1s", "2s"]}
    config = {
        "preset": "samsung-pm9a3",
        "ssd": {"geometry": {"blocks_per_plane": 64}, "power": {"cuts": cuts}},
        "workload": {"requests": 150_000},
    }
    summary = copyback.run(config).summary
    assert summary.requests.count == 150_000
    assert summary.power_loss is not None
    assert summary.power_loss.recoveries == 2
