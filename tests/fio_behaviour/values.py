"""Sizes, times and lists of job files, as fio's HOWTO ("Parameter types") describes them."""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_TIMES_NS = {"us": 10**3, "usec": 10**3, "ms": 10**6, "msec": 10**6, "s": 10**9, "m": 60 * 10**9}
_TIMES_NS |= {"h": 3600 * 10**9, "d": 86400 * 10**9}


def size(text: str) -> int:
    """Return a size in bytes: with fio's `kb_base`, 4k is 4096 and 4ki is 4000."""
    number, unit = _split(text)
    unit = unit.removesuffix("b")
    if unit.endswith("i"):
        return int(number * 1000 ** (_UNITS[unit[0]] // 10))
    return int(number * (1 if not unit else 1 << _UNITS[unit]))


def extent(text: str, whole: int) -> int:
    """Return a size in bytes, or so many per cent of the whole."""
    return int(whole * float(text[:-1]) / 100) if text.endswith("%") else size(text)


def time_ns(text: str, alone: str = "s") -> int:
    """Return a time in nanoseconds; a number alone is in the unit `alone`."""
    number, unit = _split(text)
    return round(number * _TIMES_NS[unit or alone])


def flag(text: str | None) -> bool:
    """Whether a switch is on: a name alone is."""
    return text is None or text.strip() != "0"


def by_operation(text: str) -> tuple[str, str, str]:
    """Return the parts of reads, writes and trims; one that is missing is that before it.

    An empty one stays empty: it stands for the default.
    """
    parts = [part.strip() for part in text.split(",")]
    parts += parts[-1:] * (3 - len(parts))
    return parts[0], parts[1], parts[2]


def _split(text: str) -> tuple[float, str]:
    match = re.fullmatch(r"([\d.]+)\s*([a-z]*)", text.strip().lower())
    if match is None:
        raise ValueError(text)
    return float(match[1]), match[2]
