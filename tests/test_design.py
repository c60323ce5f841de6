"""Designs: studies as users write them, the front, what choices buy, and that all of it repeats."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import copyback
from copyback._core import InputError
from copyback.data.parquet import read_parquet
from copyback.designer.codes import redrawn
from copyback.designer.dominance import front, surely_beats, without_chance
from copyback.designer.importance import indices
from copyback.designer.sampler import RandomChooser, Sampler
from copyback.designer.scores import Measured, Refused
from copyback.designer.space import Design
from copyback.designer.space_file import space_of
from copyback.designer.study_file import read_study
from copyback.inputs import configuration
from copyback.sweep.page_numbers import quantity
from pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from conftest import RunCli
    from copyback.designer.importance import Explained
    from copyback.designer.space import Space

STUDY = """
config = "tiny.toml"
objectives = ["WA", "ssd.ftl.over_provisioning"]
constraints = ["p99.9 < 1s"]
budget = 250_000
seeds = 2
batch = 6
held_back = 0

[workloads."even"]
weight = 2
[workloads."writes"]
"workload.read_share" = 0.1

[set]
"workload.inter_arrival" = { type = "exponential", mean = "1ms" }

[short]
"workload.requests" = 400

[space]
"ssd.gc.victim" = ["greedy", "fifo", { type = "rga", d = { min = 2, max = 9 } }]
"ssd.gc.width" = ["serial", "blind"]
"ssd.ftl.over_provisioning" = { min = "20%", max = "40%" }
"""


@pytest.fixture
def study(tiny_toml: Path) -> Path:
    path = tiny_toml.parent / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def results(out: Path) -> dict[str, str]:
    """Return digests of everything that a study finds."""
    files = [out / "design.json", *(out / "front").iterdir(), out / "sweep" / "results.parquet"]
    return {
        str(file.relative_to(out)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }


def found(out: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((out / "design.json").read_text(encoding="utf-8"))
    return content


# What a user writes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('config = "tiny.toml"', "", "found no configuration; allowed: config = FILE or preset"),
        ('"WA", "ssd', '"WAF", "ssd', "objectives[0]: no number 'WAF'; there are "),
        ('["WA", ', '["WA", "WA", ', "objectives: found WA, WA, "),
        ("budget = 250_000", "budget = 0", "budget: "),
        ("budget = 250_000", "", "budget: missing; a whole number from 1 is needed"),
        ("seeds = 2", "sampler = 'best'", "sampler: found best; allowed: nsga2, tpe, random"),
        ("p99.9 < 1s", "p99.9 < 1", "constraints: p99.9 < 1: found 1 without a unit"),
        ("weight = 2", "weight = 0", "workloads.even.weight: found 0; allowed: a number above 0"),
        ('["serial", "blind"]', "[]", "space.ssd.gc.width: found no choice; allowed: a list"),
        ('["serial", "blind"]', '"serial"', 'space.ssd.gc.width: found "serial"; allowed: a list'),
        ('"blind"]', '"serial"]', 'space.ssd.gc.width: has the choice "serial" twice'),
        ('max = "40%"', 'max = "1ms"', "two numbers, times, sizes or rates are needed"),
        ('max = "40%"', "log = true", "found no max; allowed: a list of choices"),
        ("max = 9", "max = 9, step = 2", "space.ssd.gc.victim[2].d.step: unknown key"),
        ("[short]", '[short]\n"ssd.gc.width" = "blind"', "short.ssd.gc.width: found beside space."),
        (
            '["serial", "blind"]',
            '{ choices = ["serial"], when = { "ssd.gc.victim" = "lru" } }',
            "space.ssd.gc.width.when.ssd.gc.victim: found lru; allowed: greedy, fifo, rga",
        ),
        (
            '["serial", "blind"]',
            '{ choices = ["serial"], when = { "ssd.gc.idle" = "none" } }',
            "space.ssd.gc.width.when: found ssd.gc.idle; allowed: a choice above it, of ssd.gc.vic",
        ),
        ('"ssd.gc.width" = ', '"ssd.gc.wide" = ', "wide: unknown key"),
        ("[set]", '[set]\n"workload.read_share" = 2', "workload.read_share"),
        ("[short]", '[short]\n"workload.requsts" = 2', "requsts"),
    ],
)
def test_a_fault_of_a_study_is_one_line(
    cli: RunCli, study: Path, old: str, new: str, told: str
) -> None:
    assert old in STUDY
    study.write_text(STUDY.replace(old, new), encoding="utf-8")
    done = cli("design", study, "--quiet", "--jobs", "1", status=2)
    assert told in done.stderr, done.stderr
    assert not done.stdout


def picks_of(space: Space, seed: int) -> Mapping[str, Any]:
    return space.choose(RandomChooser(seed)).picks


def space(**table: Any) -> Space:
    return space_of(table, lambda _, value: value)


def test_parameters_and_conditional_keys_exist_beside_their_choice_only() -> None:
    own = space(
        victim=["greedy", {"type": "rga", "d": {"min": 2, "max": 9}}],
        spare={"min": "1MiB", "max": "4MiB", "when": {"victim": ["greedy"]}},
        idle={"choices": ["none", "advanced"], "when": {"victim": "greedy"}},
        ahead={"min": 1, "max": 4, "when": {"idle": "advanced"}},
    )
    drawn = [own.choose(RandomChooser(seed)) for seed in range(200)]
    for design in drawn:
        point = dict(design.point)
        assert ("spare" in point) == (point["victim"] == "greedy")
        if point["victim"] != "greedy":
            assert 2 <= configuration.setting_value(point["victim"])["d"] <= 9
    # Sizes stay multiples of pages.
    sizes = {dict(design.point).get("spare") for design in drawn} - {None}
    assert len(sizes) > 20
    assert all(size is not None and size.endswith(("KiB", "MiB")) for size in sizes)
    # What exists beside a choice goes with it.
    whole = next(design for design in drawn if "ahead" in dict(design.point))
    assert own.without(whole, "victim").point == ()
    assert [key for key, _ in own.without(whole, "idle").point] == ["victim", "spare"]
    assert [key.key for key in own.with_fixed("idle", "none").keys] == ["victim", "spare", "idle"]
    assert [key.key for key in own.with_fixed("victim", "fifo").keys] == ["victim"]


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random"])
def test_a_sampler_asks_for_each_design_once_until_the_space_is_used_up(
    study: Path, sampler: str
) -> None:
    text = STUDY.partition("[space]")[0] + '[space]\na = [1, 2, 3]\nb = ["x", "y"]\n'
    study.write_text(text.replace("seeds = 2", f"sampler = '{sampler}'"), encoding="utf-8")
    asking = Sampler(read_study(study))
    designs = []
    while batch := asking.ask(4):
        for asked in batch:
            asking.record(asked, Refused(asked.design, "no"))
            designs.append(asked.design)
    assert len(designs) == len(set(designs)) == 6


# Who beats whom ----------------------------------------------------------------------------------


def measured(*by_seed: tuple[float, ...], name: str = "a") -> Measured:
    design = Design((("key", name),), {})
    return Measured(design, dict(enumerate(by_seed, 1)), 0.0, is_overloaded=False)


def test_the_front_is_what_brute_force_finds() -> None:
    random = np.random.Generator(np.random.PCG64(3))
    costs = [tuple(map(float, row)) for row in random.integers(0, 6, size=(60, 3))]
    brute = [
        i
        for i, own in enumerate(costs)
        if not any(
            all(a <= b for a, b in zip(other, own, strict=True)) and other != own for other in costs
        )
    ]
    assert front(costs) == brute


def test_intervals_say_who_surely_beats_and_who_is_on_the_front_by_chance(study: Path) -> None:
    objectives = read_study(study).objectives
    good = measured((1.0, 0.2), (1.01, 0.2), (0.99, 0.2), name="good")
    noisy = measured((1.5, 0.2), (0.9, 0.2), (2.0, 0.2), name="noisy")
    bad = measured((2.0, 0.3), (2.02, 0.3), (1.98, 0.3), name="bad")
    level = measured((0.995, 0.3), (1.0, 0.3), (0.99, 0.3), name="level")
    assert surely_beats(good, bad, objectives)
    assert not surely_beats(good, noisy, objectives)
    # A hair better in one objective, and surely worse in the other.
    assert without_chance([level, good], objectives) == [good]


# What a choice explains --------------------------------------------------------------------------


def explained(
    own: Space, function: Callable[[Mapping[str, Any]], float], designs: int
) -> dict[str, Explained]:
    picks = [picks_of(own, seed) for seed in range(designs)]
    values = np.array([function(one) for one in picks])
    return {one.name: one for one in indices(own, picks, values, seed=1)}


def test_importance_is_that_of_a_sum_with_a_conditional_parameter_and_inert_keys() -> None:
    unit = {"min": 0.0, "max": 1.0}
    own = space(a=unit, b=["x", "y", {"type": "z", "d": unit}], c=unit, e=["on", "off"])
    levels = {"x": 0.0, "y": 1.0, "z": 1.0}
    got = explained(own, lambda p: 4 * p["a"] + levels[p["b"]] + 2 * p.get("b.z.d", 0.0), 200)
    # Variances: 16/12 of a; of b 29/27, by hand: E = 1, E of the square = (0 + 1 + 4 + 1/3) / 3.
    of_b = (0 + 1 + 4 + 1 / 3) / 3 - 1
    total = 16 / 12 + of_b
    assert got["a"].total.mean == pytest.approx(16 / 12 / total, abs=0.05)
    assert got["b"].total.mean == pytest.approx(of_b / total, abs=0.05)
    assert got["b.z.d"].total.mean == pytest.approx(4 / 12 / 3 / total, abs=0.03)
    assert {name for name in got if not got[name].is_found} == {"c", "e"}
    assert max(got["c"].total.mean, got["e"].total.mean) < 0.01


def test_importance_of_a_size_is_that_of_its_pages() -> None:
    own = space(
        a={"min": "64KiB", "max": "1MiB"}, b=["on", "off"], c={"min": "8KiB", "max": "8MiB"}
    )
    levels = {"on": 0.0, "off": 8.0}
    got = explained(own, lambda p: pages_of(own, p)["a"] / 16 + levels[p["b"]], 200)
    # Variances: 15 squared over 12 of a, from 1 to 16; 16 of b.
    total = 15**2 / 12 + 16
    assert got["a"].total.mean == pytest.approx(15**2 / 12 / total, abs=0.05)
    assert got["b"].total.mean == pytest.approx(16 / total, abs=0.05)
    assert {name for name in got if not got[name].is_found} == {"c"}


def test_what_is_kept_of_a_design_is_the_same_when_the_rest_is_drawn_again() -> None:
    size = {"min": "64KiB", "max": "1MiB"}
    own = space(a=size, b=["on", "off"], c=size, d={"min": 1, "max": 9})
    drawn = [own.choose(RandomChooser(seed)) for seed in range(50)]
    picks = [one.picks for one in drawn]
    for one, again in zip(picks, redrawn(own, picks, "a", 99, others=False), strict=True):
        assert {**again, "a": one["a"]} == one
    # A design that comes back is the same.
    for design in drawn:
        assert own.choose(_Given(design.picks)) == design


class _Given(RandomChooser):
    """Chooser of what is given, which has to be within the range."""

    def __init__(self, picks: Mapping[str, Any]) -> None:
        super().__init__(1)
        self._picks = picks

    def suggest_categorical(self, name: str, choices: tuple[str, ...]) -> Any:
        assert self._picks[name] in choices
        return self._picks[name]

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:  # noqa: ARG002
        assert low <= self._picks[name] <= high
        return int(self._picks[name])


def pages_of(own: Space, picks: Mapping[str, Any]) -> dict[str, float]:
    """Return the sizes of a design in pages of 4 KiB."""
    point = dict(own.choose(_Given(picks)).point)
    amounts = {key: quantity(text) for key, text in point.items()}
    return {key: amount[1] / 4096 for key, amount in amounts.items() if amount is not None}


def test_importance_of_a_product_is_what_both_do_together() -> None:
    own = space(a=["low", "high"], b=["low", "high"], c=["low", "high"])
    signs = {"low": -1.0, "high": 1.0}
    got = explained(own, lambda p: signs[p["a"]] * signs[p["b"]], 120)
    for name in ("a", "b"):
        assert got[name].is_found
        assert got[name].total.mean == pytest.approx(1.0, abs=0.1)
        assert got[name].alone.mean < 0.1
    assert not got["c"].is_found


# Whole studies -----------------------------------------------------------------------------------


def test_a_study_gives_a_front_that_runs_and_says_what_each_choice_buys(
    cli: RunCli, study: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    refused = STUDY.replace('["greedy", ', '["greedy", { type = "rga", d = 0 }, ')
    study.write_text(refused, encoding="utf-8")
    done = cli("design", study, "--jobs", "1", "--quiet", "--out", out)
    assert done.stdout.startswith("Answer       Of ")
    assert max(map(len, done.stdout.splitlines())) <= 80 or str(out) in done.stdout
    content = found(out)
    # One of four victims is refused, without a run, and is counted.
    assert sum(content["refused"].values()) > 2
    assert "Left out" in done.stdout
    assert "d = 0" not in str(read_parquet(out / "sweep" / "results.parquet")["ssd.gc.victim"])
    assert content["page_operations"]["search"] < 1.1 * 250_000
    # A point's configuration, run by itself, is what the study has counted.
    first = content["front"][0]
    again = copyback.run(out / "front" / "1.toml")
    writes = copyback.run(out / "front" / "1.toml", workload__read_share=0.1)
    own, other = again.write_amplification, writes.write_amplification
    assert own is not None
    assert other is not None
    assert first["scores"]["1"][0] == pytest.approx((own**2 * other) ** (1 / 3))
    # The ablation is real runs: the base's spare against the chosen one.
    spare = content["ablation"]["ssd.ftl.over_provisioning"][1]
    chosen = content["front"][content["chosen"] - 1]
    assert spare[0] == pytest.approx(0.25 / chosen["scores"]["1"][1])
    page = (out / "report.html").read_text(encoding="utf-8")
    assert content["answer"] in page.replace("&#39;", "'")
    assert page.count("Configuration of design") == len(content["front"])
    # The front is one: none of its points beats another.
    scores = [tuple(map(float, point["scores"]["1"])) for point in content["front"]]
    assert len(scores) == len(set(scores))


def test_without_short_runs_and_with_one_seed_all_designs_have_all_runs(
    cli: RunCli, study: Path, tmp_path: Path
) -> None:
    head, _, rest = STUDY.partition("[short]")
    text = head + "[space]" + rest.partition("[space]")[2]
    study.write_text(text.replace("seeds = 2", "seeds = 1"), encoding="utf-8")
    cli("design", study, "--jobs", "1", "--quiet", "--out", tmp_path / "out")
    content = found(tmp_path / "out")
    frame = read_parquet(tmp_path / "out" / "sweep" / "results.parquet")
    assert content["tried"] > 3
    assert len(content["front"]) > 1
    # The base, what was tried and the ablation: a run for each under each workload.
    assert len(frame) >= 2 * content["tried"]


@pytest.mark.thorough
def test_the_same_study_gives_the_same_bytes_with_one_process_and_with_two(
    cli: RunCli, study: Path, tmp_path: Path
) -> None:
    for jobs in "12":
        cli("design", study, "--jobs", jobs, "--quiet", "--out", tmp_path / jobs)
    assert results(tmp_path / "1") == results(tmp_path / "2")


@pytest.mark.thorough
def test_a_study_that_is_killed_goes_on_and_finds_the_same(
    cli: RunCli, study: Path, tmp_path: Path
) -> None:
    cli("design", study, "--jobs", "1", "--quiet", "--out", tmp_path / "whole")
    command = [sys.executable, "-m", "copyback", "design", str(study), "--jobs", "1"]
    for count in ("6 designs tried", "18 designs tried", "with all runs"):
        started = subprocess.Popen(
            [*command, "--out", str(tmp_path / "killed")],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            encoding="utf-8",
            env={**os.environ},
        )
        assert started.stderr is not None
        assert any(count in line for line in started.stderr), count
        started.send_signal(signal.SIGKILL)
        started.wait()
        started.stderr.close()
    assert not (tmp_path / "killed" / "design.json").exists()
    cli("design", study, "--jobs", "1", "--quiet", "--out", tmp_path / "killed")
    assert results(tmp_path / "killed") == results(tmp_path / "whole")


def test_no_design_that_may_be_built_is_said(cli: RunCli, study: Path, tmp_path: Path) -> None:
    study.write_text(STUDY.replace("p99.9 < 1s", "WA < 1.001"), encoding="utf-8")
    done = cli("design", study, "--jobs", "1", "--quiet", "--out", tmp_path / "out")
    assert "none may be built" in done.stdout
    assert found(tmp_path / "out")["front"] == []


def test_a_directory_of_something_else_is_left_alone(
    cli: RunCli, study: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    done = cli("design", study, "--quiet", "--out", tmp_path / "out", status=2)
    assert "holds something other than a study (mine.txt)" in done.stderr


POLICY = """
import copyback


