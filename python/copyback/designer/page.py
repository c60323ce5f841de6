"""The page of a study: self-contained, opens offline, and runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback import __version__, report
from copyback.designer import answer
from copyback.designer.sliders import sliders
from copyback.designer.surrogate import COVERED
from copyback.sweep.schemes import Format
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.designer.found import Found
    from copyback.designer.importance import Share
    from copyback.designer.scores import Measured


def render(found: Found, configurations: Sequence[str], command: str) -> str:
    """Return the page.

    Parameters
    ----------
    configurations
        Of the points of the front, as their files have them.
    command
        How the study was started.
    """
    return (
        report.environment()
        .get_template("design.html.j2")
        .render(
            title=f"{units.count(len(found.searched.tried))} designs, "
            f"{units.count(len(found.points))} on the front",
            version=__version__,
            lead=answer.sentence(found),
            facts=_facts(found),
            objectives=[one.measure.label for one in found.study.objectives],
            points=_points(found, configurations),
            common=answer.words(answer.shared(found.points)) if answer.shared(found.points) else "",
            matters=answer.matters(found),
            importance=_importance(found),
            tried=_tried(found),
            short=bool(found.study.short),
            covered=units.share(COVERED),
            ablation=_ablation(found),
            undecided=answer.undecided(found),
            left_out=answer.left_out(found),
            command=command,
            data=report.script_json(data(found)),
            asset=report.asset,
        )
    )


def render_fragment(found: Found) -> str:
    """Return the answer, what matters, and the front, as a small piece of HTML for notebooks."""
    return (
        report.environment()
        .get_template("design_fragment.html.j2")
        .render(
            answer=answer.sentence(found),
            matters=answer.matters(found),
            objectives=[one.measure.label for one in found.study.objectives],
            points=_points(found, [""] * len(found.points)),
            common=answer.words(answer.shared(found.points)),
        )
    )


def _facts(found: Found) -> list[tuple[str, str]]:
    study = found.study
    loads = ", ".join(f"{load.name} (weight {load.weight:g})" for load in study.loads)
    bounds = ", ".join(map(str, study.constraints))
    return [
        ("Objectives", ", ".join(f"{one.goal} {one.measure.label}" for one in study.objectives)),
        *([("Under each workload", bounds)] if bounds else []),
        ("Workloads", loads),
        ("Seeds", units.count(len(study.seeds))),
        ("Spent", answer.cost(found)),
    ]


def _points(found: Found, configurations: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "name": answer.words(answer.apart(own, found.points)),
            "cells": [
                (answer.value(found, own, i), answer.ratio_words(own.ratio(found.base, i)))
                for i in range(len(found.study.objectives))
            ],
            "chosen": own == found.chosen,
            "configuration": configuration,
        }
        for own, configuration in zip(found.points, configurations, strict=True)
    ]


def _importance(found: Found) -> list[tuple[str, list[list[str]]]]:
    """Return for each objective a row a choice: total, interval, alone, with others."""
    return [
        (
            one.label,
            [
                [
                    answer.name_of(found, own.name),
                    answer.percent(own) if own.is_found else "none seen",
                    _interval(own.total),
                    _percent(min(own.alone.mean, own.total.mean))
                    if own.is_found
                    else units.MISSING,
                    _percent(max(own.total.mean - own.alone.mean, 0.0))
                    if own.is_found
                    else units.MISSING,
                ]
                for own in one.explained
            ],
        )
        for one in found.importance
    ]


def _tried(found: Found) -> list[tuple[int, str]]:
    """Return the place and the name of each objective that has a surrogate."""
    objectives = found.study.objectives
    return [(own.place, objectives[own.place].measure.label) for own in found.surrogates]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _interval(share: Share) -> str:
    return f"{_percent(share.low)} to {_percent(share.high)}"


def _ablation(found: Found) -> list[tuple[str, list[str]]]:
    return [
        (
            answer.ablation_name(found, own),
            [answer.ratio_words(one) for one in own.ratios] or answer.ablation_cells(found, own),
        )
        for own in found.ablation
    ]


def data(found: Found) -> dict[str, Any]:
    """Return what the page's script draws."""
    objectives = found.study.objectives
    return {
        "objectives": [
            {
                "label": one.measure.label,
                "time": one.measure.format is Format.TIME,
                "more": one.is_maximised,
            }
            for one in objectives
        ],
        "others": [_drawn(found, own) for own in found.searched.tried],
        "points": [_drawn(found, own) for own in found.points],
        "chosen": None if found.chosen is None else found.points.index(found.chosen),
        "base": _drawn(found, found.base),
        "sliders": sliders(found),
    }


def _drawn(found: Found, own: Measured) -> dict[str, Any]:
    return {
        "at": [float(f"{own.score(i):.6g}") for i in range(len(found.study.objectives))],
        "name": answer.words(own.design.point) if own.design.point else "the base",
    }
