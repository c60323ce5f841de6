"""Numbers that a comparison's page can draw as an axis: every key and number that varies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from copyback.sweep.axes import LOAD, NAMES, SEED, TRACE, WORKLOAD, is_load
from copyback.sweep.dataset import RUN
from copyback.sweep.schemes import SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from copyback.frame import Frame
    from copyback.sweep.labels import Names
    from copyback.sweep.schemes import Contest, Scheme, Setting

#: Numbers that a page holds; of a larger study the results that stand first in the summary.
MOST_NUMBERS = 400_000

#: Digits of a number that a figure can show.
_DIGITS = 6

_QUANTITY = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?) ?([A-Za-z/%]+)")
_UNITS = {
    "ns": ("time", 1e-3),
    "us": ("time", 1.0),
    "ms": ("time", 1e3),
    "s": ("time", 1e6),
    "B": ("size", 1.0),
    "KiB": ("size", 2.0**10),
    "MiB": ("size", 2.0**20),
    "GiB": ("size", 2.0**30),
    "TiB": ("size", 2.0**40),
    "MT/s": ("rate", 1.0),
    "KiB/s": ("throughput", 2.0**-10),
    "MiB/s": ("throughput", 1.0),
    "GiB/s": ("throughput", 2.0**10),
}


def quantity(value: Any) -> tuple[str, float] | None:
    """Return what a value measures and how much, times in microseconds; None of a name.

    >>> quantity(0.28), quantity("4KiB"), quantity("25us"), quantity("greedy")
    (('number', 0.28), ('size', 4096.0), ('time', 25.0), None)
    >>> quantity("25%")
    ('number', 0.25)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return "number", value
    found = _QUANTITY.fullmatch(str(value))
    if found is None or found[2] not in (*_UNITS, "%"):
        return None
    number = float(found[1].replace("_", ""))
    if found[2] == "%":
        return "number", number / 100
    kind, scale = _UNITS[found[2]]
    return kind, number * scale


def kind_of(key: str, values: Iterable[Any]) -> str:
    """Return what the values of a key measure: a kind of `quantity`, or ``name``."""
    if key in NAMES:
        return "name"
    kinds = {None if (found := quantity(value)) is None else found[0] for value in values}
    return kinds.pop() or "name" if len(kinds) == 1 else "name"


def number_keys(settings: Iterable[Setting]) -> dict[str, int]:
    """Return the keys that have several values, all numbers of one kind, and how many values."""
    values: dict[str, dict[Any, None]] = {}
    for setting in settings:
        for key, value in setting:
            if value is not None:
                values.setdefault(key, {})[value] = None
    numbers = {key: own for key, own in values.items() if kind_of(key, own) != "name"}
    return {key: len(own) for key, own in numbers.items() if len(own) > 1}


class KeyAxes:
    """The keys that vary, as axes.

    Parameters
    ----------
    contests
        Of all loads.
    names
        Of their schemes.
    """

    def __init__(self, contests: Sequence[Contest], names: Names) -> None:
        self._names = names
        values: dict[str, dict[Any, None]] = {}
        for contest in contests:
            for scheme in contest.schemes:
                for key, value in (*contest.load, *scheme.setting):
                    values.setdefault(key, {})[value] = None
        known = {key: [v for v in own if v is not None] for key, own in values.items()}
        self._kinds = {key: kind_of(key, own) for key, own in known.items() if len(own) > 1}

    def described(self) -> list[dict[str, Any]]:
        """Return what each is called, what its values are, and whether it is of the load."""
        return [
            {
                "key": key,
                "name": self._names.key(key),
                "kind": kind,
                "load": is_load(key),
                "speaks": key in (*NAMES, TRACE, WORKLOAD, LOAD),
            }
            for key, kind in self._kinds.items()
        ]

    def place(self, contest: Contest, scheme: Scheme) -> list[float | str | None]:
        """Return where a scheme stands on each: a number, or a name."""
        own = dict((*contest.load, *scheme.setting))
        return [self._value(key, own.get(key), kind) for key, kind in self._kinds.items()]

    def _value(self, key: str, value: Any, kind: str) -> float | str | None:
        if value is None:
            return None
        found = quantity(value)
        return self._names.value((key, value)) if kind == "name" or found is None else found[1]


def columns(frame: Frame, keys: Sequence[str]) -> dict[str, list[float | None]]:
    """Return the results that differ between runs, a number a row; the measures come first."""
    first = [measure.column for measure in SHOWN if measure.column in frame.columns]
    others = [
        name
        for name, column in frame.items()
        if column.is_numeric and name not in (RUN, SEED, *keys, *first)
    ]
    kept: dict[str, list[float | None]] = {}
    room = MOST_NUMBERS // max(len(frame), 1)
    for name in [*first, *others]:
        if len(kept) >= max(room, len(first)):
            break
        numbers = [_rounded(number) for number in frame[name].to_list()]
        if name in first or len(set(numbers)) > 1:
            kept[name] = numbers
    return kept


def _rounded(number: float | None) -> float | None:
    if number is None or number != number or number in (float("inf"), float("-inf")):
        return None
    value = float(f"{number:.{_DIGITS}g}")
    return int(value) if value.is_integer() else value
