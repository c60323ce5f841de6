"""Cells that the prose of a page quotes, found in its template without rendering it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2 import nodes

from copyback_papers.answers import cells_of
from copyback_papers.measures import Cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from copyback_papers.book import Book
    from copyback_papers.found import Found

#: Macros that quote numbers of an experiment, whose name comes first.
MACROS = ("cell", "times", "ours", "at", "value", "number")


@dataclass(frozen=True)
class Quoted:
    """Quotation of an experiment's numbers.

    Attributes
    ----------
    where
        The template's file and line.
    """

    where: str
    experiment: str
    cells: tuple[Cell, ...]


def quoted(template: Path, book: Book) -> Iterator[Quoted]:
    """Yield what the prose of a template quotes of experiments of which something is stored."""
    tree = jinja2.Environment(autoescape=True).parse(template.read_text(encoding="utf-8"))
    for call in tree.find_all(nodes.Call):
        if not isinstance(call.node, nodes.Name) or call.node.name not in MACROS:
            continue
        name, *args = [arg.as_const() for arg in call.args]
        named = {one.key: one.value.as_const() for one in call.kwargs}
        if name in book.found:
            cells = tuple(_cells(call.node.name, book.found[name], args, named))
            yield Quoted(f"{template.name}:{call.lineno}", name, cells)


def _cells(macro: str, found: Found, args: Sequence[Any], named: dict[str, Any]) -> list[Cell]:
    """Return the cells that a macro's number is made of."""
    if macro in {"ours", "at", "number"}:
        number, *place = args
        answer = found.regions[number - 1].answers[place[0]] if place else found.answers[number - 1]
        return cells_of(answer.check, found.measures)
    where = named.get("workload", ""), named.get("point", "")
    return [Cell(*where, variant) for variant in args]
