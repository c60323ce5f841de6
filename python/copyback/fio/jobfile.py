"""Reads fio's job files: sections of options, with those of ``[global]`` sections before them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from copyback import configuration
from copyback._core import InputError

if TYPE_CHECKING:
    from pathlib import Path

GLOBAL = "global"


@dataclass(frozen=True)
class Option:
    """An option of a job.

    Attributes
    ----------
    text
        What follows the equals sign; None for a name alone.
    line
        Of the file, from 1.
    """

    text: str | None
    line: int


@dataclass
class Section:
    """A job with all its options, inherited ones included."""

    name: str
    line: int
    options: dict[str, Option] = field(default_factory=dict)


def read_sections(path: Path) -> list[Section]:
    """Return the jobs of a file, in order.

    Raises
    ------
    InputError
        With the file and the line.
    """
    inherited: dict[str, Option] = {}
    sections: list[Section] = []
    current: dict[str, Option] | None = None
    for number, line in enumerate(configuration.read_text(path).splitlines(), start=1):
        text = _without_comment(line).strip()
        if not text:
            continue
        if text.startswith("["):
            name = _section_name(text, path, number)
            if name == GLOBAL:
                current = inherited
            else:
                sections.append(Section(name, number, dict(inherited)))
                current = sections[-1].options
            continue
        if current is None:
            raise InputError(f"{path}:{number}: found {text}; a section such as [job] comes first")
        key, equals, value = text.partition("=")
        current[key.strip().lower()] = Option(value.strip() if equals else None, number)
    if not sections:
        raise InputError(f"{path}: has no job: a section such as [random-writes] is needed")
    return sections


def _section_name(text: str, path: Path, number: int) -> str:
    if not text.endswith("]") or not text[1:-1].strip():
        raise InputError(f"{path}:{number}: found {text}; a section is written [name]")
    return text[1:-1].strip()


def _without_comment(line: str) -> str:
    """Cut a line at a comment: a `;` or `#` at its start or after a blank."""
    for place, character in enumerate(line):
        if character in ";#" and (place == 0 or line[place - 1].isspace()):
            return line[:place]
    return line
