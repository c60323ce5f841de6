"""``copyback.design``: a study from Python."""

from __future__ import annotations

import gc
import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from test_design import STUDY, study

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

__all__ = ["study"]


def asked(tiny_toml: Path, **changes: Any) -> dict[str, Any]:
    """Return the study as a dictionary."""
    return {**tomllib.loads(STUDY), "config": str(tiny_toml), **changes}


def test_a_dictionary_finds_what_the_command_finds(
    cli: RunCli, study: Path, tiny_toml: Path, tmp_path: Path
) -> None:
    cli("design", study, "--quiet", "--jobs", "1", "--out", tmp_path / "cli")
    found = copyback.design(asked(tiny_toml), out=tmp_path / "own", jobs=1)
    left, right = (
        json.loads((tmp_path / name / "design.json").read_text(encoding="utf-8"))
        for name in ("cli", "own")
    )
    assert left == right
    assert found.sentence() == right["answer"]
    front = found.front.to_dict()
    assert front["design"] == list(range(1, len(right["front"]) + 1))
    for place, objective in enumerate(right["objectives"]):
        for score, point in zip(front[objective["measure"]], right["front"], strict=True):
            assert min(own[place] for own in point["scores"].values()) <= score
    assert [i + 1 for i, one in enumerate(front["chosen"]) if one] == [right["chosen"]]
    lost = found.ablation.to_dict()
    for key, own in right["ablation"].items():
        ratios = [
            ratio for name, ratio in zip(lost["choice"], lost["ratio"], strict=True) if name == key
        ]
        assert ratios == ([None] * 2 if isinstance(own, str) else [ratio[0] for ratio in own])
    explained = found.importance.to_dict()
    shares = zip(explained["objective"], explained["choice"], explained["explains"], strict=True)
    for label, name, share in shares:
        assert share == right["importance"][label][name]["total"][0]


def test_a_configuration_of_the_front_runs(study: Path, tmp_path: Path) -> None:
    found = copyback.design(study, out=tmp_path / "out", jobs=1)
    assert len(found.configurations) == len(found.front)
    result = copyback.run(tomllib.loads(found.configurations[0]))
    assert result.summary["write_amplification"] > 0


def test_without_a_directory_the_runs_go_with_the_result(study: Path) -> None:
    found = copyback.design(study, jobs=1)
    home = found.directory
    assert (home / "report.html").is_file()
    del found
    gc.collect()
    assert not home.exists()


def test_what_a_notebook_shows(study: Path, tmp_path: Path) -> None:
    found = copyback.design(study, out=tmp_path / "out", jobs=1)
    first, *lines = repr(found).splitlines()
    assert first.startswith("DesignResult(")
    assert " ".join(lines) == found.sentence()
    page = found._repr_html_()
    assert "<caption" in page
    assert page.count("<tr>") == 1 + len(found.front)
    (axes,) = found.plot().axes
    assert [text.get_text() for text in axes.texts] == list(map(str, found.front["design"]))
    assert axes.get_xlabel() == "WA"


def test_one_objective_has_a_figure(study: Path, tmp_path: Path) -> None:
    study.write_text(STUDY.replace('["WA", "ssd.ftl.over_provisioning"]', '["WA"]'))
    (axes,) = copyback.design(study, out=tmp_path / "out", jobs=1).plot().axes
    assert axes.get_ylabel() == "WA"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"budget": 0}, "budget: found 0; a whole number from 1 is needed"),
        ({"set": {"ssd.gc.wide": "blind"}}, "--set ssd.gc.wide: unknown key"),
        ({"config": None}, "found no configuration; allowed: config = FILE or preset = NAME"),
        ({"config": "nowhere.toml"}, "nowhere.toml"),
    ],
)
def test_a_fault_of_a_dictionary_is_one_line(
    tiny_toml: Path, changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(copyback.InputError) as fault:
        copyback.design(asked(tiny_toml, **changes), jobs=1)
    assert told in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_small_space_of_which_all_is_refused_is_told(tiny_toml: Path) -> None:
    space = {"ssd.gc.wide": ["blind"]}
    with pytest.raises(copyback.InputError, match=r"space: every design is refused.*\n.*wide"):
        copyback.design(asked(tiny_toml, space=space), jobs=1)


def test_the_honest_baseline_is_that_of_the_command(
    cli: RunCli, study: Path, tiny_toml: Path, tmp_path: Path
) -> None:
    scheme = ["ssd.gc.victim=fifo", "ssd.gc.copyback=false"]
    words = [word for one in scheme for word in ("--against", one)]
    cli("design", study, *words, "--quiet", "--jobs", "1", "--out", tmp_path / "cli")
    own = copyback.honest_baseline(asked(tiny_toml), scheme, out=tmp_path / "own", jobs=1)
    left, right = (
        json.loads((tmp_path / name / "against.json").read_text(encoding="utf-8"))
        for name in ("cli", "own")
    )
    assert left == right
    assert own.sentence() == right["answer"]
    gains = own.gains.to_dict()
    labels = list(right["tuned"]["ratios"])
    assert gains["of"] == ["base"] * len(labels) + ["best designs"] * len(labels)
    assert gains["objective"] == labels * 2
    told = [*right["untuned"]["ratios"].values(), *right["tuned"]["ratios"].values()]
    assert list(zip(gains["ratio"], gains["low"], gains["high"], strict=True)) == [
        tuple(one) for one in told
    ]
    designs = own.designs.to_dict()
    assert designs["design"] == [
        "the base",
        "the base, with it",
        "the best without",
        "the best with it",
    ]
    # A ratio of geometric means is the geometric mean of the ratios.
    first = designs[labels[0]]
    assert gains["ratio"][0] == pytest.approx(first[1] / first[0])
    assert (gains["with"][0], gains["without"][0]) == (first[1], first[0])
    assert [None if one is None else one.strip('"') for one in designs["ssd.gc.victim"]][
        1
    ] == "fifo"
    assert repr(own).startswith("HonestBaseline(ssd.gc.victim=fifo, ssd.gc.copyback=false)")


def test_a_baseline_without_a_directory_goes_with_the_result(study: Path) -> None:
    own = copyback.honest_baseline(study, "ssd.gc.victim=fifo", jobs=1)
    home = own.directory
    assert (home / "with" / "report.html").is_file()
    del own
    gc.collect()
    assert not home.exists()


@pytest.mark.parametrize(
    ("scheme", "told"),
    [
        ([], "scheme: found []"),
        (5, "scheme: found 5 (int); allowed: a text, or a list of one text or more"),
        ("ssd.gc.victm=fifo", "unknown key"),
        ("ssd.gc.victim=greedy", "honest_baseline(): scheme ssd.gc.victim=greedy: the base has it"),
        (["ssd.gc.victim=fifo"] * 2, "honest_baseline(): scheme: found ssd.gc.victim twice"),
    ],
)
def test_a_scheme_without_a_baseline_is_one_line(study: Path, scheme: Any, told: str) -> None:
    with pytest.raises(copyback.InputError) as fault:
        copyback.honest_baseline(study, scheme, jobs=1)
    assert told in str(fault.value)
    assert "\n" not in str(fault.value)


def test_another_argument_is_told() -> None:
    with pytest.raises(copyback.InputError, match=r"design\(\): study: found 5 \(int\)"):
        copyback.design(5)  # type: ignore[arg-type]


def test_a_directory_of_something_else_is_left_alone(study: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(copyback.InputError, match="holds something other than a study"):
        copyback.design(study, out=tmp_path / "other")
