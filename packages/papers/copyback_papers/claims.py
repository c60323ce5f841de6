"""Standing of each claim of a paper: counted under its joint reading first, never mixed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from copyback_papers.agreement import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from copyback_papers.answers import Answer
    from copyback_papers.catalogue import Paper
    from copyback_papers.experiment import Experiment
    from copyback_papers.found import Found
    from copyback_papers.marks import Mark
    from copyback_papers.regions import Mapped
    from copyback_papers.targets import Target


class Standing(StrEnum):
    """Standing of a claim, as the scorecard counts it: each claim once."""

    REPRODUCED = "reproduced"
    NEAR = "near"
    SAME_SIGN = "same sign, other size"
    PART = "in part"
    CONTRADICTED = "contradicted"
    NOT_RUN = "not run"
    UNANSWERED = "no experiment"


#: What a verdict under the joint reading comes to.
STANDINGS = {
    Verdict.REPRODUCED: Standing.REPRODUCED,
    Verdict.NEAR: Standing.NEAR,
    Verdict.SAME_SIGN: Standing.SAME_SIGN,
    Verdict.PART: Standing.PART,
    Verdict.CONTRADICTED: Standing.CONTRADICTED,
}


@dataclass(frozen=True)
class Given:
    """An answer, and what it was found by."""

    found: Found
    answer: Answer

    @property
    def reading(self) -> str:
        """The name of the reading; empty of the joint one."""
        return self.found.experiment.reading


@dataclass(frozen=True)
class Sought:
    """A region of a claim, and what it was found by."""

    found: Found
    mapped: Mapped

    @property
    def experiment(self) -> Experiment:
        """The experiment that it is of."""
        return self.found.experiment


@dataclass(frozen=True)
class Claim:
    """A claim and its answers.

    Attributes
    ----------
    experiment
        What is to answer it; None if nothing does.
    joint
        The answer under the joint reading; None if it was not run.
    others
        Answers under other readings.
    regions
        Where it appears over what the paper leaves open.
    reason
        Why no experiment answers it.
    doubled
        The answer of twice the requests under the joint reading; None if it was not run.
    mark
        Why it is counted apart, or not at all; None of a claim that is counted.
    beside
        What experiments with a column of their own answer, by its title. It is counted nowhere.
    """

    target: Target
    experiment: Experiment | None
    joint: Given | None
    others: tuple[Given, ...]
    regions: tuple[Sought, ...]
    reason: str
    doubled: Given | None = None
    mark: Mark | None = None
    beside: Mapping[str, Given] = field(default_factory=dict)

    @property
    def has_moved(self) -> bool:
        """Whether twice the requests give another verdict, whatever number of seeds was run."""
        if self.joint is None or self.doubled is None:
            return False
        one, other = (given.answer.verdict for given in (self.joint, self.doubled))
        return one is not other and not (one.is_in_band and other.is_in_band)

    @property
    def standing(self) -> Standing:
        """Standing of the claim among all."""
        if self.experiment is None:
            return Standing.UNANSWERED
        if self.joint is None:
            return Standing.NOT_RUN
        return STANDINGS[self.joint.answer.verdict]

    @property
    def is_transient(self) -> bool:
        """Whether its answer rests on a run inside its start transient."""
        return self.joint is not None and self.joint.found.is_transient(self.joint.answer)

    def is_settled_by(self, found: Found) -> bool:
        """Return whether findings are of a scale that says something beside the joint reading's."""
        return found.scale == "full" or self.joint is None or self.joint.found.scale != "full"

    @property
    def is_open(self) -> bool:
        """Whether it does not agree, and no region says where it would."""
        agrees = self.standing in {Standing.REPRODUCED, Standing.NEAR}
        return not (agrees or self.regions)


def claims(paper: Paper, found: Mapping[str, Found], doubled: Mapping[str, Found]) -> list[Claim]:
    """Return all claims of a paper, in its order, with what was found by experiments.

    Parameters
    ----------
    doubled
        What was found with twice the requests of full scale.
    """
    return [_claim(target, paper, found, doubled) for target in paper.targets]


def _claim(
    target: Target, paper: Paper, found: Mapping[str, Found], doubled: Mapping[str, Found]
) -> Claim:
    reasons = dict(paper.unanswered)
    having = [e for e in paper.experiments if any(check.target == target for check in e.checks)]
    asking = [e for e in having if not e.column]
    given = _answers(target, asking, found)
    longer = _answers(target, asking, doubled)
    regions = [
        Sought(one, mapped)
        for one in found.values()
        if not one.experiment.column
        for mapped in one.regions
        if mapped.target == target
    ]
    return Claim(
        target=target,
        experiment=asking[0] if asking else None,
        joint=next((one for one in given if not one.reading), None),
        others=tuple(one for one in given if one.reading),
        regions=tuple(regions),
        reason=reasons.get(target, ""),
        doubled=next((one for one in longer if not one.reading), None),
        mark=paper.marks.get(target),
        beside={
            one.found.experiment.column: one
            for one in _answers(target, [e for e in having if e.column], found)
        },
    )


def _answers(target: Target, asking: list[Experiment], found: Mapping[str, Found]) -> list[Given]:
    """Return the answers of experiments under all readings."""
    return [
        Given(found[one.name], answer)
        for experiment in asking
        for one in (experiment, *experiment.readings)
        if one.name in found
        for answer in found[one.name].answers
        if answer.check.target == target
    ]
