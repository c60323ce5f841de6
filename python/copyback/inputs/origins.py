"""Names of the places that settings came from, where that was not ``--set``."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from copyback._core import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_LINE = re.compile(r"--set ([\w.]+)(: .*)")

#: What a configuration says of a key that only a trace has.
_OF_TRACE = ': found a key of type "trace"'

_NO_TRACE = ": there is no trace; allowed: --trace FILE beside it, or a workload that is one"


@contextmanager
def named(
    options: Mapping[str, str], files: Mapping[str, str], own: Collection[str]
) -> Iterator[None]:
    """Name the option or the file that a faulty setting is from.

    Parameters
    ----------
    options
        Options by the keys that they set.
    files
        Files by the keys that they set.
    own
        Keys that the user has set with ``--set``.

    Raises
    ------
    InputError
        The fault, with such names in the place of ``--set KEY``.
    """
    try:
        yield
    except InputError as fault:
        lines = str(fault).splitlines()
        raise InputError("\n".join(_renamed(line, options, files, own) for line in lines)) from None


def _renamed(
    line: str, options: Mapping[str, str], files: Mapping[str, str], own: Collection[str]
) -> str:
    found = _LINE.fullmatch(line)
    if found is None or _within(found[1], own) is not None:
        return line
    key, problem = found.groups()
    if (option := _within(key, options)) is not None:
        return options[option] + (_NO_TRACE if problem.startswith(_OF_TRACE) else problem)
    file = _within(key, files)
    return line if file is None else f"{files[file]}: {key}{problem}"


def _within(key: str, keys: Collection[str]) -> str | None:
    """Return the one of some keys that a key is, or lies in."""
    return next((own for own in keys if f"{key}.".startswith(f"{own}.")), None)
