"""The honest baseline: the best design without and with a policy of the user's.

Both are searched with the same budget and seed: every design of the second study has the policy.
What remains of its gain is measured with fresh seeds, which chose neither design.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.data.outputs import replace_file
from copyback.design import answer, files
from copyback.design.scores import Refused
from copyback.design.study import Length
from copyback.inputs import policy_names
from copyback.policies.load import KINDS, Named
from copyback.sweep.answer import number
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from copyback.design.found import Found
    from copyback.design.runs import Runner
    from copyback.design.scores import Measured
    from copyback.design.study import Study
    from copyback.sweep.ratios import NoRatio, Ratio

#: Directories of the two studies, and the file that compares them.
WITHOUT, WITH, AGAINST = "without", "with", "against.json"

#: Fewest fresh seeds that the gain is measured with.
FRESH = 5


@dataclass(frozen=True)
class Against:
    """Best designs without and with a policy, in the first objective, run with fresh seeds.

    Attributes
    ----------
    seeds
        The fresh ones.
    """

    policy: str
    study: Study
    without: Measured
    with_policy: Measured
    seeds: tuple[int, ...]

    @property
    def ratios(self) -> tuple[Ratio | NoRatio, ...]:
        """For each objective the ratio of what the policy gives to what goes without it."""
        places = range(len(self.study.objectives))
        return tuple(self.with_policy.ratio(self.without, place) for place in places)

    def sentence(self) -> str:
        """Return the gain that remains."""
        told = "; ".join(
            f"{one.measure.label} {answer.ratio_words(ratio)}"
            for one, ratio in zip(self.study.objectives, self.ratios, strict=True)
        )
        return (
            f"With {self.policy} the best design has, against the best without it: {told}. Both "
            f"were searched with {units.count(self.study.budget)} page operations and are best in "
            f"{self.study.objectives[0].measure.label}; the ratios are of {len(self.seeds)} fresh "
            "seeds."
        )


def with_policy(study: Study, policy: str) -> Study:
    """Return the study whose designs all have a policy.

    Raises
    ------
    InputError
        If there is no such policy.
    """
    name = policy_names.absolute(policy)
    return replace(
        study, space=study.space.with_fixed(_key(name), {"type": "python", "policy": name})
    )


def _key(name: str) -> str:
    """Return the key that a policy is a choice of."""
    faults = []
    for kind in KINDS:
        try:
            Named(kind, name, {}).load()
        except InputError as fault:
            faults.append(str(fault))
        else:
            return kind.key
    raise InputError(f"--against {name}: {faults[0].partition(': ')[2].removeprefix(f'{name}: ')}")


def compare(policy: str, founds: tuple[Found, Found], runners: tuple[Runner, Runner]) -> Against:
    """Run the best design of each study with fresh seeds.

    Raises
    ------
    InputError
        If one of the studies has no design that may be built.
    """
    study = founds[0].study
    first = max(study.seeds) + 1
    seeds = tuple(range(first, first + max(FRESH, len(study.seeds))))
    without, best = (
        _best(found, runner, seeds, name)
        for found, runner, name in zip(founds, runners, (WITHOUT, WITH), strict=True)
    )
    return Against(policy, study, without, best, seeds)


def _best(found: Found, runner: Runner, seeds: tuple[int, ...], name: str) -> Measured:
    """Return the design that is best in the first objective, run with fresh seeds."""
    if not found.points:
        raise InputError(f"{name}: no design keeps the constraints; allowed: a larger budget")
    (outcome,) = runner.measure([found.points[0].design], Length.FULL, seeds)
    assert not isinstance(outcome, Refused), "it has been run with other seeds"
    return outcome


def rows(own: Against) -> list[tuple[str, list[str], str]]:
    """Return for each of the two its name, its numbers and its choices."""
    pairs = (("without", own.without), ("with", own.with_policy))
    return [(name, _values(own, one), answer.words(one.design.point)) for name, one in pairs]


def _values(own: Against, one: Measured) -> list[str]:
    objectives = own.study.objectives
    return [number(goal.measure, one.score(i)) for i, goal in enumerate(objectives)]


def write(own: Against, directory: Path) -> None:
    """Write the comparison in numbers."""
    content: dict[str, Any] = {
        "schema": files.SCHEMA,
        "policy": own.policy,
        "answer": own.sentence(),
        "seeds": list(own.seeds),
        WITHOUT: files.point(own.without),
        WITH: files.point(own.with_policy),
        "ratios": {
            one.measure.label: files.ratio(ratio)
            for one, ratio in zip(own.study.objectives, own.ratios, strict=True)
        },
    }
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    replace_file(directory / AGAINST, text.encode())


def check(directory: Path) -> None:
    """Refuse a directory that holds something other than such a comparison.

    Raises
    ------
    InputError
        With what was found.
    """
    files.check_only(directory, {WITHOUT, WITH, AGAINST})


def investigate_both(
    policy: str, study: Study, run: Callable[[Study, str], tuple[Found, Runner]]
) -> Against:
    """Run both studies, and compare what they found.

    Parameters
    ----------
    run
        Runs a study in the directory of this name.
    """
    other = with_policy(study, policy)
    found, runner = run(study, WITHOUT)
    found_with, runner_with = run(other, WITH)
    return compare(policy, (found, found_with), (runner, runner_with))
