"""Answers of a study's server to the question what a design really comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.designer import left
from copyback.inputs.policy_names import DESIGN
from copyback.report.jobs import PAGE, Job, Jobs, asking, escaped, waiting

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    Numbers = list[tuple[str, str]]

#: Where a study's page asks, with `set=KEY=VALUE` for each choice.
ADDRESS = "/try"

_TITLE = "What does this design come to?"


class TryDesign:
    """Runs designs of a study, one at a time, and says what they come to.

    Parameters
    ----------
    directory
        Of the study.
    token
        What a request to begin must bring.
    policies
        Policies in Python that the user names; no others are run.
    """

    def __init__(self, directory: Path, token: str, policies: Collection[str]) -> None:
        self._directory = directory
        self._token = token
        self._policies = policies
        self._jobs: Jobs[Numbers] = Jobs()

    def page(self, settings: Sequence[str]) -> str:
        """Return the page of a design; begins nothing."""
        lines = escaped("\n".join(settings) or "the base")
        design = f"<pre>{lines}</pre>"
        job = self._jobs.find(tuple(settings))
        if job is None:
            told = f"It runs as the search ran its designs, under each workload:{design}"
            return asking(self._token, _TITLE, told, "Run it")
        if job.fault:
            title = "This design cannot be run"
            return asking(self._token, title, escaped(job.fault) + design, "Try once more")
        if job.result is None:
            return waiting(job, _TITLE, design)
        rows = "".join(
            f"<tr><th>{escaped(label)}</th><td>{escaped(value)}</td></tr>"
            for label, value in job.result
        )
        return PAGE.format(refresh="", title=_TITLE, body=f"<table>{rows}</table>{design}")

    def begin(self, settings: Sequence[str]) -> None:
        """Begin to run a design, unless that is under way."""

        def work(job: Job[Numbers]) -> Numbers:
            # The designer takes long to import, and most pages are no study's.
            from copyback.designer import tried

            own = left.left(self._directory)
            return tried.run(
                own,
                self._directory / DESIGN,
                left.settings_in(own, settings),
                policies=self._policies,
                on_progress=job.watch,
            )

        self._jobs.begin(tuple(settings), work)
