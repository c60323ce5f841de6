"""``copyback calibrate``: timing fitted to the measured times of a trace."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import copyback
from copyback import InputError
from copyback._core import time_ns
from copyback.inputs import configuration

if TYPE_CHECKING:
    from conftest import RunCli

FILES = {"calibration.json", "fitted.toml", "predictions.parquet", "report.html"}

#: What the device that was measured has.
TRUE = {
    "ssd.timing.read": 70e3,
    "ssd.timing.program": 450e3,
    "host.command_overhead": 120e3,
    "host.link_rate": 80e6,
}


def device() -> dict[str, Any]:
    """Return a device that serves one request at a time, as a phone's does."""
    return {
        "ssd": {
            "geometry": {
                "channels": 1,
                "chips_per_channel": 1,
                "dies_per_chip": 1,
                "planes_per_die": 1,
                "blocks_per_plane": 256,
                "pages_per_block": 16,
                "page_size": "4KiB",
            },
            "timing": {"read": "70us", "program": "450us", "transfer_rate": "none"},
            "ftl": {"over_provisioning": 0.25},
        },
        "host": {
            "interface": "ncq",
            "queue_depth": 1,
            "command_overhead": "120us",
            "link_rate": "80MB/s",
            "link_duplex": "half",
        },
        "precondition": {"fill": 1.0, "overwrites": 0.0},
    }


def guessed() -> dict[str, Any]:
    """Return the same device with other timing."""
    found = device()
    found["ssd"]["timing"] |= {"read": "20us", "program": "1ms"}
    found["host"] |= {"command_overhead": "10us", "link_rate": "300MB/s"}
    return found


def did(smallest: str, on: dict[str, Any] | None = None) -> pl.DataFrame:
    """Return what a device did: one with the true timing, if no other is given."""
    sizes = [smallest, "8KiB", "16KiB"]
    workload = {
        "type": "synthetic",
        "requests": 600,
        "request_size": {"type": "histogram", "sizes": sizes, "weights": [2, 1, 1]},
        "alignment": smallest,
        "read_share": 0.5,
        "inter_arrival": {"type": "exponential", "mean": "20ms"},
    }
    config = {**(on or device()), "workload": workload}
    rows = copyback.run(config, requests=True).to_polars("requests")
    return rows.select(
        "arrival_ns",
        pl.col("operation").cast(pl.String),
        "offset",
        "bytes",
        measured_response_ns="response_ns",
    ).sort("arrival_ns")


@pytest.fixture(scope="module")
def measured() -> pl.DataFrame:
    """Return requests with parts of pages among them, which tell the link from the flash."""
    return did("2KiB")


