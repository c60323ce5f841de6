"""Response times that a trace holds, beside the simulated ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import copyback
from copyback import report
from copyback.report import plots

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

TRACE = """\
1455592200.0,0.000300,R,0,0,4096
1455592200.1,,R,0,4096,4096
1455592200.2,0.000100,W,0,8192,4096
1455592200.3,0.000200,R,0,0,4096
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "vdi.csv"
    path.write_text(TRACE, encoding="ascii")
    return path


def test_statistics_are_those_of_the_trace(tiny: dict[str, Any], trace: Path) -> None:
    result = copyback.run(tiny, trace=trace, requests=True)
    measured = result.summary["measured_response_us"]
    assert (measured.all.count, measured.read.count, measured.write.count) == (3, 2, 1)
    assert measured.read.mean == pytest.approx(250)
    assert (measured.all.min, measured.all.max) == (100, 300)
    assert result.summary.response_us.all.count == 4
    curves = result.to_polars("distribution")
    reads = curves.filter(curves["operation"] == "measured_read")["response_us"]
    assert reads.to_list() == pytest.approx([200, 300], rel=1e-3)


def test_the_column_is_null_where_the_trace_holds_none(tiny: dict[str, Any], trace: Path) -> None:
    table = copyback.run(tiny, trace=trace, requests=True).requests
    assert table is not None
    column = table["measured_response_ns"]
    assert column.to_list() == [300_000, None, 100_000, 200_000]
    assert "is_unmeasured" not in table.columns


def test_without_measured_times_there_is_no_trace_of_them(tiny: dict[str, Any]) -> None:
    result = copyback.run(tiny, requests=True)
    assert "measured_response_us" not in result.summary
    assert result.requests is not None
    assert result.requests["measured_response_ns"].null_count() == 3000
    assert not any(name.startswith("measured") for name in plots.distribution(result))


def test_both_are_shown(cli: RunCli, tiny_toml: Path, trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shown = cli("run", tiny_toml, "--trace", trace, "--requests", "--out", out).stdout
    assert "read, measured" in shown
    assert json.loads((out / "summary.json").read_text())["measured_response_us"]["all"]["count"]
    assert pl.read_parquet(out / "requests.parquet")["measured_response_ns"].null_count() == 1
    result = copyback.Result.load(out)
    assert "write, measured" in report.render(result)
    assert "measured_all" in plots.distribution(result)
