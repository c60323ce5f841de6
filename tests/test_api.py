"""``import copyback``: runs, results and tables."""

from __future__ import annotations

import pickle
import threading
import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import copyback
from copyback._core import presets
from copyback.frame import Frame
from copyback.inputs import configuration

if TYPE_CHECKING:
    from pathlib import Path

PARTS = [
    "service_ns",
    "bus_ns",
    "buffer_ns",
    "translation_ns",
    "host_queue_ns",
    "queue_behind_io_ns",
    "late_ns",
    "gc_same_plane_ns",
    "gc_other_plane_ns",
]


def test_summary_as_attributes(tiny: dict[str, Any]) -> None:
    result = copyback.run(tiny)
    times = result.summary.response_us
    assert times.read.count + times.write.count == times.all.count == 3000
    read = result.summary["response_us"]["read"]
    assert read["p50"] <= read.p99 <= read.p99_99 <= read.max
    assert times.all.mean == result.summary["response_us"]["all"]["mean"]
    assert result.write_amplification == result.summary.write_amplification
    assert result.write_amplification is not None
    assert result.write_amplification >= 1.0
    assert result.requests is None
    with pytest.raises(AttributeError, match=r"there are: .*p99"):
        _ = times.read.p98  # type: ignore[attr-defined]
    assert "3,000 requests" in repr(result)
    assert "p99" in result._repr_html_()
    assert pickle.loads(pickle.dumps(result.summary)) == result.summary


def test_parts_of_each_response_add_up(tiny: dict[str, Any]) -> None:
    table = copyback.run(tiny, requests=True).requests
    assert table is not None
    assert len(table) == 3000
    parts = sum(table[name].to_numpy().astype(np.int64) for name in PARTS)
    np.testing.assert_array_equal(parts, table["response_ns"].to_numpy().astype(np.int64))


def test_requests_agree_with_the_summary(tiny: dict[str, Any]) -> None:
    result = copyback.run(tiny, requests=True)
    frame = result.to_polars("requests")
    reads = frame.filter(frame["operation"] == "read")
    assert reads.height == result.summary.requests.reads
    mean = reads["response_ns"].to_numpy().mean() / 1e3
    assert mean == pytest.approx(result.summary.response_us.read.mean, rel=1e-6)


def test_series_agree_with_the_summary(tiny: dict[str, Any]) -> None:
    result = copyback.run(tiny)
    series = result.to_polars()
    assert series["requests"].sum() == 3000
    assert series["read_bytes"].sum() == result.summary.requests.read_bytes
    assert series["erases"].sum() == result.summary.gc.erases
    assert series["start_s"].is_sorted()
    assert series["end_s"][-1] == pytest.approx(result.summary.throughput.simulated_s)


def test_distribution_ends_at_the_slowest_request(tiny: dict[str, Any]) -> None:
    result = copyback.run(tiny)
    frame = result.to_polars("distribution")
    for operation in ("all", "read", "write"):
        curve = frame.filter(frame["operation"] == operation)
        assert curve["response_us"].is_sorted()
        assert curve["fraction"].is_sorted()
        assert curve["fraction"][-1] == 1.0
        slowest = result.summary.response_us[operation].max
        assert curve["response_us"][-1] == pytest.approx(slowest, rel=0.01)


def test_overrides_of_every_kind(tiny: dict[str, Any]) -> None:
    result = copyback.run(
        tiny,
        seed=11,
        ssd__gc__victim={"type": "rga", "d": 4},
        ssd__gc__copyback=False,
        workload__requests=np.int64(200),
        audit=True,
    )
    config = result.config
    assert config["seed"] == result.summary.seed == 11
    assert config["ssd"]["gc"]["victim"] == {"type": "rga", "d": 4}
    assert config["ssd"]["gc"]["copyback"] is False
    assert config["workload"]["requests"] == 200
    assert config["audit"] is True


VICTIMS: list[str | dict[str, Any]] = [
    "greedy",
    "rga",
    {"type": "rga", "within": "class"},
    "random",
    "random+",
    "fifo",
    {"type": "windowed_greedy", "window": 8},
    "cost_benefit",
    {"type": "cost_benefit", "age": "since_sealed", "weight": "sqrt"},
    "cost_age_times",
]


