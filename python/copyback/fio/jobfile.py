"""Reads fio's job files: sections of options, with those of ``[global]`` sections before them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.fio.options import ALIASES
from copyback.inputs import configuration

if TYPE_CHECKING:
    from collections.abc import Iterator

GLOBAL = "global"


@dataclass(frozen=True)
class Option:
    """An option of a job.

    Attributes
    ----------
    text
        What follows the equals sign; None for a name alone.
    path
        The file that has it.
    line
        Of the file, from 1.
    """

    text: str | None
    path: Path
    line: int


@dataclass
class Section:
    """A job with all its options, inherited ones included, in the order in which they count.

    Options have their first names: ``rw`` for ``readwrite``.
    """

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
    for place, number, text in _lines(path, ()):
        if text.startswith("["):
            name = _section_name(text, place, number)
            if place != path:
                problem = f"found {text}; allowed in a file that is included: options alone"
                raise InputError(f"{place}:{number}: {problem}")
            if name == GLOBAL:
                current = inherited
            else:
                sections.append(Section(name, number, dict(inherited)))
                current = sections[-1].options
            continue
        if current is None:
            raise InputError(f"{place}:{number}: found {text}; a section such as [job] comes first")
        key, equals, value = text.partition("=")
        key = ALIASES.get(key.strip().lower(), key.strip().lower())
        # The later counts, and comes behind what it contradicts.
        current.pop(key, None)
        current[key] = Option(value.strip() if equals else None, place, number)
    if not sections:
        raise InputError(f"{path}: has no job: a section such as [random-writes] is needed")
    return sections


def _lines(path: Path, above: tuple[Path, ...]) -> Iterator[tuple[Path, int, str]]:
    """Yield the lines that say something, each with its file and number; of included files, too."""
    for number, line in enumerate(configuration.read_text(path).splitlines(), start=1):
        text = _without_comment(line).strip()
        keyword, _, name = text.partition(" ")
        if keyword == "include" and name.strip():
            included = _included(name.strip(), path)
            if included in (*above, path):
                raise InputError(f"{path}:{number}: found {text}; the file includes itself")
            if not included.is_file():
                raise InputError(f"{path}:{number}: found {text}; there is no such file")
            yield from _lines(included, (*above, path))
        elif text:
            yield path, number, text


def _included(name: str, by: Path) -> Path:
    """Return the file of a name: from here, or else from beside the file that includes it."""
    return Path(name) if Path(name).exists() else by.parent / name


def _section_name(text: str, path: Path, number: int) -> str:
    if not text.endswith("]") or not text[1:-1].strip():
        raise InputError(f"{path}:{number}: found {text}; a section is written [name]")
    return text[1:-1].strip()


def _without_comment(line: str) -> str:
    """Cut a line at a comment, which begins with a `;` or `#` anywhere, as in fio."""
    return line.partition(";")[0].partition("#")[0]
