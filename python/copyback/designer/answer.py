"""Answer of a study: sentences, and rows for the terminal and the page."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from copyback.designer.ablation import AS_THE_BASE
from copyback.sweep.answer import number
from copyback.sweep.axes import column
from copyback.sweep.labels import key_names, setting_text
from copyback.sweep.ratios import NoRatio
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.designer.ablation import Ablated
    from copyback.designer.found import Found
    from copyback.designer.importance import Explained, Importance
    from copyback.designer.scores import Measured
    from copyback.sweep.axes import Point
    from copyback.sweep.ratios import Ratio

#: Choices that a sentence names for an objective.
MOST_NAMED = 3


def words(point: Point) -> str:
    """Return a design as people read it.

    >>> words((("ssd.gc.victim", "{ type = 'rga', d = 7 }"), ("ssd.gc.width", "blind")))
    'victim rga (d 7), width blind'
    """
    return setting_text(tuple((key, column(key, [text])[0]) for key, text in point))


def value(found: Found, own: Measured, place: int) -> str:
    """Return the number of a design in an objective."""
    return number(found.study.objectives[place].measure, own.score(place))


def shared(points: Sequence[Measured]) -> Point:
    """Return what all points of a front have; nothing of one point."""
    if len(points) < 2:
        return ()
    first = points[0].design.point
    return tuple(pair for pair in first if all(pair in one.design.point for one in points))


def apart(own: Measured, points: Sequence[Measured]) -> Point:
    """Return what of a point others have not."""
    common = shared(points)
    return tuple(pair for pair in own.design.point if pair not in common)


def sentence(found: Found) -> str:
    """Return the answer: how many designs, the front, and the chosen one."""
    run = units.count(len(found.searched.tried))
    if found.chosen is None:
        closest = min(one.excess for one in found.survived.settled or found.searched.tried)
        return (
            f"Of {run} designs that were run, none may be built: the nearest exceeds a "
            f"constraint by {units.share(closest)}."
        )
    place = found.points.index(found.chosen) + 1
    if len(found.points) == 1:
        return f"Of {run} designs that were run, one is on the front: {_told(found)}."
    return (
        f"Of {run} designs that were run, {len(found.points)} are on the front: no other beats "
        f"one of them in every objective. Design {place} is nearest to the best of every "
        f"objective: {_told(found)}."
    )


def _told(found: Found) -> str:
    """Return the numbers of the chosen design, against the base."""
    assert found.chosen is not None
    return ", ".join(
        f"{one.measure.label} {value(found, found.chosen, place)} "
        f"({ratio_words(found.chosen.ratio(found.base, place))})"
        for place, one in enumerate(found.study.objectives)
    )


def ratio_words(ratio: Ratio | NoRatio) -> str:
    """Return a ratio, with its interval unless both ends are alike."""
    if ratio.ends is None or ratio.ends[1].startswith(ratio.ends[0]):
        return ratio.text
    return ratio.sentence.replace(" (", ", ").rstrip(")")


def matters(found: Found) -> list[tuple[str, str]]:
    """Return for each objective which choices explain the differences in the space."""
    return [(one.label, _explains(found, one)) for one in found.importance]


def _explains(found: Found, own: Importance) -> str:
    keys = [one for one in own.explained if one.name in _keys(found)]
    real = [one for one in keys if one.is_found]
    idle = [name_of(found, one.name) for one in keys if not one.is_found]
    named = ", ".join(f"{name_of(found, one.name)} {percent(one)}" for one in real[:MOST_NAMED])
    parts = [
        *([f"{named} of the differences in the space"] if real else []),
        *([f"{', '.join(idle)}: nothing that can be seen"] if idle else []),
    ]
    return "; ".join(parts)


def percent(one: Explained) -> str:
    """Return the share of the differences that a choice explains."""
    return f"{100 * min(one.total.mean, 1.0):.0f}%"


def _keys(found: Found) -> list[str]:
    return [key.key for key in found.study.space.keys]


def name_of(found: Found, name: str) -> str:
    """Return what a choice or parameter is called: ``victim``, ``victim rga d``."""
    keys = key_names(_keys(found))
    own = next(key for key in keys if name == key or name.startswith(f"{key}."))
    return " ".join([keys[own], *filter(None, name.removeprefix(own).split("."))])


def undecided(found: Found) -> list[str]:
    """Return what is not decided with this budget, a sentence each."""
    lines = []
    if found.undecided:
        lines.append(
            f"{_number(len(found.undecided), 'design')} cannot be told from the front by the "
            "intervals over the seeds"
        )
    if found.survived.left:
        lines.append(
            f"{_number(found.survived.left, 'design')} that short runs have not dropped had no "
            "full run, for which the budget did not last"
        )
    if len(found.study.seeds) < 2:
        lines.append("with one seed no number has an interval")
    for label, blurred in _blurred(found):
        lines.append(f"{label}: what {', '.join(blurred)} buys is not distinguishable from nothing")
    return lines


def _blurred(found: Found) -> list[tuple[str, list[str]]]:
    """Return for each objective the choices whose ablation has an interval that holds 1."""
    rows = []
    for place, one in enumerate(found.study.objectives):
        names = [name_of(found, own.key) for own in found.ablation if _is_blurred(own, place)]
        if names:
            rows.append((one.measure.label, names))
    return rows


def _is_blurred(own: Ablated, place: int) -> bool:
    if not own.ratios:
        return False
    ratio = own.ratios[place]
    return not isinstance(ratio, NoRatio) and ratio.may_be_one and ratio.low != ratio.high


def left_out(found: Found) -> list[str]:
    """Return which designs are not on the front for another reason than their numbers."""
    groups = _alike(found.searched.refused)
    lines = [f"{_number(count, 'design')}: {reason}" for reason, count in groups.most_common(3)]
    if len(groups) > 3:
        lines.append(f"and {len(groups) - 3} other reasons")
    return lines + [
        f"{_number(count, 'design')} with full runs {why}" for why, count in found.left_out.items()
    ]


def _alike(refused: Counter[str]) -> Counter[str]:
    """Return reasons that differ in numbers alone as one, in the words of the first."""
    first: dict[str, str] = {}
    groups: Counter[str] = Counter()
    for reason, count in refused.items():
        words_alone = re.sub(r"[0-9][0-9.]*", "", reason)
        groups[first.setdefault(words_alone, reason.removeprefix("--set "))] += count
    return groups


def cost(found: Found) -> str:
    """Return what the study took."""
    budget = units.count(found.study.budget)
    end = "; the space has no other design" if found.searched.is_used_up else ""
    more = [
        f"{units.count(count)} more for {what}"
        for count, what in (
            (found.spent.ablation, "the ablation"),
            (found.spent.drawn, f"{units.count(len(found.drawn))} designs drawn evenly"),
        )
        if count
    ]
    return "; ".join([f"{units.count(found.spent.search)} of {budget} page operations{end}", *more])


def ablation_name(found: Found, own: Ablated) -> str:
    """Return the choice that is back to the base, and whether a constraint needs it."""
    name = name_of(found, own.key)
    return name if own.is_feasible else f"{name} (a constraint breaks)"


def ablation_cells(found: Found, own: Ablated) -> list[str]:
    """Return a cell for each objective: the ratio to the chosen design, or why there is none."""
    if own.because == AS_THE_BASE:
        return [AS_THE_BASE, *[""] * (len(found.study.objectives) - 1)]
    if own.because is not None:
        return ["refused", *[""] * (len(found.study.objectives) - 1)]
    return [one.marked for one in own.ratios]


def _number(count: int, noun: str) -> str:
    return f"{units.count(count)} {noun}{'' if count == 1 else 's'}"
