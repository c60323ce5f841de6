"""Surrogates of a study: how wrong they say they are, and that a page's sliders say the same."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from browser import look, needs_browser
from copyback.designer import files
from copyback.designer.found import investigate
from copyback.designer.page import render
from copyback.designer.runs import Runner
from copyback.designer.sampler import RandomChooser
from copyback.designer.space_file import space_of
from copyback.designer.study_file import read_study
from copyback.designer.surrogate import COVERED, fitted
from copyback.sweep.where import Where

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from copyback.designer.found import Found
    from copyback.designer.space import Space

STUDY = """
config = "tiny.toml"
objectives = ["mean", "ssd.ftl.over_provisioning"]
budget = 60_000
batch = 6
held_back = 24

[set]
"workload.requests" = 400
"workload.inter_arrival" = { type = "exponential", mean = "1ms" }

[space]
"ssd.gc.victim" = ["greedy", { type = "rga", d = { min = 2, max = 9 } }, { type = "fifo" }]
"ssd.gc.copyback" = [true, false]
"ssd.gc.soft_threshold" = { min = "6%", max = "12%", when = { "ssd.gc.victim" = "rga" } }
"ssd.ftl.over_provisioning" = { min = "25%", max = "40%" }
"""


@pytest.fixture
def found(tiny_toml: Path, tmp_path: Path) -> Found:
    path = tiny_toml.parent / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    study = read_study(path)
    runner = Runner(study, tmp_path / "sweep", Where(1, None, None), "typed", lambda *_: None)
    return investigate(study, runner, lambda *_: None)


def noisy(own: Mapping[str, Any], random: np.random.Generator) -> float:
    """Return a slope, a step, what two choices do together, and noise."""
    together = own["b"] == "x" and own["c"] > 0.5
    return float(2 * own["a"] + (own["a"] > 0.7) + 3 * together + random.normal(0, 0.2))


def test_nine_of_ten_designs_drawn_evenly_lie_in_their_interval_wherever_the_search_has_been() -> (
    None
):
    unit = {"min": 0.0, "max": 1.0}
    own = space_of({"a": unit, "b": ["x", "y", "z"], "c": unit}, lambda _, value: value)
    inside = []
    for seed in range(8):
        random = np.random.Generator(np.random.PCG64(seed))
        drawn = picks_of(own, range(seed * 10_000, seed * 10_000 + 60))
        # The search has looked at small results alone.
        searched = sorted(
            picks_of(own, range(seed * 10_000 + 100, seed * 10_000 + 500)),
            key=lambda one: noisy(one, random),
        )[:100]
        known = [*drawn, *searched]
        values = np.array([noisy(one, random) for one in known])
        model = fitted(own, 0, known, values, evenly=len(drawn), seed=seed)
        new = picks_of(own, range(seed * 10_000 + 1_000, seed * 10_000 + 1_400))
        real = np.exp([noisy(one, random) for one in new])
        told = model.predict(new)
        inside.append(float(((told[:, 1] <= real) & (real <= told[:, 2])).mean()))
    assert np.mean(inside) == pytest.approx(COVERED, abs=0.04)
    # Of 60 designs: Beta(55, 6) is between 0.80 and 0.97 with 99.5%.
    assert all(0.78 < share < 0.98 for share in inside), inside


def picks_of(own: Space, seeds: range) -> list[Mapping[str, Any]]:
    return [own.choose(RandomChooser(seed)).picks for seed in seeds]


def test_what_the_space_chooses_itself_needs_no_surrogate(found: Found) -> None:
    assert [own.place for own in found.surrogates] == [0]
    assert len(found.drawn) == 24
    assert found.spent.drawn > 0
    content = files.numbers(found)
    assert content["page_operations"]["drawn"] == found.spent.drawn


@needs_browser
def test_the_sliders_say_what_the_surrogate_says(found: Found, tmp_path: Path) -> None:
    """For designs that lie on the steps: their numbers, and the settings that run them."""
    page = tmp_path / "report.html"
    page.write_text(render(found, ["" for _ in found.points], "typed"), encoding="utf-8")
    designs = [found.study.space.choose(RandomChooser(seed)) for seed in range(40)]
    asked = json.dumps([dict(one.picks) for one in designs])
    seen = look(
        page,
        f"""
        const {{ controls, models }} = data.sliders;
        found.told = {asked}.map((picks) => {{
          for (const own of controls.filter((one) => one.steps && one.name in picks)) {{
            picks[own.name] = stepOf(own, picks[own.name])[0];
          }}
          return [picks, toldOf(models[0], rowOf(controls, picks)), settingsOf(controls, picks)];
        }});
        const victim = document.getElementById("try-ssd.gc.victim");
        found.hidden = ["greedy", "rga"].map((name) => {{
          victim.value = name;
          victim.dispatchEvent(new Event("change"));
          return document.getElementById("try-ssd.gc.victim.rga.d").closest("label").hidden;
        }});
        found.command = document.getElementById("tried-command").textContent;
        """,
    ).found
    (model,) = found.surrogates
    for design, (picks, told, settings) in zip(designs, seen["told"], strict=True):
        real = model.predict([picks])[0]
        assert told == pytest.approx(list(real), rel=2e-3)
        chosen = dict(one.split("=", 1) for one in settings)
        assert set(chosen) == {key for key, _ in design.point}
        for key, text in design.point:
            if key in {"ssd.gc.victim", "ssd.gc.copyback"}:
                assert chosen[key].replace(" ", "") == text.replace(" ", "")
    assert seen["hidden"] == [True, False]
    assert "copyback run" in seen["command"]
    assert '\'ssd.gc.victim={ type = "rga", d = ' in seen["command"]
    assert math.isfinite(model.width)
