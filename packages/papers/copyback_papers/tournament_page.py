"""The pages of the tournament, from what `copyback tournament` wrote: its tables, and who wins.

What it wrote is stored as it is. The tables are that page; the prose beside them is a template
whose numbers are cells of these tables, or figures of the sweep files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.sweep.tournament import HOME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: What the command wrote, below the directory of stored results.
STORED = "tournament.md"
TEMPLATE = "tournament.md.j2"

OVERALL = "all loads together"
CHOICES = "what each choice does"


@dataclass(frozen=True)
class Tables:
    """The tables of the stored page.

    Attributes
    ----------
    text
        The page, as the command wrote it.
    """

    path: Path
    text: str

    @cached_property
    def _sections(self) -> dict[str, str]:
        """The text below each heading."""
        parts = re.split(r"^#+ (.*)$", self.text, flags=re.MULTILINE)
        return dict(zip(parts[1::2], parts[2::2], strict=True))

    def section(self, name: str) -> str:
        """Return the text below a heading; an error if there is none."""
        if name not in self._sections:
            raise InputError(f"{self.path}: no section {name!r}")
        return self._sections[name]

    def rows(self, part: str, table: str) -> list[dict[str, str]]:
        """Return the rows of a table of a part, by its columns."""
        lines = [
            [cell.strip() for cell in line.strip("|").split(" | ")]
            for line in self.section(f"{part}: {table}").splitlines()
            if line.startswith("|")
        ]
        header, _, *rows = lines
        return [dict(zip(header, row, strict=True)) for row in rows]

    def preface(self, part: str) -> str:
        """Return what a part is: its schemes, loads and seeds."""
        return self.section(part).strip().split(". ")[0]

    def remark(self, part: str, label: str) -> str:
        """Return of how many runs something should be known first: ``3 of 9 runs``."""
        for line in self.section(part).splitlines():
            if line.startswith(f"**{label}.** "):
                return line.removeprefix(f"**{label}.** ").split(":")[0]
        raise InputError(f"{self.path}: {part}: nothing is {label!r}")

    def cost(self, part: str) -> str:
        """Return how many runs a part is, and what they cost."""
        return self.section(f"{part}: {CHOICES}").strip().splitlines()[-1]

    def _cell(self, part: str, table: str, column: str, keys: dict[str, str]) -> str:
        """Return a cell of the one row whose columns begin with some texts."""
        found = [
            row
            for row in self.rows(part, table)
            if all(_is(row.get(key, ""), text) for key, text in keys.items())
        ]
        if len(found) != 1 or column not in found[0]:
            raise InputError(f"{self.path}: {part}: {table}: {len(found)} rows of {keys}, {column}")
        return found[0][column]

    def overall(self, part: str, scheme: str, measure: str) -> str:
        """Return how many times the winner's number a scheme's is, over all loads."""
        return self._cell(part, OVERALL, measure, {"scheme": scheme}).split(" ")[0]

    def place(self, part: str, scheme: str, measure: str) -> str:
        """Return the place of a scheme among all; an error if it is not ranked."""
        _, bracket, place = self._cell(part, OVERALL, measure, {"scheme": scheme}).partition("(")
        if not bracket:
            raise InputError(f"{self.path}: {part}: {measure}: {scheme} is not ranked")
        return place.rstrip(".)")

    def first(self, part: str, measure: str) -> str:
        """Return the scheme that is first in a measure over all loads."""
        for row in self.rows(part, OVERALL):
            if row[measure].endswith("(1.)"):
                return row["scheme"]
        raise InputError(f"{self.path}: {part}: nobody is first in {measure}")

    def below(self, part: str, measure: str, *schemes: str) -> str:
        """Return nothing; an error unless each scheme is ahead of the next in a measure.

        What prose says in words is held to what was found like this.
        """
        places = [int(self.place(part, scheme, measure)) for scheme in schemes]
        if places != sorted(places):
            order = ", ".join(f"{s} ({p}.)" for s, p in zip(schemes, places, strict=True))
            raise InputError(f"{self.path}: {part}: {measure}: not in this order: {order}")
        return ""

    def choice(self, part: str, key: str, value: str, measure: str) -> str:
        """Return what a value of a setting does, as a multiple of the key's first value."""
        return self._cell(part, CHOICES, measure, {"key": f"`{key}`", "value": value})

    def load(self, part: str, measure: str, load: str, column: str) -> str:
        """Return a cell of the table of a measure: its winner, its number, or a named scheme's."""
        return self._cell(part, measure, column, {"load": load})


def _is(found: str, text: str) -> bool:
    """Return whether a cell is a text, or a name that has the text's settings behind it."""
    return found == text or found.startswith(f"{text} = ")


def said(file: str, text: str) -> str:
    """Return a figure of a sweep file or of the drive's, as it has it; an error if it has not."""
    path = HOME / f"{file}.toml"
    if not re.search(rf"(?<![\d.]){re.escape(text)}(?![\d.]*\d)", path.read_text(encoding="utf-8")):
        raise InputError(f"{path.name} does not say {text!r}")
    return text


def load(results: Path) -> Tables | None:
    """Return what is stored of the tournament; None if nothing is."""
    path = results / STORED
    return Tables(path, path.read_text(encoding="utf-8")) if path.is_file() else None


def context(tables: Tables) -> dict[str, Callable[..., str]]:
    """Return what the template may name."""
    return {
        "overall": tables.overall,
        "place": tables.place,
        "first": tables.first,
        "choice": tables.choice,
        "below": tables.below,
        "load": tables.load,
        "preface": tables.preface,
        "remark": tables.remark,
        "cost": tables.cost,
        "said": said,
    }
