"""The points of a sweep: combinations of a grid, a list and random draws, beside named schemes."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, TypeGuard

from copyback._core import InputError
from copyback.inputs.arguments import COUNT
from copyback.sweep.axes import LOAD, SCHEME, SEED, Axis, Named, Point, axis_of, is_load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback.sweep.random_draws import Draws


@dataclass(frozen=True)
class Design:
    """Design of a sweep: what it varies.

    Attributes
    ----------
    grid
        Every combination of these values.
    cases
        Combinations that belong together, each with every point of the grid.
    draws
        Combinations drawn at random.
    loads
        What is done to the device, by name: every scheme is run under each.
    schemes
        Schemes beside the combinations, by name, each under every load.
    seeds
        Each point is run with each of these; with the configuration's own if there are none.
    baseline
        What the others are compared with, as far as it is said.
    """

    grid: tuple[Axis, ...] = ()
    cases: tuple[Point, ...] = ()
    draws: Draws | None = None
    loads: Mapping[str, Point] = field(default_factory=dict)
    schemes: Mapping[str, Point] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    baseline: Point = ()

    @property
    def named(self) -> Named:
        """Values that the names stand for."""
        return {
            **{((LOAD, name),): settings for name, settings in self.loads.items()},
            **{((SCHEME, name),): settings for name, settings in self.schemes.items()},
        }

    def points(self) -> list[Point]:
        """Return all combinations, then the named schemes; loads first, seeds last in each."""
        loads: list[Point] = [((LOAD, name),) for name in self.loads]
        drawn = self.draws.points() if self.draws else [()]
        axes = [[(axis.key, text) for text in axis.values] for axis in self.grid]
        seeds: list[Point] = [((SEED, str(seed)),) for seed in self.seeds]
        parts = product(loads or ((),), self.cases or ((),), product(*axes), drawn, seeds or ((),))
        combined = [tuple(pair for part in own for pair in part) for own in parts]
        for point in combined:
            _check_keys(point)
        beside = [
            ((SCHEME, name), *(pair for pair in point if is_load(pair[0]) or pair[0] == SEED))
            for name in self.schemes
            for point in combined
        ]
        varies = any(key != SEED and not is_load(key) for point in combined for key, _ in point)
        return list(dict.fromkeys([*combined, *beside] if varies else beside or combined))


def _check_keys(point: Point) -> None:
    keys = [key for key, _ in point]
    twice = [key for key in keys if keys.count(key) > 1]
    if twice:
        raise InputError(f"{twice[0]}: is varied twice")


def numbered_seeds(given: Any) -> tuple[int, ...]:
    """Return the seeds that a number or a list means; none if it is None.

    >>> numbered_seeds(3), numbered_seeds([7, 8]), numbered_seeds(None)
    ((1, 2, 3), (7, 8), ())

    Raises
    ------
    InputError
        If it is neither.
    """
    if given is None:
        return ()
    if COUNT.is_met(given):
        return tuple(range(1, operator.index(given) + 1))
    seeds = tuple(given) if isinstance(given, list | tuple | range) else ()
    if not all(map(_is_seed, seeds)) or len(set(seeds)) != len(seeds) or _is_no_list(given):
        raise InputError(
            f"seeds: found {given!r}; a number of seeds or a list of different seeds is needed"
        )
    return seeds


def parse_seeds(text: str) -> tuple[int, ...]:
    """Read ``3``, ``1,2`` or ``[1,2]`` of the command line.

    >>> parse_seeds("3"), parse_seeds("4,6"), parse_seeds("[4, 6]")
    ((1, 2, 3), (4, 6), (4, 6))
    """
    whole = text.strip()
    is_list = whole.startswith("[") and whole.endswith("]")
    parts = [part.strip() for part in (whole[1:-1] if is_list else whole).split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 20 for part in parts):
        raise InputError(f"--seeds {text}: found {text}; allowed: a number, or a list such as 1,2")
    numbers = [int(part) for part in parts]
    is_list = is_list or len(numbers) > 1
    if len(set(numbers)) != len(numbers) or (numbers == [0] and not is_list):
        raise InputError(f"--seeds {text}: found {text}; allowed: 1 or more, or different seeds")
    return numbered_seeds(numbers if is_list else numbers[0])


def _is_seed(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_no_list(value: object) -> bool:
    return not isinstance(value, list | tuple | range)


def grid_of(over: Mapping[str, Sequence[Any]]) -> tuple[Axis, ...]:
    """Return the axes of a grid given in Python."""
    return tuple(axis_of(key, values) for key, values in over.items())
