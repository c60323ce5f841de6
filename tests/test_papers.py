"""The papers' experiments: every shipped file is sound, and one is run from end to end."""

from __future__ import annotations

import csv
import statistics
from typing import TYPE_CHECKING

import polars as pl
import pytest
from msgspec import structs

from copyback import InputError
from copyback.inputs import configuration, tables
from copyback.result import Result
from copyback.words import units
from copyback_papers import output, rules
from copyback_papers.catalogue import load_paper, select, shipped
from copyback_papers.measures import Cell, Measures
from copyback_papers.plan import make_plan
from tiny_paper import EXPERIMENT, PAPER, TARGETS

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

ARRAY = """\
title = "Two drives"
claim = "They collect."
chosen = []

[config.ssd.geometry]
channels = 1
chips_per_channel = 1
planes_per_die = 1
blocks_per_plane = 32
pages_per_block = 16
[config.ssd.ftl]
over_provisioning = 0.3
[config.array]
layout = "raid0"
devices = 2
stripe = "4KiB"
[config.workload]
type = "synthetic"
requests = 2000
read_share = 0.2
inter_arrival = { type = "exponential", mean = "2ms" }
[config.metrics]
interval = "50ms"
requests = true
commands = true
collections = true

[variants]
"alone" = {}
"together" = { "array.coordination" = "reactive_inclusive" }

[quick]
[full]

[[figures]]
name = "3"
FIGURE

[[checks]]
says = "time with some drive collecting"
variant = "together"
baseline = "alone"
measure = "array.collecting.some"
form = "ratio"
[[checks]]
says = "bandwidth of a drive"
variant = "alone"
measure = "bandwidth.mean_mib_per_s / array.devices"
form = "value"
"""


def test_a_paper_runs_from_end_to_end(cli: RunCli, tiny_paper: Path, tmp_path: Path) -> None:
    wide = {"COLUMNS": "200"}
    done = cli("paper", "run", tiny_paper, "--out", "out", "--jobs", "2", env=wide)
    out = tmp_path / "out"
    assert {entry.name for entry in out.iterdir()} == {"1", "store", "report.md", "report.html"}
    assert {entry.name for entry in (out / "1").iterdir()} == {
        "results.parquet",
        "results.csv",
        "report.md",
        "report.html",
        "figure-1.svg",
        "figure-1b.svg",
        "figure-1c.svg",
        "regions.svg",
    }
    frame = pl.read_parquet(out / "1/results.parquet")
    assert len(frame) == 2 * 2 * 2
    assert set(frame["requests.count"]) == {2000}
    means = {
        variant: frame.filter((pl.col("variant") == variant) & (pl.col("point") == "100"))[
            "response_us.write.mean"
        ].mean()
        for variant in ("greedy", "free")
    }
    page = (out / "report.md").read_text()
    reduction = 100 * (1 - means["free"] / means["greedy"])  # type: ignore[operator]
    assert f"| 50.0 % | {reduction:.1f} % † |" in page
    assert "2 of 2 rules hold" in page
    assert "Left out: mail server: there was no trace mail.csv" in page
    assert "mail.csv: --traces or COPYBACK_TRACES is not given" in done.stdout
    assert "something else: nobody knows" in page
    assert "random stands for random writes." in page
    assert "2 of 2 rules hold" in done.stdout
    assert (out / "1/figure-1.svg").read_text().startswith("<?xml")
    assert "| 100 (joint reading) | 50.0 % |" in page
    assert "mean write response time reduction" in (out / "1/regions.svg").read_text()


@pytest.mark.parametrize(
    ("figure", "drawn"),
    [
        (
            'title = "A look"\nkind = "microscope"\nwindow_ms = [3000, 3500]\ndrives = [0, 1]',
            "drive 1 (ms)",
        ),
        (
            'title = "Spread"\nkind = "density"\naxis = "density"',
            "bandwidth / its mean",
        ),
    ],
)
def test_arrays_are_drawn(
    cli: RunCli, tiny_paper: Path, tmp_path: Path, figure: str, drawn: str
) -> None:
    (tiny_paper / "1.toml").unlink()
    (tiny_paper / "3.toml").write_text(ARRAY.replace("FIGURE", figure))
    cli("paper", "run", tiny_paper, "--out", "out", "--quiet")
    assert drawn in (tmp_path / "out/3/figure-3.svg").read_text()
    results = pl.read_parquet(tmp_path / "out/3/results.parquet")
    assert set(results["array.devices"]) == {2.0}
    whole = results["array.collecting.none"] + results["array.collecting.some"]
    assert whole.to_list() == pytest.approx([1.0, 1.0])
    assert results["array.collecting.all"][1] > results["array.collecting.all"][0]


