"""Arguments of functions: paths as text or Path; another type gets a line with what is allowed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure

import copyback
from conftest import tiny_config
from copyback import fio
from copyback.inputs.arguments import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

TINY = tiny_config()
TINY["workload"]["requests"] = 300


@pytest.fixture(scope="module")
def result() -> copyback.Result:
    return copyback.run(TINY, requests=True, metrics__histogram_interval="1s")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> copyback.Comparison:
    return copyback.compare(
        TINY,
        over={"ssd.gc.victim": ["greedy", "fifo"], "workload.read_share": [0.2, 0.6]},
        seeds=2,
        out=str(tmp_path_factory.mktemp("found") / "sweep"),
    )


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "config": (lambda: copyback.run(5), "run(): config: found 5 (int); allowed: a path, or a dict"),  # type: ignore[arg-type]
    "a list": (lambda: copyback.run([TINY]), "run(): config: found [{"),  # type: ignore[arg-type]
    "trace": (lambda: copyback.run(TINY, trace=5), "run(): trace: found 5 (int)"),  # type: ignore[arg-type]
    "seed": (lambda: copyback.run(TINY, seed=1.5), "run(): seed: found 1.5 (float)"),  # type: ignore[arg-type]
    "no seed": (lambda: copyback.run(TINY, seed=True), "run(): seed: found True (bool)"),
    "audit": (lambda: copyback.run(TINY, audit="no"), "allowed: True or False"),  # type: ignore[arg-type]
    "threads": (lambda: copyback.run(TINY, threads=0), "allowed: a whole number above 0"),
    "timeline": (lambda: copyback.run(TINY, timeline=3), "run(): timeline: found 3 (int)"),  # type: ignore[arg-type]
    "state": (lambda: copyback.run(TINY, state=b"a"), "found b'a' (bytes)"),  # type: ignore[arg-type]
    "save": (lambda: copyback.precondition(TINY, save=3), "precondition(): save: found 3"),  # type: ignore[arg-type]
    "over": (lambda: copyback.compare(TINY, over=["a"]), "compare(): over: found ['a'] (list)"),  # type: ignore[arg-type]
    "keys": (lambda: copyback.compare(TINY, over={3: [1]}), "compare(): over: found {3: [1]}"),  # type: ignore[dict-item]
    "jobs": (lambda: copyback.compare(TINY, over={"seed": [1]}, jobs=0), "jobs: found 0"),
    "seeds": (lambda: copyback.compare(TINY, seeds="3"), "seeds: found '3' (str)"),  # type: ignore[arg-type]
    "no seeds": (lambda: copyback.compare(TINY, seeds=0), "seeds: found 0 (int)"),
    "memory": (lambda: copyback.compare(TINY, memory=3), "memory: found 3 (int)"),  # type: ignore[arg-type]
    "baseline": (lambda: copyback.compare(TINY, baseline="a"), "baseline: found 'a' (str)"),  # type: ignore[arg-type]
    "where": (lambda: copyback.search(TINY, where=5), "search(): where: found 5 (int)"),  # type: ignore[arg-type]
    "source": (lambda: copyback.trace_info(5), "trace_info(): source: found 5 (int)"),  # type: ignore[arg-type]
    "output": (lambda: copyback.convert_trace(TINY, 5), "convert_trace(): output: found 5"),  # type: ignore[arg-type]
    "drop": (lambda: copyback.convert_trace(TINY, "a", drop="trim"), "drop: found 'trim'"),  # type: ignore[arg-type]
    "fit": (lambda: copyback.calibrate(TINY, fit="x"), "calibrate(): fit: found 'x' (str)"),
    "load": (lambda: copyback.Result.load(5), "Result.load(): directory: found 5 (int)"),  # type: ignore[arg-type]
    "sweep": (lambda: copyback.Comparison.load(5), "Comparison.load(): directory: found 5"),  # type: ignore[arg-type]
    "part": (lambda: copyback.Tournament.load(None), "directory: found None; allowed: a path"),  # type: ignore[arg-type]
    "job": (lambda: fio.read_job_file(5, 10**9), "read_job_file(): path: found 5 (int)"),  # type: ignore[arg-type]
    "capacity": (lambda: fio.read_job_file("a", "1GB"), "capacity: found '1GB' (str)"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", WRONG)
def test_an_argument_of_another_type_is_told_in_a_line(name: str) -> None:
    call, said = WRONG[name]
    with pytest.raises(copyback.InputError) as caught:
        call()
    assert isinstance(caught.value, ArgumentError)
    assert isinstance(caught.value, TypeError)
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_what_a_result_is_written_to_is_told_too(result: copyback.Result) -> None:
    for write in (result.save, result.report, result.write_hdr_log):
        with pytest.raises(copyback.InputError, match=r"found None; allowed: a path"):
            write(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [str, Path])
def test_paths_are_texts_or_paths(
    result: copyback.Result, tmp_path: Path, kind: Callable[[Path], Any]
) -> None:
    trace, job = tmp_path / "t.csv", tmp_path / "a.fio"
    job.write_text("[a]\nrw=randwrite\nbs=4k\nsize=1m\ndirect=1\n")
    assert fio.read_job_file(kind(job), 10**9).workload["type"] == "synthetic"
    assert fio.settings_of_job(kind(job), 10**9)[0][0][0] == "workload"
    assert fio.write_fio_json(result, kind(tmp_path / "f.json")).exists()
    copyback.convert_trace(TINY, kind(trace), to="msr")
    assert copyback.trace_info(kind(trace)).requests == 300
    state = copyback.precondition(TINY, save=kind(tmp_path / "s"))
    assert copyback.run(TINY, trace=kind(trace), state=kind(state)).summary.requests.count == 300
    assert result.save(kind(tmp_path / "out")) == tmp_path / "out"
    assert copyback.Result.load(kind(tmp_path / "out")).summary == result.summary
    assert result.report(kind(tmp_path / "r.html")).exists()
    assert result.write_hdr_log(kind(tmp_path / "l.hlog")).exists()


def test_numbers_of_numpy_are_numbers() -> None:
    assert copyback.run(TINY, seed=np.int64(3), audit=np.bool_(False)).summary.seed == 3  # type: ignore[arg-type]


def test_a_comparison_is_a_few_lines_whatever_its_size(found: copyback.Comparison) -> None:
    lines = repr(found).splitlines()
    assert lines[0] == "Comparison(8 runs of 2 schemes, 2 loads)"
    assert lines[1].startswith("No winner: no scheme can be ranked by p99. Not ranked: ")
    large = replace(found, contests=found.contests * 100, refused=("a",) * 50, failed=("b",) * 9)
    lines = repr(large).splitlines()
    assert lines[0] == "Comparison(8 runs of 2 schemes, 200 loads, 50 refused, 9 failed)"
    assert len(lines) <= 5
    assert max(map(len, lines)) <= 100
    assert len(repr(found.frame)) < 1000


def test_a_search_is_a_few_lines() -> None:
    searched = copyback.search(TINY, least="ssd.ftl.over_provisioning=0.25..0.5", where="WA < 100")
    first, answer, *rest = repr(searched).splitlines()
    assert len(rest) < 4
    assert first == "SearchResult(2 runs of 2 values)"
    assert answer.startswith("The least over_provisioning")
    assert pd.DataFrame(searched)["ssd.ftl.over_provisioning"].to_list() == [0.25, 0.5]
    assert isinstance(searched.plot(), Figure)
    assert len(searched.to_polars()) == len(searched.to_pandas()) == 2


def test_pandas_takes_a_comparison_as_it_is(found: copyback.Comparison) -> None:
    table = pd.DataFrame(found)
    assert list(table.columns) == found.frame.columns
    assert table["write_amplification"].to_list() == found.frame["write_amplification"].to_list()
    assert table["ssd.gc.victim"].to_list() == found.frame["ssd.gc.victim"].to_list()
    assert found.to_pandas()["seed"].to_list() == found.to_polars()["seed"].to_list()
    # A library that takes streams takes that way still.
    assert pl.DataFrame(found).to_dicts() == list(found)


def test_pandas_takes_a_frame_and_tables_of_a_run(result: copyback.Result) -> None:
    series = pd.DataFrame(result.series)
    assert series["requests"].sum() == 300
    assert list(series.columns) == result.series.columns
    assert result.to_pandas()["requests"].sum() == 300
    assert len(result.to_pandas("requests")) == 300
    assert pl.DataFrame(result.series).shape == (len(series), len(series.columns))
    with pytest.raises(copyback.InputError, match=r"'commands'; run with metrics\.commands"):
        result.to_pandas("commands")
    with pytest.raises(copyback.InputError, match="no table 'rows'; it has series, distribution"):
        result.to_pandas("rows")  # type: ignore[arg-type]


def test_a_run_is_drawn(result: copyback.Result, tmp_path: Path) -> None:
    figure = result.plot()
    tail, time = figure.axes
    assert {line.get_label() for line in tail.lines} == {"all", "read", "write"}
    assert {line.get_label() for line in time.lines} == {"mean", "max"}
    slowest = max(max(line.get_ydata()) for line in time.lines)  # type: ignore[type-var, arg-type]
    assert all(len(line.get_xdata()) <= 120 for line in time.lines)  # type: ignore[arg-type]
    assert slowest == pytest.approx(result.summary.response_us.all.max)
    figure.savefig(tmp_path / "run.svg")


def test_a_comparison_is_drawn(found: copyback.Comparison, tmp_path: Path) -> None:
    figure = found.plot("WA")
    assert len(figure.axes) == len(found.contests) == 2
    contest = found.contests[0]
    bars = [bar.get_width() for bar in figure.axes[0].patches]  # type: ignore[attr-defined]
    assert bars == [scheme.values["WA"].mean for scheme in contest.schemes]
    assert figure.axes[0].get_xlabel() == "WA"
    found.plot().savefig(tmp_path / "found.svg")
    with pytest.raises(copyback.InputError, match="found 'best'; allowed: mean, p99"):
        found.plot("best")


def test_presets_are_listed_with_what_they_are() -> None:
    drives = copyback.presets()
    assert all("\n" not in about and about for about in drives.values())
    copyback.run(
        preset=next(iter(drives)),
        workload=next(iter(copyback.presets("workloads"))),
        workload__requests=10,
        precondition={"fill": 0.0, "overwrites": 0.0},
    )
    with pytest.raises(copyback.InputError, match="found 'all'; allowed: 'drives' or 'workloads'"):
        copyback.presets("all")  # type: ignore[arg-type]
