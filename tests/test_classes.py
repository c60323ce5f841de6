"""What is told of the classes of a placement, and of how good it could get."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import copyback
from copyback import report
from copyback.inputs import configuration
from copyback.report import plots
from copyback.result import Result
from copyback.simulation import bound
from copyback.words import classes

if TYPE_CHECKING:
    from conftest import RunCli

#: Every placement that sorts by what has been.
NAMES = [
    "one_class",
    "host_and_gc_apart",
    "sepbit",
    "dac",
    "fadac",
    "eti",
    "auto_stream_multi_queue",
    "auto_stream_sfr",
    "warcip",
    "sfs",
    "multi_log",
    "generations",
    "midas",
]
VOLUMES = Path(__file__).parent.parent / "examples/volumes.py"


def sorted_by(placement: Any, **more: Any) -> dict[str, Any]:
    """Return a small drive under hot and cold writes, with this placement."""
    return {
        "seed": 3,
        "ssd": {
            "geometry": {
                "channels": 1,
                "chips_per_channel": 1,
                "dies_per_chip": 1,
                "planes_per_die": 2,
                "blocks_per_plane": 128,
                "pages_per_block": 32,
                "page_size": "4KiB",
            },
            "ftl": {"over_provisioning": 0.2, "placement": placement},
        },
        "workload": {
            "type": "synthetic",
            "requests": 40_000,
            "request_size": "4KiB",
            "read_share": 0.0,
            "address": {"type": "zipf", "theta": 1.0},
        },
        "precondition": {"fill": 1.0, "overwrites": 0.0},
    } | more


@pytest.fixture(scope="module")
def result() -> Result:
    return copyback.run(sorted_by("sepbit"), bound=True, audit=True)


@pytest.fixture(scope="module")
def usual() -> Result:
    return copyback.run(sorted_by("host_and_gc_apart"))


def test_the_classes_add_up_to_the_write_amplification(result: Result, usual: Result) -> None:
    for summary in (result.summary, usual.summary):
        assert summary.placement is not None
        added = [one.added_page_write_amplification or 0.0 for one in summary.placement.classes]
        assert 1 + sum(added) == pytest.approx(summary.page_write_amplification, rel=0.01)


def test_pages_live_longer_in_colder_classes(result: Result, usual: Result) -> None:
    assert result.summary.placement is not None
    found = result.summary.placement.classes
    lives = [one.page_life_pages or 0.0 for one in found]
    assert lives[0] < lives[1]
    assert lives[3] < lives[4] < lives[5]
    # A page that has died has lived no longer than its block.
    assert all(one.page_life_pages < one.block_life_pages for one in found)  # type: ignore[operator]
    assert [(one.takes_host, one.takes_moved) for one in found[1:3]] == [
        (True, False),
        (False, True),
    ]
    assert usual.summary.placement is not None
    assert {one.page_life_pages for one in usual.summary.placement.classes} == {None}


@pytest.mark.parametrize(
    ("placement", "mapping"), [("one_class", "page"), ("host_and_gc_apart", "log_block")]
)
def test_nothing_is_told_of_classes_where_there_are_none(placement: str, mapping: str) -> None:
    config = sorted_by(placement)
    config["ssd"]["ftl"]["mapping"] = mapping
    config["workload"]["requests"] = 2_000
    found = copyback.run(config)
    assert found.summary.placement is None
    assert not [name for name in found.series.columns if name.startswith("class_")]
    page = report.render(found)
    assert 'id="classes"' not in page
    assert 'id="placement"' not in page


def test_classes_and_free_blocks_are_all_blocks_over_time(result: Result) -> None:
    table = result.series
    held = [table[f"class_{number}_blocks"].to_numpy() for number in range(6)]
    assert set(np.sum(held, axis=0) + table["free_blocks_total"].to_numpy()) == {256}
    drawn = plots.held(result)
    assert [label for label, _ in drawn] == ["0", "1", "2", "3", "4", "5", "free"]
    assert sum(column[-1] for _, column in drawn) == pytest.approx(256, rel=1e-3)


def test_many_classes_are_drawn_in_bands() -> None:
    oracle = {"type": "oracle", "classes": 18, "growth": 1.3}
    found = copyback.run(sorted_by(oracle))
    labels = [band.label for band in classes.bands(found)]
    assert labels == ["0 to 2", "3 to 5", "6 to 8", "9 to 11", "12 to 14", "15 to 17"]


def test_handles_are_named() -> None:
    names = {}
    for isolation in ("initial", "persistent"):
        placement = {"type": "by_hint", "handles": 2, "isolation": isolation}
        found = copyback.run(sorted_by(placement))
        names[isolation] = [row.label for row in classes.rows(found)]
    assert names["initial"] == ["handle 0", "handle 1", "moved"]
    assert names["persistent"] == ["handle 0", "handle 1", "moved 0", "moved 1"]


def test_page_and_terminal_show_the_classes(result: Result, usual: Result) -> None:
    page = report.render(result)
    assert "<dt>Placement</dt><dd>sepbit</dd>" in page
    assert page.count("<figcaption><strong>Blocks of each class</strong>") == 1
    assert "<dt>Placement</dt><dd>sepbit</dd>" not in report.render(usual)
    assert "Blocks of each class" in report.render(usual)


def test_the_terminal_tells_at_80_columns(cli: RunCli, tmp_path: Path) -> None:
    path = tmp_path / "drive.toml"
    path.write_text(configuration.load(sorted_by("sepbit")).to_toml(), encoding="utf-8")
    told = cli("run", path, "--bound", "--quiet").stdout
    assert max(map(len, told.splitlines())) <= 80
    assert re.search(r"^Placement +sepbit$", told, re.MULTILINE)
    assert re.search(r"^Class +takes +filled +victims +valid +adds", told, re.MULTILINE)
    assert len(re.findall(r"^[0-5] +(host|moved) ", told, re.MULTILINE)) == 6
    assert re.search(r"with 6 classes, this run is [0-9.]+ % above", told)
    plain = cli("run", path, "--set", "ssd.ftl.placement=host_and_gc_apart", "-q").stdout
    assert "Placement" not in plain
    assert "Class " not in plain


def test_the_bound_is_a_legal_run_of_the_same_drive(result: Result, tmp_path: Path) -> None:
    found = result.summary.bound
    assert found is not None
    assert found.refused == []
    counts = [run.classes for run in found.runs]
    assert counts[:2] == [6, 16]
    config = configuration.load(sorted_by("sepbit"))
    *by_classes, last = found.runs
    assert counts[2:-1] == [bound.most_classes(config)]
    # The last has the classes of the best, and victims that are foreseen.
    assert [run.victims_foreseen for run in found.runs] == [False] * len(by_classes) + [True]
    assert last.classes == min(by_classes, key=lambda run: run.write_amplification or 0.0).classes
    for run in found.runs:
        oracle = {"type": "oracle", "classes": run.classes, "growth": run.growth}
        again_with = sorted_by(oracle)
        if run.victims_foreseen:
            again_with["ssd"]["gc"] = {"victim": "foresight"}
        again = copyback.run(again_with, audit=True)
        assert again.write_amplification == run.write_amplification
        assert run.write_amplification < result.write_amplification  # type: ignore[operator]
    # It is in the files, and in a page that is made from them later.
    result.save(tmp_path / "run")
    again = Result.load(tmp_path / "run")
    assert again.summary.bound == found
    assert "How good it could get" in report.render(again)


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ({"array": {"devices": 2, "layout": "raid0"}}, '"oracle" with 2 drives'),
        ({"stop": {"type": "steady_state"}}, "a rule that ends the run"),
    ],
)
def test_where_there_is_no_bound_the_run_is_told_all_the_same(
    setting: dict[str, Any], why: str
) -> None:
    config = sorted_by("host_and_gc_apart", **setting)
    config["workload"]["requests"] = 2_000
    found = copyback.run(config, bound=True)
    assert found.summary.bound is not None
    assert found.summary.bound.runs == []
    [sentence] = found.summary.bound.refused
    assert why in sentence
    assert sentence.startswith("ssd.ftl.placement: ")
    assert found.write_amplification is not None
    page = report.render(found)
    assert "Not run: ssd.ftl.placement: found" in page


def test_as_many_classes_as_fit_may_be_few() -> None:
    config = sorted_by("one_class")
    config["ssd"]["geometry"]["blocks_per_plane"] = 24
    config["workload"]["requests"] = 2_000
    config["precondition"]["fill"] = 0.5
    found = copyback.run(config, bound=True).summary.bound
    assert found is not None
    assert [run.victims_foreseen for run in found.runs] == [False, True]
    assert 2 <= found.runs[0].classes == found.runs[1].classes < 6


def test_victims_that_need_another_placement_leave_the_bound_those_that_are_foreseen() -> None:
    config = sorted_by("sfs")
    config["ssd"]["gc"] = {"victim": "cost_hotness"}
    found = copyback.run(config, bound=True).summary.bound
    assert found is not None
    assert [(run.classes, run.victims_foreseen) for run in found.runs] == [(16, True)]
    assert [sentence[:42] for sentence in found.refused] == [
        'ssd.gc.victim: found "cost_hotness"; allowe'[:42]
    ]


@pytest.mark.parametrize("address", ["uniform", 0.6, 1.0, 1.2])
def test_nothing_that_does_not_know_the_future_beats_the_last_row_of_a_bound(address: Any) -> None:
    kind = "uniform" if address == "uniform" else {"type": "zipf", "theta": address}
    own = {"sfs": ["cost_hotness"], "multi_log": [], "generations": [], "midas": []}
    usual = ["greedy", {"type": "cost_benefit", "age": "since_sealed", "weight": "sqrt"}]

    def written(placement: Any, victim: Any, **more: Any) -> float:
        config = sorted_by(placement)
        config["workload"]["address"] = kind
        config["ssd"]["gc"] = {"victim": victim}
        found = copyback.run(config, **more).summary
        if more:
            assert found.bound is not None
            return found.bound.runs[-1].write_amplification or 0.0
        return found.write_amplification or 0.0

    least = written("host_and_gc_apart", "greedy", bound=True)
    for placement in NAMES:
        for victim in usual + own.get(placement, []):
            assert written(placement, victim) > least, (placement, victim)


def test_nobody_asks_for_a_bound_by_accident(usual: Result) -> None:
    assert usual.summary.bound is None
    assert "bound" not in json.loads(usual.summary.to_json())


def test_the_classes_of_a_bound_are_neither_too_narrow_nor_too_wide() -> None:
    def amplification(drives: float, address: Any) -> float:
        growth = bound.growth_of(16, drives * 128)
        config = sorted_by({"type": "oracle", "classes": 16, "growth": growth})
        config["workload"]["address"] = address
        found = copyback.run(config).write_amplification
        assert found is not None
        return found

    for address in ("uniform", {"type": "zipf", "theta": 1.0}):
        chosen = amplification(bound.SPAN, address)
        assert chosen < amplification(0.5, address)
        assert chosen < amplification(500, address)


def test_whoever_has_volumes_of_a_store_runs_them_one_by_one(tmp_path: Path) -> None:
    drawn = random.Random(1)
    rows = []
    for time in range(12_000):
        volume = 17 if time % 3 else 3
        page = int(drawn.paretovariate(0.6)) % 2_000 if volume == 17 else 7 * (time % 90)
        rows.append(f"{volume},W,{4096 * page},4096,{100 * time}\n")
    trace = tmp_path / "store.csv"
    trace.write_text("".join([*rows, "5,R,0,4096,1200000\n"]), encoding="utf-8")
    command = [sys.executable, str(VOLUMES), str(trace), "--format", "alibaba"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    header, *lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["17", "3", "5", "all"]
    assert lines[2][1:] == ["not written"]
    found = {
        line[0]: dict(zip(header[1:], map(float, line[1:]), strict=True)) for line in lines[:2]
    }
    assert found["17"]["oracle, 16"] < found["17"]["SepBIT"] < found["17"]["one class"]