class Most(copyback.VictimPolicy):
    def choose(self, plane):
        return plane.valid_pages.argmin()

"""


def test_a_design_with_a_policy_runs_it_only_if_it_is_named(cli: RunCli, tmp_path: Path) -> None:
    front_ = tmp_path / "out" / "front"
    front_.mkdir(parents=True)
    (tmp_path / "out" / "design.json").write_text("{}")
    (tmp_path / "mine.py").write_text(POLICY, encoding="utf-8")
    policy = f"{tmp_path / 'mine.py'}:Most"
    victim = f'ssd.gc.victim = {{ type = "python", policy = "{policy}" }}'
    (front_ / "1.toml").write_text(f'preset = "pgc-2011"\n{victim}\n', encoding="utf-8")
    done = cli("run", front_ / "1.toml", status=2)
    assert "of a result, whose policies in Python are run only if you name them" in done.stderr


# The stored comparison ---------------------------------------------------------------------------


def test_searches_come_near_to_the_front_with_a_quarter_of_the_runs() -> None:
    """`tools/design_searches.py` has measured it; the guide shows what is stored."""
    path = ROOT / "examples/design/searches.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    shares = {
        name: [float(row["share"]) for row in rows if row["sampler"] == name]
        for name in ("nsga2", "tpe", "random")
    }
    guide = (ROOT / "docs/guide/design.md").read_text(encoding="utf-8")
    for name, own in shares.items():
        assert len(own) == 10
        median, least = statistics.median(own), min(own)
        better = sum(a > b for a, b in zip(own, shares["random"], strict=True))
        last = "" if name == "random" else f"{better} of 10 "
        assert f"| `{name}` | {median:.4f} | {least:.4f} | {last}|" in guide
        assert median >= 0.98
        assert better >= 9 or name == "random"


def test_the_guide_shows_what_was_found_on_loads_that_no_search_has_seen() -> None:
    """`tools/design_large.py` has measured it."""
    guide = (ROOT / "docs/guide/design.md").read_text(encoding="utf-8")
    with (ROOT / "examples/design/large.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    own = {name: [row for row in rows if row["search"] == name] for name in FOUND_BY}
    for name, title in FOUND_BY.items():
        used = f"{int(own[name][0]['operations']) / 1e6:.0f}" if name != "grid winner" else "–"
        cells = [f"{float(row['mean']):.1f} us{against(row['ratio'])}" for row in own[name]]
        assert f"| {title} | {used} | {' | '.join(cells)} |" in guide
    assert all(float(row["high"]) < 0.79 for row in own["grid"] + own["grid winner"])
    least = max(float(row["ratio"]) for row in own["grid"] + own["grid winner"])
    assert f"the gain is {1 - least:.1%} or more on each load" in guide
    table = tomllib.loads((ROOT / "examples/design/large.toml").read_text(encoding="utf-8"))
    assert len(table["space"]) == 8
    assert "`examples/design/large.toml` has eight choices" in guide
    random = [float(row["ratio"]) for row in own["random"]]
    assert sorted(abs(ratio - 1) < 0.005 for ratio in random) == [False, True, True]
    assert sum(ratio > 1 for ratio in random) == 1
    assert max(random) < 1.03


#: Searches of `tools/design_large.py`, as the guide names them.
FOUND_BY = {
    "tpe": "`copyback design` (`tpe`)",
    "random": "designs drawn at random",
    "grid": "the grid, in random order",
    "grid winner": "the first of the whole grid, not searched",
}


def against(ratio: str) -> str:
    """Return a ratio as a change in brackets; nothing for none."""
    change = 100 * (float(ratio) - 1)
    return f" ({change:+.1f}%)".replace("-", "−") if change else ""


def test_the_guide_shows_how_often_the_model_of_a_page_is_right() -> None:
    """`tools/design_surrogate.py` has measured it."""
    guide = (ROOT / "docs/guide/design.md").read_text(encoding="utf-8")
    with (ROOT / "examples/design/surrogate.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for study, objective in {(row["study"], row["objective"]) for row in rows}:
        own = [row for row in rows if (row["study"], row["objective"]) == (study, objective)]
        assert len(own) == 15
        assert all(row["unseen"] == "400" for row in own)
        covered = [float(row["covered"]) for row in own]
        near = statistics.mean(float(row["covered_near"]) for row in own)
        line = f"| {statistics.mean(covered):.1%} | {min(covered):.1%} to {max(covered):.1%} |"
        assert f"| `{study}` | {objective} {line} {near:.1%} |" in guide
    well = sum(0.85 <= float(row["covered"]) <= 0.95 for row in rows)
    assert f"In {well} of {len(rows)} cases" in guide


def test_a_study_that_names_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.toml"):
        read_study(tmp_path / "nowhere.toml")


def test_policies_with_much_to_remember_are_compared_under_several_loads(
    tiny: dict[str, Any], tmp_path: Path
) -> None:
    """A prepared device whose policy remembers more than 4 KiB is not shared through a file."""
    (tmp_path / "mine.py").write_text(POLICY, encoding="utf-8")
    tiny["ssd"]["geometry"]["blocks_per_plane"] = 256
    victim = {"type": "python", "policy": f"{tmp_path / 'mine.py'}:Most"}
    got = copyback.compare(
        tiny, over={"workload.read_share": [0.3, 0.6]}, ssd__gc__victim=victim, jobs=1
    )
    assert got.failed == ()
    assert len(got.frame) == 2
