"""``copyback trace floor``: how well the measured times of one trace predict those of another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from copyback import InputError
from copyback.calibration.floor import floor
from copyback.calibration.forecast import Forecast
from copyback.calibration.rules import drawn

if TYPE_CHECKING:
    from conftest import RunCli

ROOT = Path(__file__).parent.parent
STORED = ROOT / "experiments/calibration"


def measured(path: Path, slow: int) -> Path:
    """Write a trace of a device whose writes of 4 KiB are slow once in four, and others never."""
    rows = [
        (
            n * 1_000_000,
            "write",
            n * 65536,
            4096 if n % 2 else 32768,
            (slow if n % 8 == 1 else 500_000) if n % 2 else 2_000_000,
        )
        for n in range(400)
    ]
    columns = ["arrival_ns", "operation", "offset", "bytes", "measured_response_ns"]
    pl.DataFrame(rows, columns, orient="row").write_parquet(path)
    return path


def test_points_are_scored_by_the_logarithm_of_their_error() -> None:
    forecast = Forecast.of_points(np.array([100.0, 400.0, 50.0]))
    assert forecast.score(np.array([100.0, 200.0, 100.0])) == pytest.approx(2 * np.log(2) / 3)


def test_a_distribution_scores_better_than_its_median() -> None:
    times = np.array([100.0, 100.0, 400.0])
    told = Forecast.of_kinds(np.zeros(3, dtype=np.int64), [times])
    assert told.score(times) < Forecast.of_points(np.full(3, 100.0)).score(times)


def test_times_are_drawn_from_those_of_the_nearest_size_class() -> None:
    sizes, times = np.array([4096.0, 4096.0, 65536.0]), np.array([10.0, 20.0, 90.0])
    told = drawn(sizes, times, np.array([5000.0, 1e9])).all_times()
    assert (told[0].min(), told[0].max()) == pytest.approx((10.0, 20.0), rel=0.01)
    assert set(told[1]) == {90.0}


def test_a_trace_of_the_same_device_is_predicted_and_one_of_a_slower_tail_is_not(
    tmp_path: Path,
) -> None:
    same = [measured(tmp_path / f"{name}.parquet", 8_000_000) for name in ("one", "two")]
    slower = measured(tmp_path / "slower.parquet", 16_000_000)
    found = floor([*same, slower])
    rows = {(row.fitted, row.predicted, row.predictor): row for row in found.rows}
    drawn_row = rows["one", "two", "drawn"]
    assert (drawn_row.p50_ratio, drawn_row.p99_ratio) == pytest.approx((1.0, 1.0))
    # Only the floor knows the slow ones: a point forecast of the class is their median.
    assert rows["one", "two", "by_size"].p99_ratio == pytest.approx(2 / 8)
    assert drawn_row.score < rows["one", "two", "by_size"].score
    assert rows["one", "slower", "drawn"].p99_ratio == pytest.approx(0.5)
    assert rows["slower", "one", "drawn"].p99_ratio == pytest.approx(2.0)


def test_the_command_tells_every_ordered_pair(cli: RunCli, tmp_path: Path) -> None:
    for name in ("one", "two"):
        measured(tmp_path / f"{name}.parquet", 8_000_000)
    shown = cli("trace", "floor", "one.parquet", "two.parquet", "--halves").stdout
    for pair in ("one → two, write", "two → one", "one (1st half) → one (2nd half)"):
        assert pair in shown
    told = json.loads(cli("trace", "floor", "one.parquet", "two.parquet", "--json").stdout)
    pairs = {(row["fitted"], row["predicted"]) for row in told["rows"]}
    assert pairs == {("one", "two"), ("two", "one")}


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    one = measured(tmp_path / "one.parquet", 8_000_000)
    with pytest.raises(InputError, match="one trace: name another"):
        floor([one])
    with pytest.raises(InputError, match="only nexus5 says when"):
        floor([one, one], times="service")
    pl.read_parquet(one).drop("measured_response_ns").write_parquet(tmp_path / "plain.parquet")
    with pytest.raises(InputError, match="holds no measured times"):
        floor([one, tmp_path / "plain.parquet"])
    pl.read_parquet(one)[:50].write_parquet(tmp_path / "short.parquet")
    with pytest.raises(InputError, match="50 requests with measured times; at least 100"):
        floor([one, tmp_path / "short.parquet"])


def test_the_page_of_tables_is_what_the_stored_results_say(tmp_path: Path) -> None:
    page = "docs/calibration-tables.md"
    command = [sys.executable, str(ROOT / "tools/calibration_page.py"), "--to", str(tmp_path)]
    subprocess.run(command, check=True)
    assert (ROOT / page).read_text(encoding="utf-8") == (tmp_path / page).read_text(
        encoding="utf-8"
    )


@pytest.mark.skipif("COPYBACK_TRACES" not in os.environ, reason="COPYBACK_TRACES is not set")
@pytest.mark.parametrize("times", ["service", "response"])
def test_the_stored_floor_is_what_the_traces_give(times: str) -> None:
    traces = Path(os.environ["COPYBACK_TRACES"])
    names = ("nexus5-twitter.txt.gz", "nexus5-Installing.txt.gz")
    found = floor([traces / name for name in names], times=times, halves=True).to_dict()
    stored = json.loads((STORED / f"floor-{times}.json").read_text(encoding="utf-8"))
    for row, before in zip(found["rows"], stored["rows"], strict=True):
        assert row == pytest.approx(before), (row, before)
