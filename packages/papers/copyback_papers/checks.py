"""Checks of an experiment: a claim of the paper, or a question of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

from copyback.inputs.tables import Table, read
from copyback_papers.rules import Rule
from copyback_papers.targets import SHAPE, Target, find_target

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Check(Table, frozen=True):
    """One answer.

    Attributes
    ----------
    target
        The claim that it answers; None if the question is our own.
    says
        What is asked; what the claim says if empty.
    form
        What is made of the variant's number and the baseline's. A crossing is where on the axis
        the one passes the other; points then end with a number.
    along
        Of a crossing: variants that are the axis in place of the points; each ends with a number.
    baseline_point
        The point of the baseline; None for the variant's own point.
    beyond
        The variant whose number is taken off both: what is compared is what they add to it. Empty
        if nothing is.
    workloads, points
        Under what; all if empty.
    scale
        A value is multiplied by this: from the unit of the summary to that of the claim.
    take
        How several workloads or points become one number; a range is of all of them, and its ends
        are compared with those of the claim.
    at_least
        The claim is a lower bound.
    over
        What the interval is over: the seeds, or the workloads, each of which is one number then.
        Real pieces differ; a seed of one says nothing of the others.
    up_to
        The claim is the largest of several; what is taken must be the largest, too.
    rules
        Those of a shape; empty if the answer is a number.
    """

    target: Target | None = None
    says: str = ""
    form: Literal["reduction", "ratio", "normalised", "value", "crossing"] = "reduction"
    measure: str = "response_us.all.mean"
    variant: str = ""
    baseline: str = ""
    baseline_point: str | None = None
    beyond: str = ""
    workloads: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    take: Literal["mean", "max", "min", "range"] = "mean"
    scale: float = 1.0
    at_least: bool = False
    up_to: bool = False
    over: Literal["seeds", "workloads"] = "seeds"
    along: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        if not self.has_variant and not self.rules:
            raise ValueError("variant: missing; a text is needed")
        if self.form == "crossing" and not self.baseline:
            raise ValueError("baseline: missing; a crossing needs what is crossed")
        if not self.says and self.target is None:
            raise ValueError("says: missing; a text is needed")
        if self.up_to and self.take != "max":
            raise ValueError(f"take: found {self.take!r}; a claim of \"up to\" needs 'max'")
        if self.over == "workloads" and self.take != "mean":
            raise ValueError(f"take: found {self.take!r}; an interval over workloads needs 'mean'")
        if self.take == "range" and (self.target is None or self.target.most is None):
            raise ValueError("take: found 'range'; a claim that is a range is needed")
        if self.target is not None and (self.target.value is None) == (not self.rules):
            needed = "rules" if self.target.unit == SHAPE else "a number, not rules"
            raise ValueError(f"rules: the claim needs {needed}")

    @property
    def has_variant(self) -> bool:
        """Whether it says whose number is asked."""
        return bool(self.variant or self.along)

    @property
    def has_unit(self) -> bool:
        """Whether its number has the unit of the claim, and is no share."""
        return self.form in {"value", "crossing"}

    @property
    def measures(self) -> list[str]:
        """Keys of a summary, or two of them joined, that it asks for."""
        return [rule.measure for rule in self.rules] or [self.measure]

    @property
    def question(self) -> str:
        """Question that the check answers."""
        return self.says or (self.target.label if self.target else "")

    def names(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Yield the names of variants, points and workloads that it uses."""
        named = (self.variant, self.baseline, self.beyond)
        yield "variants", (*filter(None, named), *self.along)
        yield "points", self.points + ((self.baseline_point,) if self.baseline_point else ())
        yield "workloads", self.workloads
        for rule in self.rules:
            yield "variants", rule.variants + ((rule.baseline,) if rule.baseline else ())


#: A check, or a kind of it.
Kind = TypeVar("Kind", bound=Check)


def read_check(
    found: Any, targets: tuple[Target, ...], path: Path, place: str, kind: type[Kind]
) -> Kind:
    """Read a check, or a kind of it, whose target is what tells a claim from the others."""
    table = dict(read(found, dict[str, Any], path, place))
    if "target" in table:
        table["target"] = wanted(table["target"], targets, path, f"{place}.target")
    return read(table, kind, path, place)


def wanted(found: Any, targets: tuple[Target, ...], path: Path, place: str) -> Target:
    """Return the one claim that has all columns of a table."""
    columns = read(found, dict[str, Any], path, place)
    texts = {key: str(value) for key, value in columns.items()}
    return find_target(targets, texts, f"{path}: {place}")
