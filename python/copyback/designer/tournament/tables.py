"""Sentences and tables of a tournament, for the terminal and the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from copyback.designer.answer import ratio_words, words
from copyback.designer.tournament.contest import Kind
from copyback.sweep.answer import number
from copyback.sweep.bounds import measure_named
from copyback.words import units
from copyback.words.markdown import markdown_table
from copyback.words.units import MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.designer.tournament.standing import Content, Goal, Standing, UnderLoad
    from copyback.sweep.schemes import Measure

#: Designs below which a search is said to say little.
FEW = 20

#: What a table calls the designs that are no scheme's.
BASE, WHOLE = "the base", "the whole space"


@dataclass(frozen=True)
class Table:
    """Table of texts."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def measure_of(goal: Goal) -> Measure:
    """Return the measure of an objective."""
    return replace(measure_named(goal.column, "objectives"), label=goal.measure)


def sentence(content: Content, own: UnderLoad) -> str:
    """Return who wins under a workload, and how far the schemes are before and after tuning."""
    values = ", a ".join(
        f"{goal.measure} of {_number(goal, own.winner, place)}"
        for place, goal in enumerate(content.objectives)
    )
    first = content.objectives[0].measure
    return f"The best design found has a {values}: {_design(own.winner)}. {_of_schemes(own, first)}"


def _design(one: Standing) -> str:
    """Return what a design has beside the base, in words."""
    return words(tuple(one.settings.items()))


def _of_schemes(own: UnderLoad, first: str) -> str:
    tuned = own.of(Kind.TUNED)
    level = [one.scheme for one in tuned if one == own.winner or _is_level(one)]
    published = [ratio.ratio for one in own.of(Kind.PUBLISHED) if (ratio := one.ratio(0))]
    told = (
        f"As published, schemes have {_times(min(published))} to {_times(max(published))} its "
        f"{first}. "
        if published
        else ""
    )
    if not level:
        return f"{told}Tuned, none of the {len(tuned)} is level with it."
    verb = "is" if len(level) == 1 else "are"
    return f"{told}Tuned, {len(level)} of {len(tuned)} {verb} level with it: {', '.join(level)}."


def _times(ratio: float) -> str:
    return f"{ratio:.2f} times" if ratio < 10 else f"{ratio:.0f} times"


def _is_level(one: Standing) -> bool:
    ratio = one.ratio(0)
    return ratio is not None and ratio.may_be_one


def overview(content: Content) -> Table:
    """Return for each scheme its ratio to the best in the first objective, load by load."""
    names = list(dict.fromkeys(o.scheme for c in content.contests for o in c.of(Kind.TUNED)))
    header = ("scheme", *(f"{own.load}: published → tuned" for own in content.contests))
    rows = [(name, *(_both(own, name) for own in content.contests)) for name in names]
    bases = (_cell_of(own.of(Kind.BASE)) for own in content.contests)
    return Table(header, ((BASE, *bases), *rows))


def _both(own: UnderLoad, scheme: str) -> str:
    published = [one for one in own.of(Kind.PUBLISHED) if one.scheme == scheme]
    tuned = [one for one in own.of(Kind.TUNED) if one.scheme == scheme]
    return f"{_cell_of(published)} → {_cell_of(tuned)}"


def _cell_of(standings: Sequence[Standing]) -> str:
    """Return the ratio of the first objective of the first of some standings."""
    if not standings:
        return MISSING
    ratio = standings[0].ratio(0)
    return ("refused" if standings[0].refused else MISSING) if ratio is None else ratio.marked


def numbers(content: Content, own: UnderLoad) -> Table:
    """Return the numbers of every entry of a contest, with their ratios to the best."""
    header = ("scheme", "", *(goal.measure for goal in content.objectives))
    rows = [
        (_name(one), one.kind, *_cells(content, one)) for one in own.standings if not one.refused
    ]
    return Table(header, tuple(rows))


def _name(one: Standing) -> str:
    return one.scheme or {Kind.BASE: BASE}.get(one.kind, WHOLE)


def _cells(content: Content, one: Standing) -> list[str]:
    flaw = f", {one.flaw}" if one.flaw else ""
    return [
        f"{_number(goal, one, place)} ({_ratio(one, place)}{flaw})"
        for place, goal in enumerate(content.objectives)
    ]


def _number(goal: Goal, one: Standing, place: int) -> str:
    score = one.score(place)
    return MISSING if score is None else number(measure_of(goal), score)


def _ratio(one: Standing, place: int) -> str:
    ratio = one.ratio(place)
    return "no ratio" if ratio is None else ratio_words(ratio)


def designs(own: UnderLoad) -> Table:
    """Return what the best design of each search has, and how many that search has tried."""
    rows = [
        (_name(one), units.count(one.tried), _design(one))
        for one in own.standings
        if one.tried is not None
    ]
    return Table(("scheme", "designs tried", "best of them"), tuple(rows))


def remarks(own: UnderLoad) -> list[str]:
    """Return what cannot be run, and which searches tried so few designs that they say little."""
    lines = [
        f"Cannot be run: {_name(one)}, {one.kind}: {one.refused}."
        for one in own.standings
        if one.refused
    ]
    few = [_name(one) for one in own.standings if one.tried is not None and one.tried < FEW]
    if few:
        lines.append(
            f"Fewer than {FEW} designs were tried for: {', '.join(few)}. What was found may be far "
            "from the best; a larger budget tries more."
        )
    return lines


def cost(content: Content) -> str:
    """Return what was run."""
    searches = sum(len(own.of(Kind.TUNED)) + 1 for own in content.contests)
    return (
        f"{searches} searches of {units.count(content.budget)} page operations each; numbers are "
        f"of {len(content.seeds)} fresh seeds"
    )


def page(content: Content, title: str, level: int = 1) -> str:
    """Return all of it, in Markdown.

    Parameters
    ----------
    level
        Level of its heading: 2 makes it a section of a larger page.
    """
    heading, below = "#" * level, "#" * (level + 1)
    first = content.objectives[0].measure
    parts = [
        f"{heading} {title}",
        f"Ratios of the {first} to that of the best design found. {cost(content)}.",
        _markdown(overview(content)),
    ]
    for own in content.contests:
        parts += [
            f"{below} {own.load}",
            sentence(content, own),
            _markdown(numbers(content, own)),
            _markdown(designs(own)),
            *remarks(own),
        ]
    told = ", ".join(f"`{one}`" for one in content.commits)
    commits = f" at commit {told}" if told else ""
    return "\n\n".join([*parts, f"Run by Copyback {content.copyback}{commits}."]) + "\n"


def _markdown(table: Table) -> str:
    return markdown_table(table.header, table.rows)
