"""Meaning of ``rw``: which operations, in which order, and what lies between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from copyback._core import InputError
from copyback.fio import values


@dataclass(frozen=True)
class Direction:
    """Meaning of a value of ``rw``.

    Attributes
    ----------
    is_random
        Whether requests start anywhere.
    read_share
        Share of reads; None if ``rwmixread`` says it.
    trim_share
        Share of trims.
    trims_first
        Whether a trim of the same bytes comes before each write.
    run
        Of so many random requests the first starts anywhere and the others follow it.
    skip
        Bytes between a sequential request and the one before it; negative goes backwards.
    """

    is_random: bool
    read_share: float | None
    trim_share: float = 0.0
    trims_first: bool = False
    run: int = 1
    skip: int = 0


#: By the value of ``rw``.
_DIRECTIONS = {
    "read": Direction(False, 1.0),
    "write": Direction(False, 0.0),
    "trim": Direction(False, 0.0, 1.0),
    "rw": Direction(False, None),
    "readwrite": Direction(False, None),
    "randread": Direction(True, 1.0),
    "randwrite": Direction(True, 0.0),
    "randtrim": Direction(True, 0.0, 1.0),
    "randrw": Direction(True, None),
    "trimwrite": Direction(False, 0.0, trims_first=True),
    "randtrimwrite": Direction(True, 0.0, trims_first=True),
}

READ = _DIRECTIONS["read"]


def direction(text: str) -> Direction:
    """Return what a value of ``rw`` asks for.

    >>> direction("randread:8").run, direction("write:-8k").skip
    (8, -8192)
    """
    name, colon, modifier = text.partition(":")
    found = _DIRECTIONS.get(name.strip())
    if found is None:
        raise InputError(f"found {text or 'nothing'}; allowed: {', '.join(_DIRECTIONS)}")
    if not colon:
        return found
    if found.is_random:
        return replace(found, run=values.whole(modifier, least=1))
    size = values.size(modifier.strip().removeprefix("-"))
    return replace(found, skip=-size if modifier.strip().startswith("-") else size)


def order(asked: Direction, percentage_random: float) -> dict[str, Any]:
    """Return the keys of a workload that say which requests follow others."""
    if asked.is_random and asked.run > 1:
        return {"sequential_share": 0.0, "sequential_run": asked.run}
    return {"sequential_share": 1.0 - percentage_random if asked.is_random else 1.0}
