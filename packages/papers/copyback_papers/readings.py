"""Readings that were tried, counted by the claims that each alone reproduces: never mixed.

A reading other than the joint one is a named reading of experiments, or a point of a region. Points
of one name in several experiments are one reading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback_papers.agreement import Verdict, worse
from copyback_papers.claims import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from copyback_papers.claims import Claim
    from copyback_papers.targets import Target


@dataclass(frozen=True)
class Tried:
    """A reading that was tried.

    Attributes
    ----------
    verdicts
        The verdict on each claim that was asked under it: the worst, if several experiments ask.
    """

    name: str
    verdicts: dict[Target, Verdict]

    def count(self, verdict: Verdict) -> int:
        """Return how many claims have a verdict."""
        return list(self.verdicts.values()).count(verdict)


def tried(claims: Iterable[Claim]) -> list[Tried]:
    """Return all readings but the joint one, those that reproduce most claims first."""
    verdicts: dict[str, dict[Target, Verdict]] = {}
    for claim in claims:
        for name, verdict in _verdicts(claim):
            asked = verdicts.setdefault(name, {})
            asked[claim.target] = worse(verdict, asked.get(claim.target, verdict))
    found = [Tried(name, asked) for name, asked in verdicts.items()]
    return sorted(
        found, key=lambda one: [-one.count(v) for v in (Verdict.REPRODUCED, Verdict.NEAR)]
    )


def _verdicts(claim: Claim) -> Iterator[tuple[str, Verdict]]:
    """Yield the verdict on a claim under each reading but the joint one.

    What is of quick scale settles nothing where the joint reading was run in full.
    """
    for given in claim.others:
        if claim.is_settled_by(given.found):
            yield given.reading, given.answer.verdict
    for sought in claim.regions:
        # Regions under a named reading would mix two.
        if claim.is_settled_by(sought.found) and not sought.experiment.reading:
            for name, answer in sought.mapped.others.items():
                yield _named(name, sought.experiment.axis), answer.verdict


def _named(point: str, axis: str) -> str:
    """Return the name of a reading: a bare number needs the axis that it is on.

    >>> _named("1/4", "covered"), _named("1/4, copyback", "covered")
    ('covered: 1/4', '1/4, copyback')
    """
    return f"{axis}: {point}" if re.fullmatch(r"[\d.,/%]+", point) else point


def joint(claims: Iterable[Claim], targets: Iterable[Target]) -> int:
    """Return how many of some claims the joint reading reproduces."""
    wanted = set(targets)
    return sum(one.target in wanted and one.standing is Standing.REPRODUCED for one in claims)


def nowhere(claims: Iterable[Claim], found: Sequence[Tried]) -> list[Claim]:
    """Return the claims that were asked, and that no reading has even near."""
    agreed = {
        target for one in found for target, verdict in one.verdicts.items() if verdict.is_in_band
    }
    return [
        claim
        for claim in claims
        if claim.joint is not None
        and not claim.joint.answer.verdict.is_in_band
        and claim.target not in agreed
    ]
