"""The numbers of a summary as the simulator declares them, for terminal and report.

A number is declared where its field is, in ``crates/copyback/src/metrics``: with a row of the page,
a phrase of the terminal, or a column. `Section.SHOWN` has what is declared there.
"""

from __future__ import annotations

import itertools
import string
from typing import TYPE_CHECKING, Any

from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback.data.section import Section, Shown


def amplification(found: float | None) -> str:
    """Return a write amplification; of less than 1, why it can be."""
    less = found is not None and found < 1
    return units.factor(found) + (", as a buffer holds or merged the rest" if less else "")


#: How a number is written: the name of the format in a declaration, and the function.
FORMATS = {
    "amplification": amplification,
    "count": units.count,
    "decimal": units.decimal,
    "factor": units.factor,
    "rate": units.rate,
    "share": units.share,
    "size": units.size,
    "time_s": units.time_s,
    "time_us": units.time_us,
}


class _Numbers(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        known = FORMATS.get(format_spec)
        return format(value, format_spec) if known is None else known(value)


_NUMBERS = _Numbers()


def rows(*sections: Section | None) -> list[tuple[str, str]]:
    """Return the rows of the page that tables of the summary, and those in them, declare."""
    found = itertools.chain.from_iterable(map(_found, sections))
    return [(shown.label, _text(of, shown.row)) for of, shown in found if shown.row]


def line(section: Section | None, heading: str = "") -> list[tuple[str, str]]:
    """Return the line of the terminal that a table of the summary and those in it declare.

    Parameters
    ----------
    heading
        Of the line, if the table declares none.
    """
    if section is None:
        return []
    heading, _, pattern = (section.LINE or heading).partition(": ")
    phrases = [
        _text(of, shown.phrase)
        if shown.phrase
        else pattern.format(_text(of, shown.row), label=shown.label.lower())
        for of, shown in _found(section)
        if shown.phrase or (shown.row and pattern)
    ]
    return [(heading, " · ".join(phrases))] if phrases else []


def columns(table: type[Section]) -> list[tuple[str, str]]:
    """Return the columns that a table of the summary declares: a short name, and what it means."""
    return [(shown.head, shown.meaning) for shown in table.SHOWN if shown.cell]


def cells(section: Section) -> list[str]:
    """Return what a table of the summary has in these columns."""
    return [_text(section, shown.cell) for shown in section.SHOWN if shown.cell]


def _found(section: Section | None) -> Iterator[tuple[Section, Shown]]:
    """Yield what a table declares and has to show, and what those in it do."""
    if section is None:
        return
    for shown in section.SHOWN:
        if shown.is_table:
            yield from _found(getattr(section, shown.key))
        elif _is_there(section, shown.condition):
            yield section, shown


def _is_there(section: Section, condition: str) -> bool:
    key, _, zero = condition.partition(" > ")
    found = section[key] if key else 0
    return found is not None and (not zero or found > int(zero))


def _text(section: Section, template: str) -> str:
    return _NUMBERS.vformat(template, (), dict(section.items()))