def test_a_microscope_needs_a_window(cli: RunCli, tiny_paper: Path) -> None:
    figure = 'title = "A look"\nkind = "microscope"'
    (tiny_paper / "1.toml").write_text(ARRAY.replace("FIGURE", figure))
    fault = cli("paper", "run", tiny_paper, status=2).stderr
    assert "figures[0].window_ms: a microscope needs a window of two times" in fault


def test_a_second_run_uses_what_the_store_holds(
    cli: RunCli, tiny_paper: Path, tmp_path: Path
) -> None:
    def files() -> dict[Path, int]:
        runs = (tmp_path / "out/store/runs").rglob("*.*")
        return {path: path.stat().st_mtime_ns for path in runs}

    cli("paper", "run", tiny_paper, "--out", "out", "--quiet")
    page, before = (tmp_path / "out/1/report.md").read_bytes(), files()
    results = pl.read_parquet(tmp_path / "out/1/results.parquet")
    for row in results.iter_rows(named=True):
        kept = Result.load(tmp_path / "out/store/runs" / row["run"])
        assert kept.summary.seed == row["seed"]
        assert kept.summary.config_digest
        assert kept.summary.simulator.cpu_s > 0
        assert kept.summary.response_us.all.mean == row["response_us.all.mean"]
    done = cli("paper", "run", tiny_paper, "--out", "out", "--quiet")
    assert "Used again   8 of 8 simulations" in done.stdout
    assert files() == before
    assert (tmp_path / "out/1/report.md").read_bytes() == page
    # A variant like another is a row of its own, and no simulation of its own.
    more = EXPERIMENT.replace('"greedy" = {}', '"greedy" = {}\n"as it is" = {}')
    (tiny_paper / "1.toml").write_text(more)
    done = cli("paper", "run", tiny_paper, "--out", "out", "--quiet")
    assert "Used again   8 of 8 simulations" in done.stdout
    assert len(pl.read_parquet(tmp_path / "out/1/results.parquet")) == 12


def test_a_damaged_trace_is_told_with_what_it_ends(
    cli: RunCli, tiny_paper: Path, tmp_path: Path
) -> None:
    rows = [f"0,R,{row * 4096},4096,{row * 1000}\n" for row in range(50)]
    (tmp_path / "mail.csv").write_text("".join([*rows, "0,R,x,4096,60000\n"]))
    done = cli("paper", "run", tiny_paper, "--out", "out", "--traces", tmp_path, status=2)
    assert "1.toml: load=mail server (8 runs): " in done.stderr
    assert "mail.csv" in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_experiment_of_which_nothing_can_be_run_is_left_out(
    cli: RunCli, tiny_paper: Path, tmp_path: Path
) -> None:
    (tiny_paper / "2.toml").write_text(
        EXPERIMENT.replace("stands_for", 'trace = "a.csv"\nstands_for')
    )
    done = cli("paper", "run", tiny_paper, "--out", "out", "--quiet")
    assert "random: a.csv: --traces or COPYBACK_TRACES is not given" in done.stdout
    assert not (tmp_path / "out/2").exists()


