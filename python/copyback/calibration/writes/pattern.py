"""Patterns of writes, as SSD-iq's benchmark names them."""

from __future__ import annotations

import re
from typing import Any

from copyback._core import InputError

#: The start that can be simulated.
FILLED_IN_ORDER = "filled in order"

#: Pages of 4 KiB in a GiB, which the benchmark draws from.
PAGES_PER_GIB = 1 << 18


def name_of(pattern: str, details: str, gib: float) -> str:
    """Return a load in a few words.

    >>> name_of("zipf-shuffle", "0.800000", 745.0)
    'zipf 0.8, 745 GiB'
    """
    numbers = re.sub(r"(\.\d*?)0+(?!\d)", r"\1", details).replace(". ", " ").rstrip(".")
    words = f"{pattern.removesuffix('-shuffle').replace('-', ' ')} {numbers}".strip()
    return f"{words}, {gib:g} GiB"


def address_of(pattern: str, details: str, gib: float, place: str) -> dict[str, Any] | None:
    """Return ``workload.address`` of a pattern; None if there is no such generator.

    >>> address_of("zones-shuffle", "s0.9 f0.1 s0.1 f0.9", 1.0, "")["pages"]
    [0.9, 0.1]

    Raises
    ------
    InputError
        If the details are not those of the pattern.
    """
    match pattern:
        case "uniform":
            return {"type": "uniform"}
        case "zipf-shuffle" | "zipf-noshuffle":
            ranks = round(gib * PAGES_PER_GIB)
            scattered = pattern == "zipf-shuffle"
            theta = _number(details, details, place)
            return {"type": "zipf", "theta": theta, "ranks": ranks, "scattered": scattered}
        case "zones-shuffle":
            return {"type": "zoned", **_zones(details, place), "scattered": True}
        case _:
            return None


def _zones(details: str, place: str) -> dict[str, list[float]]:
    """Return shares of pages and of writes: ``s`` and ``f`` of each zone."""
    if not re.fullmatch(r"(s\S+ f\S+)( s\S+ f\S+)*", details):
        allowed = "s0.9 f0.1 s0.1 f0.9: space and frequency of each zone"
        raise InputError(f"{place}: details: found {details!r}; allowed: such as {allowed}")
    parts = details.split()
    return {
        "pages": [_number(part[1:], details, place) for part in parts[::2]],
        "requests": [_number(part[1:], details, place) for part in parts[1::2]],
    }


def _number(text: str, details: str, place: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{place}: details: found {details!r}; allowed: numbers") from None