@pytest.fixture
def trace(measured: pl.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "measured.parquet"
    measured.write_parquet(path)
    return path


@pytest.fixture
def guessed_toml(tmp_path: Path) -> Path:
    return written(guessed(), tmp_path)


def written(config: dict[str, Any], directory: Path) -> Path:
    """Write a configuration into a file."""
    path = directory / "guessed.toml"
    lines = [f"{key} = {configuration.to_toml(value)}" for key, value in config.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def as_nexus5(measured: pl.DataFrame, path: Path) -> Path:
    """Write a trace of a host that keeps each request for 1 ms before it issues it."""
    lines = []
    for arrival, operation, offset, size, took in measured.iter_rows():
        queued, issued = arrival, arrival + 1_000_000
        times = [queued, issued, issued, issued + took]
        shown = [f"{time // 10**9}.{time % 10**9:09d}" for time in times]
        kind = 1 if operation == "write" else 0
        cells = [offset // 512, size // 512, size, kind, *shown]
        lines.append("\t\t".join(map(str, cells)))
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


def test_a_device_that_was_simulated_is_found_again(trace: Path) -> None:
    found = copyback.calibrate(guessed(), trace=trace)
    fitted = {one.parameter.key: one for one in found.fitted}
    assert set(fitted) == set(TRUE)
    for key, value in TRUE.items():
        assert fitted[key].value == pytest.approx(value, rel=0.02), key
        assert fitted[key].certainty.verdict.value == "determined", key
    simulated = [row for row in found.errors if row["predictor"] == "simulated"]
    assert {(row["part"], row["operation"]) for row in simulated} == {
        (part, operation) for part in ("fitted", "held out") for operation in ("read", "write")
    }
    assert all(row["typical"] < 0.02 and row["within_25"] > 0.99 for row in simulated)
    held_out = found.predictions.filter(found.predictions["part"] == "held out")
    assert (len(found.predictions), len(held_out)) == (600, 240)


def test_what_the_trace_cannot_tell_is_said(tmp_path: Path) -> None:
    did("4KiB").write_parquet(tmp_path / "whole.parquet")
    start = device()
    start["ssd"]["timing"]["transfer_rate"] = "500MB/s"
    keys = ["ssd.timing.erase", "ssd.timing.transfer_rate", "host.link_rate"]
    found = copyback.calibrate(start, trace=tmp_path / "whole.parquet", fit=keys)
    erase, transfer, link = (one.certainty for one in found.fitted)
    assert (erase.verdict.value, erase.interval) == ("without effect", None)
    assert (transfer.verdict.value, transfer.other) == ("only together with another", keys[2])
    assert (link.verdict.value, link.interval) == ("only together with another", None)


def test_the_best_variant_of_the_device_is_taken(trace: Path) -> None:
    over = {"ssd.geometry.dies_per_chip": [2, 1]}
    found = copyback.calibrate(guessed(), trace=trace, over=over, fit=["ssd.timing.program"])
    assert dict(found.point) == {"ssd.geometry.dies_per_chip": "1"}
    assert [dict(variant.point) for variant in found.variants] == [
        {"ssd.geometry.dies_per_chip": "2"},
        {"ssd.geometry.dies_per_chip": "1"},
    ]
    assert found.variants[1].score < found.variants[0].score


def test_the_command_leaves_a_configuration_that_runs(
    cli: RunCli, guessed_toml: Path, measured: pl.DataFrame, tmp_path: Path
) -> None:
    nexus5 = as_nexus5(measured, tmp_path / "phone.txt")
    arguments: list[str | Path] = ["calibrate", guessed_toml, "--trace", nexus5, "--out", "out"]
    arguments += ["--times", "service", "--test", nexus5, "--set", "workload.limit=250"]
    arguments += ["--fit", "ssd.timing.program", "--set", "ssd.timing.read=70us"]
    arguments += ["--set", "host.command_overhead=120us", "--set", "host.link_rate=80MB/s"]
    shown = cli(*arguments)
    for word in ("95 % interval", "linear in size", "write, held out", "test phone.txt"):
        assert word in shown.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    told = json.loads((tmp_path / "out/calibration.json").read_text())
    # The host's millisecond is no part of the service, or the program would have taken it.
    (program,) = told["parameters"]
    assert program["value"] == pytest.approx(450e3, rel=0.02)
    again = cli(*arguments, "--jobs", "1", "--json")
    assert json.loads(again.stdout) == told
    assert again.stderr == ""
    ran = copyback.run(tmp_path / "out/fitted.toml")
    assert ran.summary["measured_response_us"].all.count == 250


def test_a_request_across_extents_is_compared_as_one(tmp_path: Path) -> None:
    rows = [(n * 10_000_000, "write", n % 2 * (1 << 40), 4096, 600_000) for n in range(400)]
    rows[7] = (70_000_000, "write", (1 << 40) - 4096, 8192, 900_000)
    columns = ["arrival_ns", "operation", "offset", "bytes", "measured_response_ns"]
    pl.DataFrame(rows, columns, orient="row").write_parquet(tmp_path / "far.parquet")
    found = copyback.calibrate(
        guessed(), trace=tmp_path / "far.parquet", fit=["ssd.timing.program"]
    )
    assert len(found.predictions) == 400
    assert found.unmeasured == 0


@pytest.mark.skipif("COPYBACK_TRACES" not in os.environ, reason="COPYBACK_TRACES is not set")
def test_a_phone_is_predicted_better_than_by_a_constant() -> None:
    trace = Path(os.environ["COPYBACK_TRACES"]) / "nexus5-twitter.txt.gz"
    found = copyback.calibrate(
        Path(__file__).parent.parent / "examples/phone-emmc.toml",
        trace=trace,
        times="service",
        fit=["ssd.timing.program", "host.command_overhead"],
        workload__limit=1000,
        workload__beyond_device={"type": "compact", "extent": "64KiB"},
        ssd__geometry__blocks_per_plane=512,
    )
    held_out = {
        row["predictor"]: row["typical"]
        for row in found.errors
        if (row["part"], row["operation"]) == ("held out", "write")
    }
    assert held_out["simulated"] < held_out["constant"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"trace": None}, "no trace: name a file with measured times"),
        ({"times": "queue"}, "times: found 'queue'; expected response or service"),
        ({"times": "service"}, "found format parquet; only nexus5 says when"),
        ({"held_out": 1.0}, "found 1; a share between 0 and 1"),
        ({"held_out": 0.9}, "60 requests to fit on and 540 held out; at least 100"),
        ({"fit": ["ssd.gc.victim"]}, "--fit ssd.gc.victim: can't be fitted; allowed: ssd.timing"),
        ({"fit": ["ssd.timing.read"] * 2}, "--fit ssd.timing.read: is named twice"),
        ({"fit": ["ssd.timing.transfer_rate"]}, 'ssd.timing.transfer_rate: is "none"; --set a'),
        ({"workload__iodepth": 4}, "workload.iodepth: a closed loop ignores the times"),
        ({"over": {"ssd.geometry.dies_per_chip": [0]}}, "ssd.geometry.dies_per_chip=0: "),
        ({"over": {"ssd.geometry.dies_per_chip": []}}, "needs at least one value"),
        ({"ssd__geometry__blocks_per_plane": 64}, "measured.parquet: footprint: found addresses"),
    ],
)
def test_bad_input_is_told(trace: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as fault:
        copyback.calibrate(guessed(), **{"trace": trace, **arguments})
    assert len(str(fault.value).splitlines()) == 1


def test_of_a_list_of_times_the_mean_is_fitted(cli: RunCli, tmp_path: Path) -> None:
    with_lists = device()
    with_lists["ssd"]["timing"] |= {"read": ["40us", "100us"], "program": ["225us", "675us"]}
    did("2KiB", with_lists).write_parquet(tmp_path / "measured.parquet")
    # The same shares of other means.
    lists = ('ssd.timing.read=["8us", "20us"]', 'ssd.timing.program=["1ms", "3ms"]')
    config, trace = written(guessed(), tmp_path), tmp_path / "measured.parquet"
    settings = ("--set", lists[0], "--set", lists[1], "--out", tmp_path / "out", "--quiet")
    output = cli("calibrate", config, "--trace", trace, *settings).stdout
    assert "ssd.timing.program (mean of 2)" in output
    stored = json.loads((tmp_path / "out/calibration.json").read_text())
    fitted = {one["key"]: one for one in stored["parameters"]}
    for key, value in TRUE.items():
        assert fitted[key]["value"] == pytest.approx(value, rel=0.02), key
    assert fitted["ssd.timing.program"]["shares"] == [0.5, 1.5]
    assert fitted["host.link_rate"]["shares"] is None
    timing = tomllib.loads((tmp_path / "out/fitted.toml").read_text())["ssd"]["timing"]
    times = [time_ns(text) for text in timing["program"]]
    assert times == pytest.approx([225e3, 675e3], rel=0.02)


def test_the_lists_of_a_preset_are_fitted_as_they_stand(cli: RunCli, trace: Path) -> None:
    drive = ("--preset", "tlc-unbuffered-64gb", "--set", "ssd.geometry.blocks_per_plane=32")
    few = ("--set", "workload.limit=260", "--fit", "ssd.timing.program", "--json")
    (program,) = json.loads(cli("calibrate", *drive, "--trace", trace, *few).stdout)["parameters"]
    assert len(program["shares"]) == 3
    assert sum(program["shares"]) == pytest.approx(3)


def test_a_trace_without_measured_times_is_refused(
    cli: RunCli, guessed_toml: Path, measured: pl.DataFrame, tmp_path: Path
) -> None:
    measured.drop("measured_response_ns").write_parquet(tmp_path / "plain.parquet")
    told = cli("calibrate", guessed_toml, "--trace", "plain.parquet", "--out", "out", status=2)
    assert "plain.parquet: holds no measured times" in told.stderr
    assert len(told.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()
