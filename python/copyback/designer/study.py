"""Study: what a user asks for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from copyback.sweep.axes import LOAD, Named, Point

if TYPE_CHECKING:
    from pathlib import Path

    from copyback.designer.space import Space
    from copyback.sweep.bounds import Bound
    from copyback.sweep.schemes import Measure


class Goal(StrEnum):
    """Direction of an objective."""

    MINIMISE = "minimise"
    MAXIMISE = "maximise"


class Sampling(StrEnum):
    """Way in which the next designs are chosen."""

    NSGA2 = "nsga2"
    TPE = "tpe"
    RANDOM = "random"


class Length(StrEnum):
    """Length of a run."""

    SHORT = "short"
    FULL = "full"


@dataclass(frozen=True)
class Objective:
    """Measure that is to be small, or large."""

    measure: Measure
    goal: Goal

    @property
    def is_maximised(self) -> bool:
        """Whether large numbers are good."""
        return self.goal is Goal.MAXIMISE


@dataclass(frozen=True)
class Load:
    """Workload that a design is for.

    Attributes
    ----------
    settings
        What is laid over the configuration for it.
    weight
        Share of it in the number of a design, relative to the other workloads.
    """

    name: str
    settings: Point
    weight: float = 1.0

    def label(self, length: Length) -> str:
        """Return the name of its runs of a length."""
        return self.name if length is Length.FULL else f"{self.name}, short"


@dataclass(frozen=True)
class Study:
    """Content of a study file.

    Attributes
    ----------
    base
        The configuration that designs are laid over: a file, or nothing beside a preset.
    settings
        Laid over the base under every design.
    short
        Laid over a workload in short runs; empty if all runs have their full length.
    budget
        Page operations of all runs together, but for the ablation and what is held back.
    seeds
        Of full runs; short ones have the first.
    seed
        Of the search.
    batch
        Designs that are asked for at a time.
    held_back
        Designs drawn evenly after the search, beyond the budget.
    """

    base: Path | None
    preset: str | None
    settings: Point
    space: Space
    loads: tuple[Load, ...]
    short: Point
    objectives: tuple[Objective, ...]
    constraints: tuple[Bound, ...]
    budget: int
    seeds: tuple[int, ...]
    seed: int
    sampler: Sampling
    batch: int
    held_back: int

    @property
    def search_length(self) -> Length:
        """Length of the runs that the search looks at."""
        return Length.SHORT if self.short else Length.FULL

    @property
    def has_survivors(self) -> bool:
        """Whether designs are run again after the search."""
        return bool(self.short) or len(self.seeds) > 1

    @property
    def named(self) -> Named:
        """Settings that the names of workloads stand for."""
        full: Named = {((LOAD, load.name),): load.settings for load in self.loads}
        return full | {
            ((LOAD, load.label(Length.SHORT)),): _over(load.settings, self.short)
            for load in self.loads
            if self.short
        }


def _over(under: Point, over: Point) -> Point:
    """Return settings with others laid over them, each key once."""
    return tuple((dict(under) | dict(over)).items())
