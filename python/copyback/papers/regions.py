"""Where a paper's number appears over what its text leaves open.

A region judges a claim at each point of an experiment by itself. The points are values of an open
input within the bounds that the paper's text allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec import structs

from copyback.papers.agreement import Verdict
from copyback.papers.answers import answer
from copyback.papers.checks import Check, read_check

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from copyback.papers.answers import Answer
    from copyback.papers.measures import Measures
    from copyback.papers.targets import Target


class Region(Check, frozen=True):
    """A claim that is asked at each point.

    Attributes
    ----------
    variants
        If there are any, each takes the place of `variant`, or of those of a rule, at each point:
        what is open is how the scheme is read. Such a place is called ``"VARIANT, POINT"``, or
        ``"VARIANT"`` if there is one point.
    joint
        The place that is the joint reading: what appears there is no other reading's. Empty if
        none is.
    """

    variants: tuple[str, ...] = ()
    joint: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target is None:
            raise ValueError("target: missing; a region is of a claim")

    @property
    def has_variant(self) -> bool:
        """Whether it says whose number is asked, or whose numbers."""
        return bool(self.variant or self.variants)

    def names(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Yield the names of variants, points and workloads that it uses."""
        yield from super().names()
        yield "variants", self.variants

    def places(self, points: Sequence[str]) -> dict[str, Region]:
        """Return the claim at each place, by the place's name.

        Parameters
        ----------
        points
            All that the experiment has.
        """
        at = [structs.replace(self, points=(point,)) for point in self.points or points]
        if not self.variants:
            return {one.points[0]: one for one in at}
        return {
            ", ".join((variant, *one.points)) if len(at) > 1 else variant: one.of(variant)
            for variant in self.variants
            for one in at
        }

    def of(self, variant: str) -> Region:
        """Return the claim about one variant."""
        rules = tuple(structs.replace(rule, variants=(variant,)) for rule in self.rules)
        return structs.replace(self, variant="" if rules else variant, variants=(), rules=rules)


@dataclass(frozen=True)
class Mapped:
    """What a region found.

    Attributes
    ----------
    answers
        The answer at each point that was run.
    """

    region: Region
    answers: dict[str, Answer]

    @property
    def target(self) -> Target:
        """The claim."""
        assert self.region.target is not None
        return self.region.target

    @property
    def appears(self) -> list[str]:
        """The points at which the claim is reproduced."""
        return [at for at, one in self.answers.items() if one.verdict is Verdict.REPRODUCED]

    @property
    def elsewhere(self) -> list[str]:
        """The points at which the claim is reproduced, but for the joint reading's."""
        return [at for at in self.appears if at != self.region.joint]

    @property
    def sentence(self) -> str:
        """Where the claim appears, and what is open if the region says so."""
        return ": ".join(filter(None, (self.region.says, self._where)))

    @property
    def _where(self) -> str:
        if len(self.appears) == len(self.answers):
            return f"appears at all of {len(self.answers)} points"
        if self.appears:
            return f"appears at {', '.join(self.appears)}"
        return f"appears at none of {len(self.answers)} points"


def read_region(found: Any, targets: tuple[Target, ...], path: Path, place: str) -> Region:
    """Read a region: a check's keys, and its own."""
    return read_check(found, targets, path, place, Region)


def mapped(region: Region, measures: Measures, points: Sequence[str]) -> Mapped | None:
    """Judge a claim at each place; None if none of them was run."""
    answers = {
        place: given
        for place, one in region.places(points).items()
        if (given := answer(one, measures)) is not None
    }
    return Mapped(region, answers) if answers else None