@pytest.mark.parametrize("victim", VICTIMS, ids=str)
def test_every_victim_policy_passes_the_audit(
    tiny: dict[str, Any], victim: str | dict[str, Any]
) -> None:
    assert copyback.run(tiny, audit=True, ssd__gc__victim=victim).summary.gc.collections > 0


def test_the_victims_of_sfs_pass_the_audit(tiny: dict[str, Any]) -> None:
    tiny["ssd"]["ftl"] = {"over_provisioning": 0.4, "placement": "sfs"}
    summary = copyback.run(tiny, audit=True, ssd__gc__victim="cost_hotness").summary
    assert summary.gc.collections > 0


def test_file_and_dictionary_are_the_same(tiny: dict[str, Any], tiny_toml: Path) -> None:
    assert copyback.run(tiny).config_toml == copyback.run(tiny_toml).config_toml


def test_a_run_does_not_change_its_configuration(tiny: dict[str, Any]) -> None:
    before = repr(tiny)
    copyback.run(tiny, seed=3)
    assert repr(tiny) == before


def test_save_and_load(tiny: dict[str, Any], tmp_path: Path) -> None:
    result = copyback.run(tiny, requests=True)
    result.save(tmp_path / "out")
    loaded = copyback.Result.load(tmp_path / "out")
    assert loaded.summary == result.summary
    assert loaded.config_toml == result.config_toml
    assert loaded.series.equals(result.series)
    assert isinstance(loaded.requests, Frame)
    assert len(loaded.requests) == 3000
    page = loaded.report(tmp_path / "page.html")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_state_gives_the_same_numbers(tiny: dict[str, Any], tmp_path: Path) -> None:
    state = copyback.precondition(tiny, save=tmp_path / "device.state")
    whole, resumed = copyback.run(tiny), copyback.run(tiny, state=state)
    assert whole.series.equals(resumed.series)
    assert whole.summary.response_us == resumed.summary.response_us


@pytest.mark.parametrize("scope", ["plane", "die", "drive"])
def test_a_state_tells_all_that_a_run_begins_with_where_blocks_are_counted_together(
    tiny: dict[str, Any], tmp_path: Path, scope: str
) -> None:
    # As many blocks must be free as leave the victims little that is invalid.
    tiny["ssd"]["gc"] = {"threshold_scope": scope, "soft_threshold": {"blocks": 6}}
    tiny["ssd"]["gc"] |= {"victim": "random", "least_invalid": 1.0}
    state = copyback.precondition(tiny, save=tmp_path / "device.state")
    whole, resumed = copyback.run(tiny), copyback.run(tiny, state=state)
    assert whole.series.equals(resumed.series)
    assert whole.summary.response_us == resumed.summary.response_us


def test_faults_are_value_errors_with_a_line_each(tiny: dict[str, Any]) -> None:
    with pytest.raises(copyback.InputError) as caught:
        copyback.run(tiny, ssd__geometry__page_size="4potatoes", ssd__gc__victim="best")
    assert isinstance(caught.value, ValueError)
    lines = str(caught.value).splitlines()
    assert any("page_size" in line for line in lines)
    assert any("victim" in line for line in lines)


@pytest.mark.parametrize("value", [None, object(), {"type": None}])
def test_values_that_no_configuration_has(tiny: dict[str, Any], value: object) -> None:
    with pytest.raises(copyback.InputError, match="not a value of a configuration"):
        copyback.run(tiny, ssd__gc__victim=value)


def test_no_configuration() -> None:
    with pytest.raises(copyback.InputError, match="preset"):
        copyback.run()


def test_runs_in_threads_do_not_disturb_each_other(tiny: dict[str, Any]) -> None:
    results: dict[int, copyback.Result] = {}

    def simulate(seed: int) -> None:
        results[seed] = copyback.run(tiny, seed=seed)

    threads = [threading.Thread(target=simulate, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, result in results.items():
        assert result.series.equals(copyback.run(tiny, seed=seed).series)
    assert not results[0].series.equals(results[1].series)


@pytest.mark.parametrize("preset", [name for name, _, _ in presets()])
def test_the_tables_of_a_configuration_are_those_of_its_toml(preset: str) -> None:
    config = configuration.load(preset=preset)
    assert configuration.resolved(config) == tomllib.loads(config.to_toml())