def test_the_same_numbers_give_the_same_bytes(
    cli: RunCli, tiny_paper: Path, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        cli("paper", "run", tiny_paper, "--out", name, "--quiet")
    before = (tmp_path / "b/1/figure-1.svg").read_bytes()
    cli("paper", "report", tiny_paper, "--out", "b")
    for file in ("results.csv", "report.md", "report.html", "figure-1.svg", "figure-1c.svg"):
        assert (tmp_path / "a/1" / file).read_bytes() == (tmp_path / "b/1" / file).read_bytes()
    assert (tmp_path / "b/1/figure-1.svg").read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('variant = "free"', 'variant = "fre"', "checks[0]: no 'fre' among the variants"),
        ('"greedy" = {}', '"greedy" = { "ssd.gc.victim" = "gredy" }', "ssd.gc.victim"),
        ('figure = "1", scheme', 'figure = "3", scheme', "0 rows of targets.csv match"),
        ("shorter = 2", "short = 2", "quick.short: unknown key; did you mean shorter?"),
        ('title = "Writes on a toy"', "", "title: missing; a text is needed"),
        ('kind = "lines"', 'kind = "line"', "figures[0].kind: found 'line'; allowed: bars"),
        ("[full]", '[full.variants."fre"]', "full.variants: no 'fre' among the variants"),
        (
            "seeds = [1, 2]",
            'seeds = ["1"]',
            "quick.seeds[0]: found '1'; a whole number from 0",
        ),
        ("shorter = 2", "shorter = 0", "quick.shorter: found 0; a whole number from 1 is needed"),
        (
            '"workload.requests" = 4000',
            '"workload.requests" = "x"',
            "load=random (8 runs): ",
        ),
        ("seeds = [1, 2]", "seeds = 1", "quick.seeds: found 1; a list is needed"),
        ('"greedy" = {}', '"greedy" = 3', "variants.greedy: found 3; a table is needed"),
        ("[full]", "[full]\nset = 3", "full.set: found 3; a table is needed"),
        ("trace =", "at = 3\ntrace =", "workloads.mail server.at: found 3; a table is needed"),
        ('rule = "rises"', 'rule = "rise"', "checks[1].rules[0].rule: found 'rise'; allowed: "),
        ('rule = "rises"', "", "checks[1].rules[0].rule: missing; one of alike, at_least"),
        ('["free"]\nbaseline = "greedy"', '["free"]', "rules[1].baseline: missing; the name of"),
        ('"GC" = "b', '"GC" = 3\n"X" = "b', "figures[1].parts.GC: found 3; a text is needed"),
        ('kind = "stack"', 'kind = "bars"', "figures[1].parts: a stack needs a table of parts"),
        ("chosen = [", "chosen = [3, ", "chosen[0]: found 3; a text is needed"),
        ('variant = "free"\n', "", "checks[0].variant: missing; a text is needed"),
        ('variant = "free"\n', 'variant = "free"\nup_to = true\n', "checks[0].take: found 'mean'"),
        ("[full]", '[full]\n[readings."a b"]\nreason = "so"', "readings"),
    ],
)
def test_a_fault_of_a_file_is_told_in_a_line(
    cli: RunCli, tiny_paper: Path, tmp_path: Path, old: str, new: str, fault: str
) -> None:
    (tiny_paper / "1.toml").write_text(EXPERIMENT.replace(old, new))
    done = cli("paper", "run", tiny_paper, "--out", "out", status=2)
    assert fault in done.stderr
    assert "1.toml: " in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_scale_may_say_more_of_a_variant(tiny_paper: Path) -> None:
    more = '[quick.variants."free"]\n"ssd.geometry.blocks_per_plane" = 48\n[full]'
    (tiny_paper / "1.toml").write_text(EXPERIMENT.replace("[full]", more))
    experiment = load_paper(str(tiny_paper)).experiments[0]
    blocks = {
        (scale, dict(run.point)["scheme"]): configuration.resolved(run.config)["ssd"]["geometry"][
            "blocks_per_plane"
        ]
        for scale in ("quick", "full")
        for run in make_plan(experiment, scale, None).sweep.runs
    }
    assert blocks == {
        ("quick", "greedy"): 32,
        ("quick", "free"): 48,
        ("full", "greedy"): 32,
        ("full", "free"): 32,
    }


def test_unknown_names_are_refused(cli: RunCli) -> None:
    assert "did you mean pgc-2011?" in cli("paper", "run", "pgc-2010", status=2).stderr
    assert "no figure '8e'" in cli("paper", "run", "pgc-2011", "8e", status=2).stderr
    fault = cli("paper", "run", "pgc-2011", "--traces", "nowhere", status=2).stderr
    assert "nowhere: no such directory" in fault


def test_a_directory_with_other_files_is_left_alone(
    cli: RunCli, tiny_paper: Path, tmp_path: Path
) -> None:
    (tmp_path / "out/1").mkdir(parents=True)
    (tmp_path / "out/1/thesis.tex").write_text("mine")
    done = cli("paper", "run", tiny_paper, "--out", "out", status=2)
    assert "thesis.tex" in done.stderr
    assert (tmp_path / "out/1/thesis.tex").read_text() == "mine"


def test_every_paper_and_figure_is_listed(cli: RunCli) -> None:
    listed = cli("paper", "list").stdout
    for name in shipped():
        assert name in listed
        for experiment in load_paper(name).experiments:
            assert f"  {experiment.name} " in listed


