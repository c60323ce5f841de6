"""Points of a sweep that are drawn at random, for spaces that are too large for a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from copyback._core import InputError
from copyback.inputs.tables import Table, read
from copyback.sweep.axes import axis_of, value_text
from copyback.sweep.page_numbers import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

_RANGE_KEYS = {"min", "max", "log"}


class _File(Table, frozen=True):
    samples: Annotated[int, Meta(ge=1)]
    keys: Annotated[dict[str, Any], Meta(min_length=1)]
    seed: Annotated[int, Meta(ge=0)] = 1


@dataclass(frozen=True)
class Draws:
    """Random points, each key drawn on its own: from a list, or evenly from a range.

    Attributes
    ----------
    samples
        How many points.
    seed
        Seed of the draws; it has nothing to do with the seeds of the runs.
    keys
        For each key the texts to choose from, or the range.
    """

    samples: int
    seed: int
    keys: tuple[tuple[str, tuple[str, ...] | Range], ...]

    @classmethod
    def read(cls, table: Any) -> Draws:
        """Read the table ``random`` of a sweep file.

        Raises
        ------
        InputError
            With the key, what was found and what is allowed.
        """
        file = read(table, _File, place="random")
        return cls(file.samples, file.seed, tuple((k, _choice(k, v)) for k, v in file.keys.items()))

    def points(self) -> list[tuple[tuple[str, str], ...]]:
        """Return the points; the same seed draws the same."""
        import numpy as np

        random = np.random.Generator(np.random.PCG64(self.seed))
        pick = [(key, _picker(choice)) for key, choice in self.keys]
        drawn = [tuple((key, draw(random)) for key, draw in pick) for _ in range(self.samples)]
        return list(dict.fromkeys(drawn))


@dataclass(frozen=True)
class Range:
    """Numbers from `least` to `most`, whole if both are."""

    least: float
    most: float
    is_log: bool

    def draw(self, random: np.random.Generator) -> str:
        """Return one of them, with four significant digits if it is not whole."""
        is_whole = isinstance(self.least, int) and isinstance(self.most, int)
        if self.is_log:
            value = math.exp(random.uniform(math.log(self.least), math.log(self.most)))
        elif is_whole:
            return str(random.integers(int(self.least), int(self.most), endpoint=True))
        else:
            value = random.uniform(self.least, self.most)
        return str(round(value)) if is_whole else f"{value:.4g}"


def _picker(choice: tuple[str, ...] | Range) -> Callable[[np.random.Generator], str]:
    if isinstance(choice, Range):
        return choice.draw
    return lambda random: choice[int(random.integers(len(choice)))]


def _choice(key: str, value: Any) -> tuple[str, ...] | Range:
    if isinstance(value, list):
        return axis_of(f"random.keys.{key}", value).values
    if isinstance(value, dict) and {"min", "max"} <= set(value) <= _RANGE_KEYS:
        return _range(key, value)
    raise InputError(
        f"random.keys.{key}: found {value_text(value, key)}; "
        "a list or { min = ..., max = ..., log = true } is needed"
    )


def _bound(place: str, value: Any) -> float:
    """Return an end of a range, which is a number or a share in per cent."""
    found = quantity(value)
    if found is None or found[0] != "number":
        raise InputError(f'{place}: found {value!r}; a number is needed, or a share such as "5%"')
    return found[1]


def _range(key: str, table: Mapping[str, Any]) -> Range:
    least, most = (_bound(f"random.keys.{key}.{name}", table[name]) for name in ("min", "max"))
    is_log = table.get("log", False)
    if least >= most or (is_log and least <= 0):
        raise InputError(
            f"random.keys.{key}: found {least} to {most}; min must be less than max"
            f"{', and more than 0 with log' if is_log else ''}"
        )
    return Range(least, most, bool(is_log))
