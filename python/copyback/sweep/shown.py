"""A comparison in a few lines, however many runs it has."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from copyback.sweep.answer import answer
from copyback.sweep.labels import Names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback.sweep.comparison import Comparison

#: Characters of a line, and lines of the answer.
WIDTH, MOST_LINES = 100, 4


def shown(found: Comparison) -> str:
    """Return how much there is, and the answer."""
    said = answer(found.contests, Names(found.contests)) if found.contests else ""
    return in_lines(f"Comparison({', '.join(_amounts(found))})", said)


def _amounts(found: Comparison) -> Iterator[str]:
    schemes = max((len(contest.schemes) for contest in found.contests), default=0)
    yield f"{_count(len(found.frame), 'run')} of {_count(schemes, 'scheme')}"
    if len(found.contests) > 1:
        yield _count(len(found.contests), "load")
    if found.refused:
        yield f"{len(found.refused)} refused"
    if found.failed:
        yield f"{len(found.failed)} failed"


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}{'s' * (number != 1)}"


def in_lines(first: str, text: str) -> str:
    """Return a line and a text below it, cut where it gets long."""
    lines = textwrap.wrap(text, WIDTH, max_lines=MOST_LINES, placeholder=" …")
    return "\n".join([first, *lines])
