"""Output of ``copyback design``: the answer, the front, and what each choice buys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from copyback.designer import answer
from copyback.designer.against import rows
from copyback.sweep.contest_table import empty_table
from copyback.words.console import facts_grid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from copyback.designer.against import Against
    from copyback.designer.found import Found

#: Points of the front that the terminal shows.
MOST_SHOWN = 12


def overview(found: Found) -> Iterator[RenderableType]:
    """Yield what is printed."""
    yield facts_grid([("Answer", answer.sentence(found)), *_facts(found)])
    if found.points:
        yield Text("")
        yield _front(found)
    if found.ablation:
        yield Text("")
        yield _ablation(found)


def comparison(own: Against) -> Iterator[RenderableType]:
    """Yield what is printed of the designs without and with a scheme."""
    yield facts_grid([("Answer", own.sentence())])
    yield Text("")
    table = empty_table("Without and with it")
    table.add_column("", style="bold")
    for one in own.study.objectives:
        table.add_column(one.measure.label, justify="right", no_wrap=True)
    table.add_column("design", overflow="fold")
    for name, values, words in rows(own):
        table.add_row(name, *values, words)
    yield table


def _facts(found: Found) -> list[tuple[str, str]]:
    rows = [("Matters", f"{label}: {text}") for label, text in answer.matters(found)]
    rows += [("Undecided", ". ".join(answer.undecided(found)))] if answer.undecided(found) else []
    rows += [("Left out", text) for text in answer.left_out(found)]
    return [*rows, ("Spent", answer.cost(found))]


def _table(found: Found, title: str, first: str, last: str | None) -> Table:
    table = empty_table(title)
    table.add_column(first, style="bold", no_wrap=last is not None)
    for one in found.study.objectives:
        table.add_column(one.measure.label, justify="right", no_wrap=True)
    if last is not None:
        table.add_column(last, overflow="fold")
    return table


def _front(found: Found) -> Table:
    table = _table(found, "The front", "", "design")
    for place, own in enumerate(found.points[:MOST_SHOWN], 1):
        values = [answer.value(found, own, i) for i in range(len(found.study.objectives))]
        ratios = [own.ratio(found.base, i).marked for i in range(len(found.study.objectives))]
        cells = [f"{v}\n{r}" for v, r in zip(values, ratios, strict=True)]
        name = Text(answer.words(answer.apart(own, found.points)))
        if own == found.chosen:
            name.append("\nnearest to the best of every objective", style="dim")
        table.add_row(str(place), *cells, name)
    table.caption = _caption(found)
    table.caption_justify = "left"
    return table


def _caption(found: Found) -> str:
    common = answer.shared(found.points)
    more = len(found.points) - MOST_SHOWN
    parts = [
        *([f"All of them: {answer.words(common)}."] if common else []),
        *([f"{more} more are on the page."] if more > 0 else []),
        "Below each number: its ratio to the base; ? = not distinguishable.",
    ]
    return " ".join(parts)


def _ablation(found: Found) -> Table:
    table = _table(found, "Without one choice", "back to the base", None)
    for own in found.ablation:
        table.add_row(answer.ablation_name(found, own), *answer.ablation_cells(found, own))
    table.caption = "Ratio to the chosen design, of real runs."
    table.caption_justify = "left"
    return table
