"""Numbers as data sheets write them, with their units."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import typer

_NUMBER = re.compile(r"([\d_,]*\.?\d+) *([A-Za-zµ/%]*)")

_SIZES = {
    "B": 1.0,
    "KIB": 2.0**10,
    "MIB": 2.0**20,
    "GIB": 2.0**30,
    "TIB": 2.0**40,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "PB": 1e15,
}
_TIMES = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
_RATES = {f"{unit}/S": scale for unit, scale in _SIZES.items()}
_COUNTS = {"": 1.0, "K": 1e3, "M": 1e6, "IOPS": 1.0, "KIOPS": 1e3}
_BYTES_WRITTEN = {"TBW": 1e12, "PBW": 1e15, **_SIZES}


@dataclass(frozen=True)
class Quantity:
    """Number in its base unit (bytes, nanoseconds, one a second), and how it was written."""

    value: float
    text: str

    def __str__(self) -> str:
        return self.text


def _read(text: str, units: dict[str, float], allowed: str, *, fold: bool = True) -> Quantity:
    """Return a positive number in one of some units."""
    written = text.strip()
    found = _NUMBER.fullmatch(written)
    unit = found[2].upper() if found and fold else found[2] if found else ""
    if found is None or unit not in units:
        raise typer.BadParameter(f"found {written!r}; allowed: {allowed}")
    number = float(found[1].replace(",", "").replace("_", "")) * units[unit]
    if not (number > 0 and math.isfinite(number)):
        raise typer.BadParameter(f"found {written!r}; allowed: more than 0, {allowed}")
    return Quantity(number, written.replace(" ", "").replace("µ", "u"))


def size(text: str) -> Quantity:
    """Return bytes: decimal units are powers of ten, binary ones of two.

    >>> size("1TB").value, size("16KiB").value
    (1000000000000.0, 16384.0)
    """
    return _read(text, _SIZES, "a size such as 960GB or 16KiB")


def time(text: str) -> Quantity:
    """Return nanoseconds.

    >>> time("50us").value, time("3.5 ms").value
    (50000.0, 3500000.0)
    """
    return _read(text, _TIMES, "a time such as 50us or 3.5ms", fold=False)


def rate(text: str) -> Quantity:
    """Return bytes a second.

    >>> rate("3,500 MB/s").value
    3500000000.0
    """
    return _read(text, _RATES, "a rate such as 490MB/s or 3.5GB/s")


def transfers(text: str) -> Quantity:
    """Return the bytes a second of a bus that is eight bits wide.

    >>> transfers("1200MT/s").value
    1200000000.0
    """
    return _read(text, {"MT/S": 1e6, "GT/S": 1e9, **_RATES}, "a rate such as 1200MT/s")


def iops(text: str) -> Quantity:
    """Return requests a second.

    >>> iops("480K").value, iops("72,000").value
    (480000.0, 72000.0)
    """
    return _read(text, _COUNTS, "requests a second such as 72000 or 480K")


def written(text: str) -> Quantity:
    """Return the bytes that a drive may be written with.

    >>> written("600TBW").value, written("1.86PB").value
    (600000000000000.0, 1860000000000000.0)
    """
    return _read(text, _BYTES_WRITTEN, "what may be written, such as 600TBW or 1.86PB")


def share(text: str) -> Quantity:
    """Return a share.

    >>> share("7%").value, share("0.28").value
    (0.07, 0.28)
    """
    return _read(text, {"%": 0.01, "": 1.0}, "a share such as 7% or 0.07")


def count(text: str) -> int:
    """Return a whole number from 1 on.

    >>> count("16")
    16
    """
    written = text.strip()
    if not (written.isascii() and written.isdecimal() and int(written) > 0):
        raise typer.BadParameter(f"found {written!r}; allowed: a whole number from 1 on")
    return int(written)
