"""Base of every table of a summary: its keys are attributes, and keys too."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator


class Shown(NamedTuple):
    """Place where a number of a table is shown, as the simulator declares it beside the number.

    Texts name numbers of the table and their formats in braces; an empty one shows nothing.

    Attributes
    ----------
    key
        Of the number, or of a table in the table.
    is_table
        Whether it is a table, which shows its own.
    condition
        When it is shown: a key whose number is not null; or, behind it, ``> 0``.
    label, row
        A row of the page.
    phrase
        A part of a line of the terminal.
    head, cell, meaning
        A column, and what it means.
    """

    key: str
    is_table: bool = False
    condition: str = ""
    label: str = ""
    row: str = ""
    phrase: str = ""
    head: str = ""
    cell: str = ""
    meaning: str = ""


class Compared(NamedTuple):
    """A number that runs are compared by.

    Attributes
    ----------
    label
        What a column is called that holds it.
    column
        Its dotted key in a summary.
    format
        How it is written (`copyback.words.declared.FORMATS`).
    more_is_better
        Whether the greatest is the best; else the least is.
    """

    label: str
    column: str
    format: str
    more_is_better: bool = False


class Section(msgspec.Struct, omit_defaults=True):
    """A table of a summary, or of the statistics of a workload.

    ``section.response_us.read.p99`` and ``section["response_us"]["read"]["p99"]`` are the same.
    What only some runs have is None as an attribute where it is missing, and is no key there.

    Attributes
    ----------
    LINE
        How the line of the terminal begins that its numbers stand in.
    SHOWN
        Those of its numbers that are shown one by one.
    """

    LINE: ClassVar[str] = ""
    SHOWN: ClassVar[tuple[Shown, ...]] = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"no {name!r} here; there are: {', '.join(self)}")

    def __getitem__(self, key: str) -> Any:
        if key in self:
            return getattr(self, key)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        if key not in self.__struct_fields__:
            return False
        return getattr(self, str(key)) is not _when_missing(type(self))[str(key)]

    def __iter__(self) -> Iterator[str]:
        return (key for key in self.__struct_fields__ if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def keys(self) -> list[str]:
        """Return the keys that are there."""
        return list(self)

    def items(self) -> list[tuple[str, Any]]:
        """Return the keys that are there, with their values."""
        return [(key, getattr(self, key)) for key in self]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or `default` if it is not there."""
        return getattr(self, key) if key in self else default

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists and numbers, as in the JSON."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def to_json(self) -> str:
        """Return the table as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"


@cache
def _when_missing(table: type[Section]) -> dict[str, Any]:
    """Return what attributes are whose keys are missing."""
    return {field.name: field.default for field in msgspec.structs.fields(table)}
