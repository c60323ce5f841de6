"""A reading of one's own: an experiment under settings of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.inputs.configuration import parse_setting, setting_value
from copyback_papers import found as findings
from copyback_papers.agreement import Verdict
from copyback_papers.experiment import Reading, read_as
from copyback_papers.stored import needed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback_papers.experiment import Experiment
    from copyback_papers.found import Found

#: What a reading of one's own is called, and its directory after the experiment's.
NAME = "yours"


def under(experiments: Sequence[Experiment], settings: Sequence[str]) -> list[Experiment]:
    """Return each experiment under the joint reading, and behind it the same under settings.

    Parameters
    ----------
    settings
        As ``--set`` has them: ``KEY=VALUE``.

    Raises
    ------
    InputError
        If one is no setting.
    """
    laid = {key: setting_value(text) for key, text in map(parse_setting, settings)}
    own = Reading(reason=", ".join(settings), set=laid)
    joint = [one for one in experiments if not one.reading]
    return [one for experiment in joint for one in (experiment, read_as(experiment, NAME, own))]


def moved(joint: Found, own: Found) -> findings.Table:
    """Return the claims and questions whose verdict is another under a reading of one's own."""
    answers = {answer.check: answer for answer in joint.answers}
    rows = [
        (
            answer.check.target.figure if answer.check.target else joint.experiment.name,
            answer.check.question,
            answer.paper,
            *(f"{one.ours}: {one.verdict}" for one in (answers[answer.check], answer)),
        )
        for answer in own.answers
        if answer.check in answers and answers[answer.check].verdict is not answer.verdict
    ]
    header = ("figure", "what", "paper", "joint reading", NAME)
    return findings.Table("Verdicts that move", header, tuple(rows))


def sentence(joint: Found, own: Found) -> str:
    """Return how many verdicts move, and whether any number does."""
    judged = sum(answer.verdict is not Verdict.NONE for answer in own.answers)
    text = f"{len(moved(joint, own).rows)} of {judged} verdicts"
    still = all(
        joint.measures.of(cell, needed(own.experiment))
        == own.measures.of(cell, needed(own.experiment))
        for cell in own.measures.rows
        if cell in joint.measures
    )
    return f"{text}; no number moves: these settings do nothing here" if still else text
