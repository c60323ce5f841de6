"""`copyback design --against`: what a scheme gains before and after everything else is tuned."""

from __future__ import annotations

import json
import math
import statistics
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.designer.space_file import space_of

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli
    from copyback.designer.space import Space

STUDY = """
config = "tiny.toml"
objectives = ["WA"]
budget = 60_000
batch = 3

[set]
"workload.inter_arrival" = { type = "exponential", mean = "1ms" }

[space]
"ssd.gc.victim" = ["greedy", "fifo", "random"]
"""

POLICY = """
import copyback


class Most(copyback.VictimPolicy):
    def choose(self, plane):
        return plane.valid_pages.argmin()
"""


@pytest.fixture
def study(tiny_toml: Path) -> Path:
    path = tiny_toml.parent / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def against(out: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((out / "against.json").read_text(encoding="utf-8"))
    return content


def amplification(tiny: dict[str, Any], seeds: list[int], **settings: Any) -> list[float]:
    """Return the write amplification of runs that have nothing to do with a study."""
    gap = {"type": "exponential", "mean": "1ms"}
    runs = (
        copyback.run(tiny, seed=seed, workload__inter_arrival=gap, **settings) for seed in seeds
    )
    return [run.write_amplification or 0.0 for run in runs]


def mean_ratio(own: list[float], other: list[float]) -> float:
    return math.exp(statistics.fmean(math.log(a / b) for a, b in zip(own, other, strict=True)))


def test_the_gain_before_and_after_tuning_is_that_of_runs_by_hand(
    cli: RunCli, study: Path, tiny: dict[str, Any], tmp_path: Path
) -> None:
    """The space has three victims, so that all designs are known."""
    study.write_text(STUDY.replace("[set]", '[set]\n"ssd.gc.copyback" = false'), encoding="utf-8")
    tiny["ssd"]["gc"] = {"copyback": False}
    out = tmp_path / "out"
    spare = "ssd.ftl.over_provisioning=0.4"
    done = cli("design", study, "--against", spare, "--jobs", "1", "-q", "--out", out)
    told = against(out)
    seeds = told["seeds"]
    assert seeds == [2, 3, 4, 5, 6]

    def runs(victim: str, spare: float) -> list[float]:
        return amplification(tiny, seeds, ssd__gc__victim=victim, ssd__ftl__over_provisioning=spare)

    base = mean_ratio(runs("greedy", 0.4), runs("greedy", 0.25))
    assert told["untuned"]["ratios"]["WA"][0] == pytest.approx(base)
    best = [
        told["tuned"][name]["settings"]["ssd.gc.victim"].strip('"') for name in ("with", "without")
    ]
    tuned = mean_ratio(runs(best[0], 0.4), runs(best[1], 0.25))
    assert told["tuned"]["ratios"]["WA"][0] == pytest.approx(tuned)
    # What was chosen is the best of the three under the seed that chose.
    for victim, spare_ in zip(best, (0.4, 0.25), strict=True):
        first = {
            name: amplification(tiny, [1], ssd__gc__victim=name, ssd__ftl__over_provisioning=spare_)
            for name in ("greedy", "fifo", "random")
        }
        assert first[victim] == min(first.values())
    assert f"With {spare} the best design has" in done.stdout


def test_two_settings_are_one_scheme(cli: RunCli, study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    schemes = ["ssd.gc.victim=fifo", "ssd.gc.copyback=false"]
    asked = [word for scheme in schemes for word in ("--against", scheme)]
    cli("design", study, *asked, "--jobs", "1", "-q", "--out", out)
    tuned = against(out)["tuned"]
    assert dict(tuned["with"]["settings"]) == {"ssd.gc.victim": "fifo", "ssd.gc.copyback": "false"}
    # Without the scheme the space has no FIFO, and copyback is the base's.
    assert set(tuned["without"]["settings"]) == {"ssd.gc.victim"}
    assert tuned["without"]["settings"]["ssd.gc.victim"] != "fifo"


def test_a_policy_is_measured_against_the_best_design_without_it(
    cli: RunCli, study: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(POLICY, encoding="utf-8")
    out = tmp_path / "out"
    done = cli("design", study, "--against", "mine.py:Most", "--jobs", "1", "-q", "--out", out)
    assert "With mine.py:Most the best design has" in " ".join(done.stdout.split())
    assert "python" in against(out)["tuned"]["with"]["settings"]["ssd.gc.victim"]


def test_a_scheme_that_is_refused_alone_is_said(cli: RunCli, study: Path, tmp_path: Path) -> None:
    """So many free blocks leave no room at the base's spare; the space has more in every design."""
    text = STUDY.replace("[space]", '[space]\n"ssd.ftl.over_provisioning" = ["60%", "70%"]')
    study.write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    spare = "ssd.gc.soft_threshold=0.3"
    cli("design", study, "--against", spare, "--jobs", "1", "-q", "--out", out)
    reason = against(out)["untuned"]
    assert "logical pages" in reason
    # A page of it may be for others: no directory of this machine.
    assert str(out.parent) not in reason
    assert "refused" in against(out)["answer"]


@pytest.mark.parametrize(
    ("scheme", "told"),
    [
        (["mine.py:Nothing"], "there is no Nothing in"),
        (["ssd.gc.victim=lru"], "ssd.gc.victim"),
        (["ssd.gc.victm=fifo"], "unknown key"),
        (["ssd.gc.victim=greedy"], "the base has it"),
        (["ssd.gc.victim=fifo", "ssd.gc.victim=random"], "found ssd.gc.victim twice"),
    ],
)
def test_a_scheme_that_cannot_be_compared_is_one_line(
    cli: RunCli, study: Path, tmp_path: Path, scheme: list[str], told: str
) -> None:
    (tmp_path / "mine.py").write_text(POLICY, encoding="utf-8")
    asked = [word for one in scheme for word in ("--against", one)]
    done = cli("design", study, *asked, "--quiet", "--out", tmp_path / "out", status=2)
    assert told in done.stderr
    assert "--against" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_space_of_nothing_but_the_scheme_is_refused(cli: RunCli, study: Path) -> None:
    study.write_text(STUDY.replace('["greedy", "fifo", "random"]', '["fifo"]'), encoding="utf-8")
    done = cli("design", study, "--against", "ssd.gc.victim=fifo", "--quiet", status=2)
    assert "space.ssd.gc.victim: has nothing but what is to be compared" in done.stderr


def test_a_scheme_leaves_its_own_parameters_open() -> None:
    own = space(
        victim=["greedy", {"type": "rga", "d": {"min": 2, "max": 9}}],
        idle={"choices": ["none", "advanced"], "when": {"victim": "rga"}},
    )
    # With its type alone its parameter and what stands beside it are tuned ...
    assert [key.key for key in own.with_fixed("victim", "rga").keys] == ["victim", "idle"]
    assert domains(own.with_fixed("victim", "rga")) == {"rga"}
    # ... with a parameter nothing of it is.
    fixed = own.with_fixed("victim", {"type": "rga", "d": 4})
    assert domains(fixed) == {'{ type = "rga", d = 4 }'}
    # Without it neither it nor what stands beside it is there, whatever its parameter.
    left = own.without_option("victim", {"type": "rga", "d": 4})
    assert domains(left) == {"greedy"}
    assert [key.key for key in left.keys] == ["victim"]


def space(**table: Any) -> Space:
    return space_of(table, lambda _, value: value)


def domains(own: Space) -> set[str]:
    """Return the labels of the options for the victim."""
    (victim,) = (key.domain for key in own.keys if key.key == "victim")
    return {option.label for option in victim.options}  # type: ignore[union-attr]
