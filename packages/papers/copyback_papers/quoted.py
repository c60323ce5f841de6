"""Cells that the prose of a page quotes, found in its template without rendering it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2 import nodes

from copyback._core import InputError
from copyback_papers.answers import cells_of
from copyback_papers.book import cells_at
from copyback_papers.measures import Cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from copyback_papers.book import Book

#: Macros that quote an answer, and those that quote cells. The experiment's name comes first.
ANSWERING = ("ours", "at", "number")
MACROS = (*ANSWERING, "cell", "faster", "times", "value")


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
    """Yield what the prose of a template quotes of experiments of which something is stored.

    Raises
    ------
    InputError
        If the arguments of a macro are not written out.
    """
    tree = jinja2.Environment(autoescape=True).parse(template.read_text(encoding="utf-8"))
    for call in tree.find_all(nodes.Call):
        if not isinstance(call.node, nodes.Name) or call.node.name not in MACROS:
            continue
        where = f"{template.name}:{call.lineno}"
        try:
            name, *args = [arg.as_const() for arg in call.args]
            named = {one.key: one.value.as_const() for one in call.kwargs}
        except nodes.Impossible:
            raise InputError(
                f"{where}: {call.node.name}() needs arguments that are written out"
            ) from None
        # What a branch names that is not rendered may not be there.
        with contextlib.suppress(InputError):
            yield Quoted(where, name, tuple(_cells(book, call.node.name, name, args, named)))


def _cells(
    book: Book, macro: str, name: str, args: Sequence[Any], named: dict[str, Any]
) -> list[Cell]:
    """Return the cells that a macro's number is made of."""
    found = book.of(name)
    if macro in ANSWERING:
        return cells_of(book.answer(name, *args).check, found.measures)
    if macro == "faster":
        return cells_at(found, args, named.get("point", ""))
    where = named.get("workload", ""), named.get("point", "")
    return [Cell(*where, variant) for variant in args]
