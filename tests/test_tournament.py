"""The tournament: for each workload the best design, and schemes as published and tuned."""

from __future__ import annotations

import json
import re
import statistics
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.designer.runs import Runner
from copyback.designer.tournament.contest import Ways, hold
from copyback.designer.tournament.tournament_file import read_tournament
from copyback.sweep.where import Where
from pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli
    from copyback.designer.found import Found
    from copyback.designer.study import Study

FILE = """
config = "tiny.toml"
objectives = ["mean", "WA"]
budget = 250_000
seeds = 2

[workloads."half reads"]
"workload.read_share" = 0.5
[workloads."writes"]
"workload.read_share" = 0.1

[set]
"workload.inter_arrival" = { type = "exponential", mean = "1ms" }

[space]
"ssd.gc.victim" = ["greedy", "random"]
"ssd.gc.preemption" = ["none", "semi_preemptive"]

[schemes."PGC"]
"ssd.gc.preemption" = "semi_preemptive"
[schemes."FIFO"]
"ssd.gc.victim" = "fifo"
[schemes."Needs blocks"]
"ssd.ftl.placement" = { type = "oracle", classes = 16, growth = 1.7 }

[bounds."free collections"]
"ssd.gc.zero_cost" = true
"""

#: The scheme that nothing can be built with.
IMPOSSIBLE = re.compile(r'\[schemes\."Needs blocks"\]\n.*\n')


@pytest.fixture
def file(tiny_toml: Path) -> Path:
    path = tiny_toml.parent / "tournament.toml"
    path.write_text(IMPOSSIBLE.sub("", FILE), encoding="utf-8")
    return path


def rows(found: copyback.Tournament) -> list[dict[str, Any]]:
    return list(found)


def test_all_that_is_found_is_what_single_runs_give(file: Path, tmp_path: Path) -> None:
    """The space has four designs, and two more with FIFO: the best of them is known."""
    found = copyback.tournament(file, out=tmp_path / "out", jobs=1)
    base = tomllib.loads((tmp_path / "tiny.toml").read_text(encoding="utf-8"))
    content = json.loads((tmp_path / "out/tournament.json").read_text(encoding="utf-8"))
    for load, share in (("half reads", 0.5), ("writes", 0.1)):
        means = {}
        for victim in ("greedy", "random", "fifo"):
            for preemption in ("none", "semi_preemptive"):
                settings: dict[str, Any] = {
                    "workload__read_share": share,
                    "workload__inter_arrival": {"type": "exponential", "mean": "1ms"},
                    "ssd__gc__victim": victim,
                    "ssd__gc__preemption": preemption,
                }
                own = copyback.compare(base, over={"seed": content["seeds"]}, **settings)
                times = own.frame["response_us.all.mean"].to_list()
                means[victim, preemption] = statistics.geometric_mean(times)
        own_rows = [r for r in rows(found) if r["load"] == load and r["objective"] == "mean"]
        scores = {(r["scheme"], r["of"]): r["score"] for r in own_rows}
        least = min(means.values())
        assert scores["", "base"] == pytest.approx(means["greedy", "none"])
        assert scores["PGC", "as published"] == pytest.approx(means["greedy", "semi_preemptive"])
        assert scores["FIFO", "as published"] == pytest.approx(means["fifo", "none"])
        assert scores["FIFO", "tuned"] == pytest.approx(
            min(means["fifo", "none"], means["fifo", "semi_preemptive"])
        )
        (best,) = {r["score"] for r in own_rows if r["best"]}
        assert best == pytest.approx(least)
        for row in own_rows:
            assert row["ratio"] == pytest.approx(row["score"] / best)
        (own_contest,) = [one for one in content["contests"] if one["load"] == load]
        tried = [one["tried"] for one in own_contest["standings"]]
        assert tried == [None, 4, None, 2, None, 2, None]
        # Nobody can build what takes no time, and it is faster than what anybody can.
        (bound,) = [r for r in own_rows if r["of"] == "bound"]
        assert bound["high"] < 1
    page = (tmp_path / "out/tournament.md").read_text(encoding="utf-8")
    few = "Fewer than 20 designs were tried for: the whole space, PGC, FIFO. "
    assert page.count(few) == 2


