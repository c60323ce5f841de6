"""Files of a study.

::

    DIR/design.json     what the study found, in numbers
    DIR/report.html     its page
    DIR/front/1.toml    the designs of the front, as configurations
    DIR/sweep/          all runs, as a sweep keeps them, and results.parquet
"""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from copyback import __version__
from copyback._core import InputError
from copyback.data.outputs import make_parents, replace_file
from copyback.designer import answer
from copyback.designer.found import BASE, investigate
from copyback.designer.page import render
from copyback.designer.scores import Refused
from copyback.designer.study import Length
from copyback.sweep.ratios import Ratio
from copyback.sweep.store import RESULTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from copyback.designer.found import Found
    from copyback.designer.runs import Runner
    from copyback.designer.scores import Measured
    from copyback.sweep.ratios import NoRatio

SCHEMA = 1
DESIGN, REPORT, FRONT, SWEEP = "design.json", "report.html", "front", "sweep"
TABLE = f"{SWEEP}/{RESULTS}"


def check(directory: Path) -> None:
    """Refuse a directory that holds something other than a study.

    Raises
    ------
    InputError
        With what was found.
    """
    check_only(directory, {DESIGN, REPORT, FRONT, SWEEP}.__contains__, "a study")


def check_only(directory: Path, is_own: Callable[[str], bool], what: str) -> None:
    """Refuse a directory that holds anything but the files of what it is for.

    Raises
    ------
    InputError
        With what was found.
    """
    if not directory.exists():
        return
    if not directory.is_dir():
        raise InputError(f"{directory}: is a file; --out needs a directory")
    strangers = [entry.name for entry in directory.iterdir() if not is_own(entry.name)]
    if strangers:
        raise InputError(
            f"{directory}: holds something other than {what} ({min(strangers)}); "
            "give a new or empty directory"
        )


def carry_out(runner: Runner, directory: Path, on_batch: Callable[[str, int], None]) -> Found:
    """Run the study of a runner, and write what it found into a directory."""
    found = investigate(runner.study, runner, on_batch)
    write(found, runner, directory)
    runner.finish()
    return found


def write(found: Found, runner: Runner, directory: Path) -> None:
    """Write the front, the numbers and the page; the runs are there."""
    front = directory / FRONT
    make_parents(front)
    for old in front.glob("*.toml"):
        old.unlink()
    configurations = [
        _configuration(found, runner, place, own) for place, own in enumerate(found.points, 1)
    ]
    for place, text in enumerate(configurations, 1):
        replace_file(front / f"{place}.toml", text.encode())
    replace_file(directory / REPORT, render(found, configurations, runner.command).encode())
    content = numbers(found) | {"runs": _bases(found, runner)}
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    replace_file(directory / DESIGN, text.encode())


def _configuration(found: Found, runner: Runner, place: int, own: Measured) -> str:
    """Return the configuration of a point, under the first workload."""
    planned = runner.plan(own.design, Length.FULL, found.study.seeds[:1])
    assert not isinstance(planned, Refused), "it has been run"
    values = ", ".join(
        f"{one.measure.label} {answer.value(found, own, i)}"
        for i, one in enumerate(found.study.objectives)
    )
    head = [
        f"# Design {place} of {len(found.points)} on the front: {answer.words(own.design.point)}",
        f"# Over all workloads: {values}",
        f"# Below is its run under: {found.study.loads[0].name}",
    ]
    return "\n".join(head) + "\n\n" + planned[0].config.to_toml()


def _bases(found: Found, runner: Runner) -> dict[str, str]:
    """Return for each workload the configuration of the base, as the search runs its designs."""
    study = found.study
    planned = runner.plan(BASE, study.search_length, study.seeds[:1])
    assert not isinstance(planned, Refused), "it has been run"
    return {load.name: run.config.to_toml() for load, run in zip(study.loads, planned, strict=True)}


def numbers(found: Found) -> dict[str, Any]:
    """Return what the study found, as its file has it."""
    study = found.study
    return {
        "schema": SCHEMA,
        "copyback": __version__,
        "optuna": version("optuna"),
        "answer": answer.sentence(found),
        "objectives": [
            {"measure": one.measure.label, "column": one.measure.column, "goal": one.goal}
            for one in study.objectives
        ],
        "constraints": list(map(str, study.constraints)),
        "keys": [key.key for key in study.space.keys],
        "workloads": {load.name: load.weight for load in study.loads},
        "seeds": list(study.seeds),
        "sampler": study.sampler,
        "tried": len(found.searched.tried),
        "refused": dict(found.searched.refused),
        "page_operations": asdict(found.spent),
        "base": point(found.base),
        "front": [point(own) for own in found.points],
        "chosen": None if found.chosen is None else found.points.index(found.chosen) + 1,
        "undecided": [point(own) for own in found.undecided],
        "importance": {
            one.label: {
                own.name: {
                    "total": [own.total.mean, own.total.low, own.total.high],
                    "alone": [own.alone.mean, own.alone.low, own.alone.high],
                    "found": own.is_found,
                }
                for own in one.explained
            }
            for one in found.importance
        },
        "ablation": {
            own.key: own.because or [ratio(one) for one in own.ratios] for own in found.ablation
        },
    }


def point(own: Measured) -> dict[str, Any]:
    """Return a design and its scores."""
    return {
        "settings": dict(own.design.point),
        "scores": {str(seed): list(values) for seed, values in own.by_seed.items()},
    }


def ratio(one: Ratio | NoRatio) -> list[float | None]:
    """Return a ratio and the ends of its interval; nothing if there is none."""
    return [one.ratio, one.low, one.high] if isinstance(one, Ratio) else []
