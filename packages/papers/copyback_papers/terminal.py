"""Tables for a terminal, in which no word is broken: columns as wide as their longest word needs.

A table that has no room is shown in parts, each with the labels of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from copyback_papers import found as findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions

#: Columns between two cells.
GAP = 2

#: A cell of so many letters is one word: a number stays beside its unit.
SHORT = 10


@dataclass(frozen=True)
class Fitted:
    """A table of texts, laid out for the width that it gets.

    Attributes
    ----------
    labels
        How many of its first columns are labels, which every part repeats.
    """

    table: findings.Table
    labels: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """Yield the table, or its parts."""
        columns = list(zip(self.table.header, *self.table.rows, strict=True))
        for number, part in enumerate(parts(columns, self.labels, options.max_width)):
            title = self.table.title if number == 0 else None
            yield _grid(title, part, options.max_width)


def parts(
    columns: Sequence[Sequence[str]], labels: int, room: int
) -> Iterator[list[Sequence[str]]]:
    """Yield as many columns at a time as there is room for, behind the labels.

    >>> columns = [["load", "a"], ["serial", "1.0"], ["threshold", "0.9"]]
    >>> [[column[0] for column in part] for part in parts(columns, 1, 16)]
    [['load', 'serial'], ['load', 'threshold']]
    """
    head, rest = list(columns[:labels]), list(columns[labels:])
    part = list(head)
    for column in rest:
        if len(part) > len(head) and _least([*part, column]) > room:
            yield part
            part = list(head)
        part.append(column)
    yield part


def _least(columns: Sequence[Sequence[str]]) -> int:
    """Return the width below which a word would be broken."""
    return sum(map(_word, columns)) + GAP * (len(columns) - 1)


def _word(column: Sequence[str]) -> int:
    """Return the length of the longest word of a column."""
    words = [[cell] if len(cell) <= SHORT else cell.split() for cell in column]
    return max((len(word) for parts in words for word in parts), default=0) or 1


def widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return a width for each column: its longest word's, and a share of the room that is left.

    >>> widths([["load", "a b c d"], ["many words here", "1"]], 20)
    [7, 11]
    """
    found = [_word(column) for column in columns]
    wanted = [max(len(line) for cell in column for line in cell.split("\n")) for column in columns]
    left = room - GAP * (len(columns) - 1) - sum(found)
    while left > 0 and found != wanted:
        # The column that wants most gets the next place.
        at = max(range(len(found)), key=lambda one: wanted[one] / found[one])
        if found[at] >= wanted[at]:
            break
        found[at] += 1
        left -= 1
    return found


def _grid(title: str | None, columns: Sequence[Sequence[str]], room: int) -> Table:
    """Return a table whose columns have these widths."""
    grid = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        padding=(0, GAP - 1, 0, 0),
        title=title,
        title_justify="left",
    )
    for (head, *_), width in zip(columns, widths(columns, room), strict=True):
        grid.add_column(Text(head), width=width, overflow="fold")
    for row in zip(*(column[1:] for column in columns), strict=True):
        grid.add_row(*map(Text, row))
    return grid


#: Columns of answers that a terminal has room for.
ANSWERS = ("figure", "what", "paper", "ours", "interval", "verdict")


def answers(table: findings.Table) -> findings.Table:
    """Return the table of answers with fewer columns: spread or rules stand below what is asked."""
    at = {name: place for place, name in enumerate(table.header)}
    notes = at["spread or rules"]
    rows = [
        tuple(
            f"{row[at[name]]}\n({row[notes]})" if name == "what" and row[notes] else row[at[name]]
            for name in ANSWERS
        )
        for row in table.rows
    ]
    return findings.Table(table.title, ANSWERS, tuple(rows))