@pytest.mark.parametrize("name", shipped())
@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_configuration_of_a_shipped_experiment_is_sound(
    name: str, scale: str, tmp_path: Path
) -> None:
    for experiment in load_paper(name).experiments:
        for load in experiment.workloads:
            if load.trace is not None:
                (tmp_path / load.trace).touch()
        plan = make_plan(experiment, scale, tmp_path)
        assert plan.sweep.runs
        assert not plan.skipped


@pytest.mark.parametrize("name", shipped())
def test_every_claim_is_answered_or_said_not_to_be(name: str) -> None:
    paper = load_paper(name)
    counted = [e for e in paper.experiments if not e.column]
    answered = [check.target for e in counted for check in e.checks if check.target]
    given_up = [target for target, _ in paper.unanswered]
    assert len(answered) == len(set(answered))
    assert not set(answered) & set(given_up)
    assert set(answered) | set(given_up) == set(paper.targets)


def test_the_table_of_claims_has_a_known_paper_and_unit_in_every_row() -> None:
    path = load_paper(shipped()[0]).path.parent / "targets.csv"
    with path.open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert {row["unit"] for row in rows} == {
        "%",
        "x",
        "times",
        "ms",
        "runs",
        "shape",
        "devices",
        "erases",
        "% of GC threshold",
        "% of time",
        "% of AGC's collections",
    }
    assert set(shipped()) <= {row["paper"] for row in rows}


def test_a_figure_is_found_by_its_file_by_what_is_drawn_and_by_its_number() -> None:
    paper = load_paper("pgc-2011")
    assert [e.name for e in select(paper, "8a")] == ["8a"]
    assert [e.name for e in select(paper, "9b")] == ["9"]
    assert [e.name for e in select(paper, "8")] == ["8a", "8b", "8c", "8d"]
    with pytest.raises(InputError, match="no figure '13'"):
        select(paper, "13")


def test_another_reading_is_an_experiment_of_its_own(
    cli: RunCli, tiny_paper: Path, tmp_path: Path
) -> None:
    more = """
[readings.wide]
reason = "the text can be read so"
set = { "ssd.geometry.blocks_per_plane" = 48 }
"""
    open_inputs = """
[[open_inputs]]
says = "how full the drive is"
key = "precondition.fill"
bounds = [0.5, 1.0]
"""
    (tiny_paper / "1.toml").write_text(EXPERIMENT + more + open_inputs)
    paper = load_paper(str(tiny_paper))
    assert [one.name for one in paper.everything] == ["1", "1@wide"]
    assert [one.name for one in select(paper, "1")] == ["1", "1@wide"]
    assert [one.name for one in select(paper, "1@wide")] == ["1@wide"]
    assert paper.experiments[0].open_inputs[0].bounds == (0.5, 1.0)
    cli("paper", "run", tiny_paper, "--out", "out", "--quiet")
    joint, other = (
        pl.read_parquet(tmp_path / "out" / name / "results.parquet") for name in ("1", "1@wide")
    )
    assert set(joint["run"]).isdisjoint(other["run"])


def test_a_joint_reading_is_laid_over_all_experiments(tiny_paper: Path) -> None:
    reading = """
[reading]
name = "larger"
reason = "the text says so"
set = { "ssd.geometry.blocks_per_plane" = 40 }
"""
    (tiny_paper / "paper.toml").write_text(PAPER + reading)
    experiment = load_paper(str(tiny_paper)).experiments[0]
    for run in make_plan(experiment, "full", None).sweep.runs:
        assert configuration.resolved(run.config)["ssd"]["geometry"]["blocks_per_plane"] == 40


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_paper_names_its_joint_reading_and_why(name: str) -> None:
    reading = load_paper(name).reading
    assert reading.name
    assert reading.reason