def test_the_command_the_function_and_one_that_goes_on_find_the_same(
    cli: RunCli, file: Path, tmp_path: Path
) -> None:
    said = cli("tournament", file, "--jobs", "2", "--out", tmp_path / "cli")
    copyback.tournament(file, out=tmp_path / "own", jobs=1)
    (tmp_path / "cli/tournament.json").unlink()
    again = cli("tournament", file, "--quiet", "--jobs", "1", "--out", tmp_path / "cli")
    assert again.stdout == said.stdout
    assert "half reads" in said.stdout
    assert "PGC" in said.stdout
    for name in ("tournament.json", "tournament.md"):
        assert (tmp_path / "cli" / name).read_bytes() == (tmp_path / "own" / name).read_bytes()
    loaded = copyback.Tournament.load(tmp_path / "cli")
    assert "Tournament(2 workloads)" in repr(loaded)
    assert (tmp_path / "cli/1-half-reads/1-pgc/report.html").is_file()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("[schemes.", "[others."), "schemes"),
        (('"ssd.gc.victim" = "fifo"', '"ssd.gc.victim" = "greedy"'), "schemes.FIFO: the base has"),
        (('"ssd.gc.victim" = "fifo"', '"ssd.gc.victims" = "fifo"'), "ssd.gc.victims: "),
        (("zero_cost", "zero_costs"), "ssd.gc.zero_costs: "),
        (('[bounds."free collections"]\n"ssd.gc.zero_cost" = true', "bounds = 3"), "bounds: "),
    ],
)
def test_a_faulty_file_is_one_line(
    cli: RunCli, file: Path, tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    said = cli("tournament", file, "--quiet", "--jobs", "1", "--out", tmp_path / "out", status=2)
    assert told in said.stderr
    assert len(said.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_scheme_that_nothing_can_be_built_with_is_refused_before_anything_is_run(
    cli: RunCli, file: Path, tmp_path: Path
) -> None:
    file.write_text(FILE, encoding="utf-8")
    said = cli("tournament", file, "--quiet", "--jobs", "1", "--out", tmp_path / "out", status=2)
    assert said.stderr.startswith("copyback: error: schemes.Needs blocks: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('"best": ', '"best": 9'), "contests[0].best: found 9"),
        (('"schema": 1', '"schema": "one"'), "schema: "),
        (('"mean"', "mean"), "not JSON"),
    ],
)
def test_a_file_that_is_no_result_is_refused(
    file: Path, tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    copyback.tournament(file, out=tmp_path / "out", jobs=1)
    path = tmp_path / "out/tournament.json"
    path.write_text(path.read_text(encoding="utf-8").replace(*change, 1), encoding="utf-8")
    with pytest.raises(copyback.InputError, match=re.escape(told)):
        copyback.Tournament.load(tmp_path / "out")


def test_a_strange_directory_is_refused(cli: RunCli, file: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").touch()
    said = cli("tournament", file, "--out", tmp_path / "out", status=2)
    assert "holds something other than a tournament (thesis.tex)" in said.stderr


@pytest.mark.parametrize("name", ["drive", "array"])
def test_the_tournaments_of_the_examples_can_be_run(name: str, tmp_path: Path) -> None:
    """Their schemes are built, each in some design of the space; nothing is run."""
    file = read_tournament(ROOT / f"examples/design/tournament/{name}.toml")
    assert len(file.study.loads) == {"drive": 3, "array": 1}[name]
    assert file.bounds

    class SearchBegins(Exception):  # noqa: N818 - no fault
        """All schemes and bounds have been looked at."""

    def runner_of(study: Study, folder: str) -> Runner:
        where = Where(1, None, None)
        return Runner(study, tmp_path / folder, where, "test", lambda *_: None)

    def run(_: Runner) -> Found:
        raise SearchBegins

    with pytest.raises(SearchBegins):
        hold(file, Ways(runner_of, run))
