"""The tournament: its sweep files are sound, and a little of it is run from end to end."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from copyback import InputError
from copyback.sweep import tournament
from copyback.sweep.plan import make_plan
from copyback.sweep.sweep_file import read_sweep
from copyback.sweep.where import Where

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", tournament.TITLES)
def test_every_combination_is_run_or_refused_with_a_reason(name: str, tmp_path: Path) -> None:
    (tmp_path / "linux-mysql.load.gz").touch()
    file = read_sweep(tournament.HOME / f"{name}.toml", traces=tmp_path)
    load = next(iter(file.design.loads.items()))
    design = replace(file.design, seeds=(1,), loads=dict([load]))
    plan = make_plan(
        file.config,
        design.points(),
        named=design.named,
        settings=file.settings,
        skip_refused=file.skip_refused,
    )
    assert len(plan.runs) > 400
    # The papers' own schemes are among them.
    names = {dict(run.point).get("scheme") for run in plan.runs}
    assert names >= set(design.schemes)
    # What makes no sense is few reasons, each of which a configuration on its own gives too.
    assert len(plan.refused) < 12


def test_loads_without_their_trace_are_left_out(tmp_path: Path) -> None:
    (part,) = tournament.plans(["mappings"], quick=True, traces=tmp_path)
    assert part.absent == ("MySQL server 2012",)
    assert {dict(run.point)["load"] for run in part.plan.runs} == {"TPC-C", "hm_0", "MSN disk 0"}


def test_placements_are_held_against_an_oracle_that_runs_on_every_load(tmp_path: Path) -> None:
    for trace in ("linux-mysql.load", "financial1-first-50k.trace", "hp-2003-hourly-77-disks.csv"):
        (tmp_path / f"{trace}.gz").touch()
    (part,) = tournament.plans(["placements"], quick=True, traces=tmp_path)
    assert not part.plan.refused
    runs = [dict(run.point) for run in part.plan.runs]
    loads = {run["load"] for run in runs}
    assert len(loads) == 9
    assert {run["load"] for run in runs if run.get("scheme") == "oracle"} == loads
    placements = {run.get("ssd.ftl.placement", "") for run in runs}
    # Sixteen classes fit beside what must be free.
    assert any("oracle" in placement and "16" in placement for placement in placements)


def test_a_part_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match=r"no part 'driver'; there are .*, placements"):
        tournament.plans(["driver"], quick=True, traces=None)


def test_a_little_of_it_leaves_runs_pages_and_winners(tmp_path: Path) -> None:
    (part,) = tournament.plans(["drives"], quick=True, traces=tmp_path)
    few = [run for run in part.plan.runs if dict(run.point)["load"] == "hm_0" and run.seed == 1]
    part = replace(part, plan=replace(part.plan, runs=tuple(few[:3])))
    page = tournament.run(
        [part], tmp_path, Where(), command="test", progress=lambda _: nullcontext(lambda _: None)
    )
    assert page == tmp_path / "tournament.md"
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# The tournament\n\n## Page-mapped drives\n")
    assert "| on demand = serial |" in text
    assert (tmp_path / "drives" / "report.html").is_file()
    assert (tmp_path / "drives" / "winners.md").is_file()
