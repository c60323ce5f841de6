"""Regions in which a paper's number appears over what its text leaves open.

A region judges a claim at each point of an experiment by itself. The points are values of an open
input within the bounds that the paper's text allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, field, structs

from copyback.inputs.tables import Table
from copyback_papers.agreement import Verdict
from copyback_papers.answers import answer
from copyback_papers.checks import Check, read_check

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from copyback_papers.answers import Answer
    from copyback_papers.measures import Measures
    from copyback_papers.targets import Target


class Place(Table, frozen=True):
    """Several points at which what is open is the same: a claim about how a number moves over them.

    Attributes
    ----------
    points
        In the order in which the claim goes through them.
    baseline_point
        That of the claim's baseline; None if it is each point's own.
    """

    points: Annotated[tuple[str, ...], Meta(min_length=1)]
    baseline_point: str | None = None


class Region(Check, frozen=True):
    """A claim that is asked at each point, or at each of several places.

    Attributes
    ----------
    variants
        If there are any, each takes the place of `variant`, or of those of a rule, at each point:
        what is open is how the scheme is read. Such a place is called ``"VARIANT, POINT"``, or
        ``"VARIANT"`` if there is one point. Rules about others stay what they are.
    at
        Places by their names, if a place is more than one point.
    wider
        Those of the variants that go beyond what the paper's text allows: what appears there is
        no reading.
    joint
        The place that is the joint reading: what appears there is no other reading's. Empty if
        none is.
    """

    variants: tuple[str, ...] = ()
    wider: tuple[str, ...] = ()
    at: dict[str, Place] = field(default_factory=dict)
    joint: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target is None:
            raise ValueError("target: missing; a region is of a claim")
        if not set(self.wider) <= set(self.variants):
            raise ValueError("wider: found a name that is none of the region's variants")
        if self.at and self.points:
            raise ValueError("at: found beside points; one of the two is needed")

    @property
    def has_variant(self) -> bool:
        """Whether it says whose number is asked, or whose numbers."""
        return bool(self.variants) or super().has_variant

    def names(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Yield the names of variants, points and workloads that it uses."""
        yield from super().names()
        yield "variants", self.variants
        for place in self.at.values():
            yield "points", place.points
            yield "points", tuple(filter(None, (place.baseline_point,)))

    def places(self, points: Sequence[str]) -> dict[str, Region]:
        """Return the claim at each place, by the place's name.

        Parameters
        ----------
        points
            All that the experiment has.
        """
        at = self._at(points)
        if not self.variants:
            return at
        return {
            f"{variant}, {name}" if len(at) > 1 else variant: one.of(variant)
            for variant in self.variants
            for name, one in at.items()
        }

    def _at(self, points: Sequence[str]) -> dict[str, Region]:
        """Return the claim at each place, of whichever variant."""
        places = self.at or {point: Place((point,)) for point in self.points or points}
        return {
            name: structs.replace(
                self,
                points=place.points,
                baseline_point=place.baseline_point or self.baseline_point,
                at={},
            )
            for name, place in places.items()
        }

    def is_wider(self, place: str) -> bool:
        """Return whether a place goes beyond what the paper's text allows."""
        return any(place == name or place.startswith(f"{name}, ") for name in self.wider)

    def apart(self, place: str) -> str:
        """Return a place without the variant that it shares with the joint reading."""
        shared = [name for name in self.variants if self.joint.startswith(f"{name}, ")]
        return place.removeprefix(f"{shared[0]}, ") if shared else place

    def remark(self, place: str) -> str:
        """Return a place as pages name it."""
        if place == self.joint:
            return f"{place} (joint reading)"
        return f"{place} (wider than the text)" if self.is_wider(place) else place

    def of(self, variant: str) -> Region:
        """Return the claim about one variant."""
        rules = tuple(
            structs.replace(rule, variants=(variant,))
            if set(rule.variants) <= set(self.variants)
            else rule
            for rule in self.rules
        )
        own = "" if rules else variant
        return structs.replace(self, variant=own, variants=(), wider=(), rules=rules)


@dataclass(frozen=True)
class Mapped:
    """Result of a region.

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

    def places(self, verdict: Verdict) -> list[str]:
        """Return the points at which the claim has a verdict."""
        return [at for at, one in self.answers.items() if one.verdict is verdict]

    @property
    def appears(self) -> list[str]:
        """The points at which the claim is reproduced."""
        return self.places(Verdict.REPRODUCED)

    @property
    def others(self) -> dict[str, Answer]:
        """The answers of other readings within the text, by what they have other than the joint."""
        return {
            self.region.apart(at): one
            for at, one in self.answers.items()
            if at != self.region.joint and not self.region.is_wider(at)
        }

    @property
    def sentence(self) -> str:
        """Sentence on where the claim appears, and what is open if the region says so."""
        return ": ".join(filter(None, (self.region.says, self._where)))

    @property
    def _where(self) -> str:
        if len(self.appears) == len(self.answers):
            return f"appears at all of {len(self.answers)} points"
        told = [
            f"{word} at {', '.join(map(self.region.remark, places))}"
            for word, places in (("appears", self.appears), ("near", self.places(Verdict.NEAR)))
            if places
        ]
        return "; ".join(told) or f"appears at none of {len(self.answers)} points"


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
