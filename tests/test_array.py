"""Arrays as a user meets them: tables, the terminal, the page, and traces of several disks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

import copyback
from copyback import report
from copyback.report import array as array_report
from copyback.result import Result
from copyback.words import describe

if TYPE_CHECKING:
    from conftest import RunCli

DRIVES = 4


@pytest.fixture
def array(tiny: dict[str, Any]) -> dict[str, Any]:
    return {
        **tiny,
        "array": {"layout": "raid0", "devices": DRIVES, "stripe": "4KiB"},
        "metrics": {"bandwidth_window": "10ms"},
    }


@pytest.fixture(scope="module")
def kept() -> Result:
    """Return a run of an array that keeps everything."""
    from conftest import tiny_config

    config = tiny_config()
    config["array"] = {"layout": "raid5", "devices": DRIVES, "stripe": "8KiB"}
    config["workload"]["request_size"] = "32KiB"
    config["metrics"] = {
        "bandwidth_window": "10ms",
        "requests": True,
        "collections": True,
        "commands": True,
    }
    return copyback.run(config)


def test_collections_agree_with_the_summary(kept: Result) -> None:
    table = kept.to_polars("collections")
    assert table.columns == ["device", "begin_ns", "end_ns"]
    assert table["end_ns"].is_sorted()
    for drive in kept.summary["devices"]:
        mine = table.filter(table["device"] == drive["device"])
        assert (mine["end_ns"] > mine["begin_ns"]).all()
        # One may be under way when the run ends, which no row has.
        assert 0 <= drive["collecting"]["intervals"] - mine.height <= 1
        us = (mine["end_ns"] - mine["begin_ns"]).to_numpy().sum() / 1e3
        assert us == pytest.approx(drive["collecting"]["us"], rel=0.05)


def test_commands_agree_with_the_summary(kept: Result) -> None:
    table = kept.to_polars("commands")
    assert set(table["operation"].cast(str).unique()) == {"read", "write"}
    for drive in kept.summary["devices"]:
        mine = table.filter(table["device"] == drive["device"])
        assert mine.height == drive["commands"]["count"]
        service = (mine["response_ns"] - mine["host_queue_ns"]).cast(float).to_numpy().mean()
        assert service / 1e3 == pytest.approx(drive["service_us"]["all"]["mean"])


def test_messages_are_kept(array: dict[str, Any]) -> None:
    array["array"]["coordination"] = "reactive_inclusive"
    array["array"]["protocol"] = {"latency": "5us"}
    table = copyback.run({**array, "metrics": {"messages": True}}).to_polars("messages")
    assert ((table["arrives_ns"] - table["sent_ns"]) == 5000).all()
    first = table["message"].to_list()[0]
    assert first == "runs_short"
    begun = table.filter(table["message"] == "collect")
    assert begun["device"].to_list()[:DRIVES] == list(range(DRIVES))


def test_requests_name_the_drive_that_ended_last(kept: Result) -> None:
    assert kept.requests is not None
    ended = np.bincount(kept.requests["device"].to_numpy(), minlength=DRIVES)
    assert ended.tolist() == [drive["requests_ended_last"] for drive in kept.summary["devices"]]


def test_a_single_drive_has_none_of_these_tables(tiny: dict[str, Any]) -> None:
    result = copyback.run({**tiny, "metrics": {"requests": True}})
    assert result.collections is None
    assert result.commands is None
    assert result.requests is not None
    assert "device" not in result.requests.columns
    with pytest.raises(copyback.InputError, match=r"metrics\.commands = true"):
        result.to_polars("commands")
    with pytest.raises(copyback.InputError, match=r"metrics\.collections: .* several drives"):
        copyback.run({**tiny, "metrics": {"collections": True}})


def test_tables_are_saved_and_loaded(kept: Result, tmp_path: Path) -> None:
    loaded = Result.load(kept.save(tmp_path / "out"))
    for table in ("requests", "collections", "commands"):
        mine, theirs = getattr(loaded, table), getattr(kept, table)
        assert mine.equals(theirs), table


def test_the_terminal_shows_the_array(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    done = cli(
        *("run", tiny_toml, "--set", "array.layout=raid5", "--set", "array.devices=4"),
        *("--set", "metrics.collections=true", "--set", "metrics.commands=true"),
        *("--set", "metrics.bandwidth_window=10ms", "--out", "out"),
    )
    text = " ".join(done.stdout.split())
    assert "Array RAID-5 of 4 drives · stripe unit 64KiB" in text
    assert "Together drives collecting, share of time: none" in text
    assert "coefficient of variation 0." in text
    result = Result.load(tmp_path / "out")
    for drive in describe.drives(result):
        assert f"{drive.label} {drive.commands:,}" in text
    assert {"collections.parquet", "commands.parquet"} <= {
        p.name for p in (tmp_path / "out").iterdir()
    }
    assert result.commands is not None


def test_shares_of_time_add_up(kept: Result) -> None:
    groups = describe.together(kept.summary)
    assert [label for label, _ in groups] == ["none", "1", "2", "3", "4"]
    assert sum(share for _, share in groups) == pytest.approx(1.0)


def test_many_drives_are_told_in_ranges(kept: Result) -> None:
    shares = [1 / 78] * 78
    groups = describe.together(msgspec.structs.replace(kept.summary, collecting_together=shares))
    assert len(groups) <= describe.MOST_GROUPS + 1
    assert groups[1][0] == "1 to 10"
    assert groups[-1][0] == "71 to 77"
    assert sum(share for _, share in groups) == pytest.approx(1.0)


def test_the_page_shows_the_array(kept: Result, array: dict[str, Any]) -> None:
    from test_report import Page, embedded

    text = report.render(kept)
    page = Page(text)
    assert {"array", "density"} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "When each drive collected" in text
    data = embedded(text)["density"]
    assert len(data["z"]) == len(data["density"]) == len(data["normal"])
    without = report.render(copyback.run(array))
    Page(without)
    assert "metrics.collections=true" in without


def test_a_single_drive_has_no_section(tiny: dict[str, Any]) -> None:
    from test_report import Page

    assert "array" not in Page(report.render(copyback.run(tiny))).ids


def test_a_density_is_one(kept: Result) -> None:
    found = array_report.density(kept)
    step = found["z"][1] - found["z"][0]
    assert sum(found["density"]) * step == pytest.approx(1.0, abs=0.05)
    assert sum(found["normal"]) * step == pytest.approx(1.0, abs=0.01)


def test_bandwidth_windows_are_those_of_the_summary(array: dict[str, Any]) -> None:
    array["metrics"] = {"bandwidth_window": "10ms", "interval": "2500us"}
    result = copyback.run(array)
    windows, seconds = array_report.bandwidth_windows(result)
    found = result.summary.bandwidth
    assert seconds == pytest.approx(found.window_s)
    assert len(windows) == found.windows
    assert windows.mean() / seconds / (1 << 20) == pytest.approx(found.mean_mib_per_s)
    assert windows.std() / windows.mean() == pytest.approx(found.coefficient_of_variation)


def test_a_strip_has_what_was_collected(kept: Result) -> None:
    assert kept.collections is not None
    table = kept.to_polars("collections").filter(kept.to_polars("collections")["device"] == 1)
    begin, end = (table[name].to_numpy() / 1e9 for name in ("begin_ns", "end_ns"))
    whole = kept.summary.throughput.simulated_s
    covered = array_report._covered(begin, end, whole)
    assert covered.max() <= 1.0
    share = (np.minimum(end, whole) - begin).sum() / whole
    assert covered.mean() == pytest.approx(share)
    one = array_report._covered(np.array([0.25]), np.array([0.75]), 1.0)
    assert one[:250].sum() == one[750:].sum() == 0
    assert one[250:750] == pytest.approx(np.ones(500))


# Multi-disk traces -----------------------------------------------------------------------------

DISK_TRACE = "\n".join(f"{i % 3},{i},4096,w,{i * 0.001:.3f}" for i in range(300)) + "\n"


def on_drives(config: dict[str, Any], path: Path, drives: int, **more: Any) -> Result:
    workload = {
        "type": "trace",
        "path": str(path),
        "device_layout": "concatenate",
        "beyond_device": "wrap",
        **more,
    }
    layout = {"layout": "jbod", "devices": drives}
    metrics = {"commands": True, "requests": True}
    return copyback.run({**config, "array": layout, "metrics": metrics, "workload": workload})


@pytest.fixture
def disks(tmp_path: Path) -> Path:
    path = tmp_path / "disks.spc"
    path.write_text(DISK_TRACE, encoding="ascii")
    return path


def test_each_disk_of_a_trace_has_a_drive(tiny: dict[str, Any], disks: Path) -> None:
    result = on_drives(tiny, disks, 4)
    counts = [drive["commands"]["count"] for drive in result.summary["devices"]]
    assert counts == [100, 100, 100, 0]
    assert result.requests is not None
    assert set(result.requests["device"].to_list()) == {0, 1, 2}


def test_a_trace_with_more_disks_than_drives_is_refused(tiny: dict[str, Any], disks: Path) -> None:
    with pytest.raises(copyback.InputError) as caught:
        on_drives(tiny, disks, 2)
    assert str(caught.value) == (
        f"{disks}:3: device: found one more than the 2 for which workload.device_layout has room; "
        "expected a smaller size, more drives, or a list in workload.devices"
    )
    with pytest.raises(copyback.InputError) as caught:
        on_drives(tiny, disks, 2, devices=[0, 1, 2])
    assert str(caught.value) == (
        "config: workload.devices: found 3; allowed: at most one for each of the array's 2 drives, "
        "or a size in device_layout"
    )


@pytest.mark.skipif("COPYBACK_TRACES" not in os.environ, reason="COPYBACK_TRACES is not set")
def test_77_disks_on_77_drives(tiny: dict[str, Any]) -> None:
    """An hour of an HP server with 77 disks."""
    path = Path(os.environ["COPYBACK_TRACES"]) / "hp-2003-hourly-77-disks.csv.gz"
    result = on_drives(tiny, path, 77)
    assert sum(drive["commands"]["count"] > 0 for drive in result.summary["devices"]) > 70


# Bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array_keys", "place"),
    [
        ({"layout": "raid0", "devices": 2, "stripe": "1GiB"}, "array.stripe: found 1GiB"),
        ({"layout": "raid5", "devices": 2}, "array.devices: found 2; allowed: 3 to"),
        ({"layout": "raid6", "devices": 3}, "array.devices: found 3; allowed: 4 to"),
        ({"devices": 2}, "array.devices: found 2; allowed: 1, or another array.layout"),
        ({"layout": "raid0", "devices": 4, "stripe": "6KiB"}, "array.stripe: found 6KiB"),
        ({"layout": "raid0", "devices": 4, "failed": [1]}, "array.failed: found a lost drive"),
        ({"layout": "raid5", "devices": 4, "failed": [4]}, "array.failed: found drive 4"),
        ({"layout": "raid10", "devices": 4, "failed": [2, 3]}, "array.failed: found all drives"),
        ({"layout": "raid1", "devices": 2, "copies": 2}, "array.copies: found 2; allowed: with"),
    ],
)
def test_senseless_arrays_are_refused(
    tiny: dict[str, Any], array_keys: dict[str, Any], place: str
) -> None:
    with pytest.raises(copyback.InputError) as caught:
        copyback.run({**tiny, "array": array_keys})
    assert len(str(caught.value).splitlines()) == 1
    assert place in str(caught.value)


def test_threads_change_nothing(array: dict[str, Any], tmp_path: Path) -> None:
    """Drives are prepared side by side or in turn: the same run, the same saved devices."""
    config = {**array, "precondition": {"fill": 1.0, "overwrites": 1.0}}
    one, three = (copyback.run(config, threads=threads) for threads in (1, 3))
    summaries = [json.loads(result.summary.to_json()) for result in (one, three)]
    for summary in summaries:
        del summary["simulator"]
    assert summaries[0] == summaries[1]
    assert three.series.equals(one.series)
    saved = [
        copyback.precondition(config, save=tmp_path / f"{threads}.state", threads=threads)
        for threads in (1, 3)
    ]
    assert saved[0].read_bytes() == saved[1].read_bytes()


def test_no_threads_are_refused(cli: RunCli, tiny_toml: Path) -> None:
    assert "--threads" in cli("run", tiny_toml, "--threads", "0", status=2).stderr
