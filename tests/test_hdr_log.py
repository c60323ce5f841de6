"""The log of histograms, read by another implementation: it says what the run says."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

import copyback

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

#: Three significant digits: no value is told more than so much too high.
ERROR = 1e-3

PERCENTILES = {"p50": 50, "p90": 90, "p99": 99, "p99_9": 99.9, "p99_99": 99.99}


def histogram() -> HdrHistogram:
    """Return an empty histogram of up to an hour in ns."""
    return HdrHistogram(1, 3_600_000_000_000, 3)


def read(path: Path) -> list[HdrHistogram]:
    reader = HistogramLogReader(str(path), histogram())
    found = []
    while (interval := reader.get_next_interval_histogram()) is not None:
        found.append(interval)
    reader.close()
    return found


@pytest.fixture
def kept(tiny: dict[str, Any]) -> copyback.Result:
    settings: dict[str, Any] = {"metrics.histogram_interval": "50ms", "metrics.requests": True}
    return copyback.run(tiny, **settings)


def test_percentiles_are_those_of_the_summary(kept: copyback.Result, tmp_path: Path) -> None:
    intervals = read(kept.write_hdr_log(tmp_path / "latency.hlog"))
    for operation in ("read", "write"):
        whole = histogram()
        for interval in intervals:
            if interval.get_tag() == operation:
                whole.add(interval)
        told = kept.summary.response_us[operation]
        assert whole.get_total_count() == told["count"]
        for key, percentile in PERCENTILES.items():
            # Implementations differ in how they round to a rank: ask for that of a whole request.
            rank = math.ceil(percentile / 100 * told["count"])
            logged = whole.get_value_at_percentile(100 * rank / told["count"]) / 1e3
            assert logged == pytest.approx(told[key], rel=ERROR), (operation, key)
        assert whole.get_mean_value() / 1e3 == pytest.approx(told.mean, rel=ERROR)


def test_each_interval_has_the_requests_completed_in_it(
    kept: copyback.Result, tmp_path: Path
) -> None:
    assert kept.requests is not None
    rows = kept.requests.to_dict()
    expected: dict[tuple[str, int], list[int]] = {}
    for arrival, response, operation in zip(
        rows["arrival_ns"], rows["response_ns"], rows["operation"], strict=True
    ):
        interval = (arrival + response) // 50_000_000
        expected.setdefault((operation, interval), []).append(response)
    found = {}
    for logged in read(kept.write_hdr_log(tmp_path / "latency.hlog")):
        start, end = logged.get_start_time_stamp(), logged.get_end_time_stamp()
        assert end - start == pytest.approx(50)
        found[logged.get_tag(), round(start / 50)] = logged
    assert found.keys() == expected.keys()
    for key, responses in expected.items():
        assert found[key].get_total_count() == len(responses)
        assert found[key].get_max_value() == pytest.approx(max(responses), rel=ERROR)


def test_the_command_line_writes_the_same_bytes_each_time(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    log, out = tmp_path / "a.hlog", tmp_path / "out"
    interval = ("--set", "metrics.histogram_interval=50ms")
    cli("run", tiny_toml, *interval, "--hdr-log", log, "-q")
    cli("run", tiny_toml, *interval, "--out", out, "-q")
    kept = out / "latency.hlog"
    assert log.read_bytes() == kept.read_bytes() == copyback.Result.load(out).latency_log
    lines = log.read_text(encoding="ascii").splitlines()
    assert lines[1:4] == [
        "#[Histogram log format version 1.3]",
        "#[StartTime: 0.000 (seconds since epoch)]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    both = tmp_path / "both.hlog"
    cli("run", tiny_toml, *interval, "--hdr-log", both, "--out", tmp_path / "again", "-q")
    assert both.read_bytes() == log.read_bytes()
    # A second is the interval if none is configured; this run takes less.
    cli("run", tiny_toml, "--hdr-log", log, "-q")
    assert [interval.get_tag() for interval in read(log)] == ["read", "write"]


def test_saving_a_result_keeps_its_log(kept: copyback.Result, tmp_path: Path) -> None:
    again = copyback.Result.load(kept.save(tmp_path / "saved"))
    assert again.latency_log == kept.latency_log
    digest = hashlib.sha256(again.write_hdr_log(tmp_path / "b.hlog").read_bytes())
    assert kept.latency_log is not None
    assert digest.digest() == hashlib.sha256(kept.latency_log).digest()


def test_what_cannot_be_written_is_refused(
    cli: RunCli, tiny: dict[str, Any], tiny_toml: Path, tmp_path: Path
) -> None:
    with pytest.raises(copyback.InputError, match=r"metrics\.histogram_interval"):
        copyback.run(tiny).write_hdr_log(tmp_path / "none.hlog")
    missing = tmp_path / "nowhere" / "a.hlog"
    assert "no such directory" in cli("run", tiny_toml, "--hdr-log", missing, status=2).stderr
    for wrong in ("0s", "1500us"):
        refused = cli("run", tiny_toml, "--set", f"metrics.histogram_interval={wrong}", status=2)
        assert "allowed: a multiple of 1ms" in refused.stderr
