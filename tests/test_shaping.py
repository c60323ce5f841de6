"""Parts of a trace, repeated and laid out; damaged rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import copyback

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

ROWS = [f"{i % 2},{8 * i},4096,w,{i / 1000:.3f}" for i in range(100)]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "two.spc"
    path.write_text("\n".join(ROWS) + "\n", encoding="ascii")
    return path


def run(config: dict[str, Any], trace: Path, **workload: Any) -> copyback.Result:
    workload = {f"workload__{key}": value for key, value in workload.items()}
    return copyback.run(config, trace=trace, requests=True, **workload)


def column(result: copyback.Result, name: str) -> list[int]:
    assert result.requests is not None
    return sorted(result.requests[name].to_list())


def test_a_window_of_one_device(tiny: dict[str, Any], trace: Path) -> None:
    result = run(tiny, trace, devices=[1], **{"from": "10ms", "until": "20ms"})
    assert column(result, "arrival_ns") == [1_000_000 + 2_000_000 * i for i in range(5)]
    assert column(result, "offset") == [4096 * i for i in range(11, 20, 2)]
    assert "devices 1 · from 10ms until 20ms" in copyback.words.describe.workload(result.config)


def test_flows_are_shaped_each_for_itself(tiny: dict[str, Any], trace: Path) -> None:
    flow = {"type": "trace", "path": str(trace), "until": "10ms"}
    flows = [{**flow, "devices": [0]}, {**flow, "devices": ["1"], "time_scale": 2.0}]
    tiny["workload"] = {"type": "flows", "flows": flows}
    result = copyback.run(tiny, requests=True)
    assert result.requests is not None
    frame = result.to_polars("requests").sort("flow", "arrival_ns")
    first = [2_000_000 * i for i in range(5)]
    second = [2_000_000 + 4_000_000 * i for i in range(5)]
    assert frame["arrival_ns"].to_list() == first + second


def test_a_trace_is_repeated(tiny: dict[str, Any], trace: Path) -> None:
    result = run(tiny, trace, limit=10, duration="35ms")
    assert column(result, "arrival_ns") == [1_000_000 * i for i in range(35)]
    assert any("started 4 times" in note for note in result.summary.notes)


def test_a_closed_loop_is_repeated_until_the_time_has_passed(
    tiny: dict[str, Any], trace: Path
) -> None:
    result = run(tiny, trace, iodepth=4, duration="200ms")
    assert result.summary.requests["count"] > 100
    assert 0.2 <= result.summary.throughput.simulated_s < 0.25
    assert max(column(result, "arrival_ns")) < 200_000_000


def test_a_closed_loop_that_takes_no_time_is_told(tiny: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "reads.spc"
    path.write_text("0,0,4096,r,0\n0,8,4096,r,1\n", encoding="ascii")
    with pytest.raises(copyback.InputError, match="take no simulated time"):
        run({**tiny, "precondition": {"fill": 0.0}}, path, iodepth=4, duration="1s")


def test_a_footprint_is_closed_up(tiny: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "far.spc"
    path.write_text("0,99999992,4096,w,0\n0,88888888,4096,w,1\n", encoding="ascii")
    compact = {"type": "compact", "extent": "4KiB"}
    result = run(tiny, path, beyond_device=compact, time_scale=0.001)
    assert column(result, "offset") == [0, 4096]
    assert any("2 extents of 4KiB" in note for note in result.summary.notes)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("until", "1s", "until: found 1s; allowed: more than from, 2s"),
        ("duration", "0s", "duration: found 0s; allowed: more than 0s"),
        ("devices", "hm", "devices: found"),
        ("devices", ["hm"], 'devices: found "hm"; expected a device\'s number'),
        ("device_layout", "concatenate", "device_layout.size: found no size"),
        ("beyond_device", {"type": "compact", "extent": "5KiB"}, "extent: found 5KiB; allowed"),
    ],
)
def test_senseless_shapes_are_refused(
    tiny: dict[str, Any], trace: Path, key: str, value: Any, problem: str
) -> None:
    with pytest.raises(copyback.InputError) as caught:
        run(tiny, trace, **{"from": "2s", key: value} if key == "until" else {key: value})
    assert problem in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_damaged_rows_end_a_run_unless_it_is_lenient(
    cli: RunCli, tiny_toml: Path, trace: Path
) -> None:
    trace.write_text("\n".join([*ROWS[:5], "rubbish", *ROWS[5:]]) + "\n", encoding="ascii")
    refused = cli("run", tiny_toml, "--trace", trace, status=2).stderr
    assert "two.spc:6: ASU: found" in refused
    assert "Note" in (shown := cli("run", tiny_toml, "--trace", trace, "--lenient").stdout)
    assert "1 damaged row was skipped, the first at 6: ASU: found" in " ".join(shown.split())
    summary = copyback.run(tiny_toml, trace=trace, lenient=True).summary
    assert summary.requests["count"] == 100
    assert len(summary.notes) == 2


def test_lenient_needs_a_trace(cli: RunCli, tiny_toml: Path) -> None:
    assert "lenient" in cli("run", tiny_toml, "--lenient", status=2).stderr