@pytest.mark.parametrize(
    ("kind", "variants", "baseline", "bound", "holds"),
    [
        ("flat", ("a",), "a", 1.0, True),
        ("flat", ("a",), "a", 0.9, False),
        ("rises", ("a",), None, 2.0, True),
        ("rises", ("b",), None, 1.1, False),
        ("flat", ("c",), "b", 1.0, True),
        ("flat", ("d",), "a", 100.0, False),
        ("rises", ("c",), None, 1.1, False),
        ("rises", ("d",), None, 100.0, True),
        ("at_most", ("a",), "b", 1.0, True),
        ("at_most", ("b",), "a", 1.9, False),
        ("at_least", ("b",), "a", 1.0, True),
        ("at_least", ("b",), "a", 1.1, False),
        ("alike", ("a", "b"), None, 2.0, True),
        ("alike", ("a", "b"), None, 1.9, False),
        ("gains", ("b",), "a", 1.0, True),
        ("gains", ("b",), "a", 2.0, False),
        ("gains", ("a",), "b", 1.0, False),
        ("gains", ("b",), "b", 1.0, False),
        ("none", ("c",), None, 1.0, True),
        ("none", ("a",), None, 1.0, False),
        ("some", ("a", "b"), None, 1.0, True),
        ("some", ("a", "c"), None, 1.0, False),
    ],
)
def test_a_rule_holds_up_to_its_bound(
    tmp_path: Path,
    kind: str,
    variants: tuple[str, ...],
    baseline: str | None,
    bound: float,
    holds: bool,
) -> None:
    values = {"a": (1.0, 2.0), "b": (2.0, 2.0), "c": (0.0, 0.0), "d": (0.0, 3.0)}
    rows = {
        Cell("load", point, variant): [{"x": number}]
        for variant, numbers in values.items()
        for point, number in zip(("p", "q"), numbers, strict=True)
    }
    told = {"rule": kind, "measure": "x", "variants": variants, "bound": bound}
    if baseline is not None:
        told["baseline"] = baseline
    rule = tables.read(told, rules.Rule, tmp_path)
    assert rules.judge(rule, Measures(rows), ["load"], ["p", "q"]).holds is holds


def test_a_rule_may_look_at_the_last_points_only() -> None:
    numbers = {"FIFO": [1.0, 9.0, 9.0], "Greedy": [1.0, 2.0, 4.0]}
    rows = {
        Cell("", str(at), variant): [{"moves": number}]
        for variant, line in numbers.items()
        for at, number in enumerate(line)
    }
    flat = rules.Rule(rule="flat", variants=("FIFO",), baseline="Greedy", measure="moves", last=2)
    points = ["0", "1", "2"]
    assert rules.judge(flat, Measures(rows), [""], points).holds
    assert not rules.judge(structs.replace(flat, last=0), Measures(rows), [""], points).holds


def test_a_directory_without_results_has_nothing_to_report(
    cli: RunCli, tiny_paper: Path, tmp_path: Path
) -> None:
    assert "holds no results" in cli("paper", "report", tiny_paper, "--out", "o", status=2).stderr
    experiment = load_paper(str(tiny_paper)).experiments[0]
    assert output.load_experiment(experiment, "quick", tmp_path) is None


EXCESS = """\

[[figures]]
name = "1d"
title = "Beyond 5 ms"
kind = "distribution"
operation = "excess_all"
axis = "share of these requests"

[[checks]]
target = { figure = "3" }
variant = "greedy"
form = "value"
measure = "response_us.all.max"
scale = 0.001
"""


@pytest.mark.parametrize(("claim", "agrees"), [("1-1000000", True), ("1000000-2000000", False)])
def test_a_claim_may_be_a_range_and_a_distribution_the_excess(
    cli: RunCli, tiny_paper: Path, tmp_path: Path, claim: str, agrees: bool
) -> None:
    row = f"tiny,3,random,worst response time,greedy,,{claim},ms\n"
    (tiny_paper / "targets.csv").write_text(TARGETS + row)
    bound = '[config.metrics]\nexcess_bound = "5ms"\n[config.ssd.geometry]'
    text = EXPERIMENT.replace("[config.ssd.geometry]", bound, 1) + EXCESS
    (tiny_paper / "1.toml").write_text(text)
    cli("paper", "run", tiny_paper, "--out", "out", "--quiet")
    frame = pl.read_parquet(tmp_path / "out/1/results.parquet")
    greedy = frame.filter(pl.col("variant") == "greedy")
    worst = statistics.fmean(greedy["response_us.all.max"].to_list())
    page = (tmp_path / "out/report.md").read_text()
    least, most = (units.significant(float(number)) for number in claim.split("-"))
    found = f"{least} ms to {most} ms | {units.significant(worst / 1e3)} ms"
    line = next(line for line in page.splitlines() if "worst response time" in line)
    assert found in line
    assert ("| near |" in line) is agrees
    assert "beyond the bound (ms)" in (tmp_path / "out/1/figure-1d.svg").read_text()
