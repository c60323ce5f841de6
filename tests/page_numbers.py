"""Numbers that a page shows or that its runs have left, by name: what a check of `claims.py` says.

Times are seconds, sizes bytes, rates bytes a second; 12.5 % is 0.125.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import polars as pl

from copyback import _core
from copyback_papers.validation import stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: A column of a printed table, with its first and last place in the line.
Cells = list[tuple[str, int, int]]

UNITS = {
    "ns": 1e-9,
    "µs": 1e-6,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "%": 0.01,
    "k": 1e3,
    "M": 1e6,
}
UNITS |= {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40, "MB": 1e6, "GB": 1e9}
_NUMBER = re.compile(
    r"([−+-]?\d[\d,]*(?:\.\d+)?) ?(ns|µs|us|ms|s|min|%|k|M|[KMGT]iB|[MG]B)?(?:/s)?(?![\w.])"
)


def number(text: str) -> float:
    """Return the first number of a text, in the unit that it has there."""
    found = _NUMBER.search(text)
    if found is None:
        raise ValueError(f"no number in {text!r}")
    return float(found[1].replace(",", "").replace("−", "-")) * UNITS.get(found[2], 1.0)


def setting(preset: str, key: str) -> float:
    """Return a number that a preset sets, by its dotted key."""
    at: Any = tomllib.loads(next(text for name, _, text in _core.presets() if name == preset))
    for part in key.split("."):
        at = at[part]
    return number(str(at))


def stored_row(row: str, name: str) -> float:
    """Return a number of a row of `copyback validate`, by its dotted key: `theirs.erases`."""
    found = next((one for one in stored.rows() if one.name == row), None)
    if found is None:
        raise LookupError(f"no row is named {row}")
    return float(attrgetter(name)(found))


def cells(line: str) -> Cells:
    """Return the cells of a line of a printed table: two spaces or more are between them."""
    return [(m[0], m.start(), m.end()) for m in re.finditer(r"\S+(?: \S+)*", line)]


def named(found: Cells, name: str, nth: int) -> tuple[int, int] | None:
    """Return where the nth cell of a name begins and ends."""
    places = [(begin, end) for text, begin, end in found if text == name]
    return places[nth - 1] if len(places) >= nth else None


@dataclass
class Printed:
    """What a command has printed."""

    text: str

    def cell(self, rows: tuple[str, ...], column: str, nth: int) -> str | None:
        """Return the cell of a printed table below a column, right of a row's name."""
        place = None
        for line in self.text.splitlines():
            found = cells(line)
            if (header := named(found, column, nth)) is not None:
                place = header
            elif place and found and (found[0][0],) == rows:
                below = [one for one in found[1:] if one[1] <= place[1] and one[2] >= place[0]]
                return below[0][0] if below else None
        return None

    def after(self, words: str) -> str | None:
        """Return what stands behind words."""
        _, found, rest = re.sub(r"\s+", " ", self.text).partition(words)
        return rest if found else None


def now(cell: str) -> str:
    """Return what a cell says of today: the part behind the arrow, if it has one."""
    return cell.rpartition("→")[2]


@dataclass
class Table:
    """A table of a page."""

    header: list[str]
    rows: list[list[str]] = field(default_factory=list)

    def cell(self, rows: tuple[str, ...], column: str, nth: int) -> str | None:
        """Return the cell of a column, in the row that has all these cells."""
        places = [place for place, name in enumerate(self.header) if name == column]
        found = [row for row in self.rows if set(rows) <= set(row)]
        return now(found[0][places[nth - 1]]) if found and len(places) >= nth else None

    def after(self, words: str) -> str | None:  # noqa: ARG002 - a table has no words before a number
        """Return nothing: a table is asked for cells."""
        return None


@dataclass
class Numbers:
    """What a check may say: numbers of what stands above it, and of the results in a folder."""

    above: list[Printed | Table]
    home: Path | None

    def vocabulary(self) -> dict[str, Any]:
        """Return the names that a condition may use."""
        named = ("cell", "after", "key", "mean", "quotients")
        mine = {name: getattr(self, name) for name in named}
        return mine | {
            "__builtins__": {"abs": abs, "max": max, "min": min},
            "number": number,
            "setting": setting,
            "stored_row": stored_row,
        }

    def cell(self, *path: str, nth: int = 1) -> float:
        """Return the number in the nearest table above that has this row and, last, this column."""
        *rows, column = path
        return self._nearest(
            path, (one.cell(tuple(rows), column, nth) for one in reversed(self.above))
        )

    def quotients(self, over: str, under: str) -> list[float]:
        """Return one column over another, row by row, of the nearest table above with both."""
        tables = [one for one in self.above if isinstance(one, Table)]
        found = [one for one in tables if {over, under} <= set(one.header)]
        if not found:
            raise LookupError(f"no table above has {over} and {under}")
        a, b = found[-1].header.index(over), found[-1].header.index(under)
        return [number(row[a]) / number(row[b]) for row in found[-1].rows]

    def after(self, words: str) -> float:
        """Return the number behind words that were printed, the nearest above."""
        return self._nearest((words,), (one.after(words) for one in reversed(self.above)))

    def key(self, folder: str, name: str) -> float:
        """Return a number of the summary in a folder, by its dotted key."""
        at: Any = json.loads((self._result(folder) / "summary.json").read_text(encoding="utf-8"))
        for part in name.split("."):
            at = at[part]
        return float(at)

    def mean(self, folder: str, name: str, *where: str) -> float:
        """Return a column's mean over runs of a comparison, those with values such as `seed=1`."""
        rows = pl.read_parquet(self._result(folder) / "results.parquet")
        for column, _, value in (one.partition("=") for one in where):
            rows = rows.filter(pl.col(column).cast(pl.String) == value)
        if rows.is_empty() or name not in rows.columns:
            raise LookupError(f"no {name} of a run with {where} in {folder}")
        return float(rows[name].cast(pl.Float64).mean())  # type: ignore[arg-type]

    def _nearest(self, path: tuple[str, ...], found: Iterator[str | None]) -> float:
        text = next((one for one in found if one is not None), None)
        if text is None:
            raise LookupError(f"nothing above has {path}")
        return number(text)

    def _result(self, folder: str) -> Path:
        if self.home is None:
            raise LookupError("no test follows this page (FOLLOWED in test_pages.py)")
        return self.home / folder
