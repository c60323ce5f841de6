"""Answers of a comparison's server to the question why requests of a run were late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.report.jobs import Job, Jobs, asking, escaped, waiting
from copyback.sweep.why import again

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_TITLE = "Why were requests late?"

_NOT_KEPT = (
    "A comparison does not keep what requests waited for, so this run is done again with "
    "<code>metrics.slowest</code>."
)


class Again:
    """Does runs of a sweep again, one at a time, and says how far they are.

    Parameters
    ----------
    token
        What a request to begin must bring.
    policies
        Policies in Python that the user names; no others are run.
    """

    def __init__(self, token: str, policies: Collection[str]) -> None:
        self._token = token
        self._policies = policies
        self._jobs: Jobs[Path] = Jobs()

    def page(self, run: Path) -> str:
        """Return the page to show until a run has been done again; begins nothing."""
        job = self._jobs.find(run)
        if job is None:
            told = f"{_NOT_KEPT} It has the same results each time, so it can be had now."
            return asking(self._token, _TITLE, told, "Do it again")
        if job.fault:
            title = "This run cannot be done again"
            return asking(self._token, title, escaped(job.fault), "Try once more")
        if job.is_over:
            # It ended after its page was looked for: the next request finds that.
            self._jobs.forget(run)
        return waiting(job, _TITLE, _NOT_KEPT)

    def begin(self, run: Path) -> None:
        """Begin to do a run again, unless that is under way."""

        def work(job: Job[Path]) -> Path:
            return again(run, policies=self._policies, on_progress=job.watch)

        self._jobs.begin(run, work)
