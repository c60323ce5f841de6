"""Values of a configuration, each with where it is from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Source(StrEnum):
    """Origin of a value."""

    GIVEN = "given"
    DERIVED = "derived"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class Figure:
    """Number in its base unit, and where it is from."""

    value: float
    source: Source
    why: str


@dataclass(frozen=True)
class Entry:
    """Key of a configuration with its value, and where it is from."""

    key: str
    value: Any
    source: Source
    why: str

    def __str__(self) -> str:
        return f"{self.source}: {self.why}"
