"""Answers of a comparison's server to the question why requests of a run were late."""

from __future__ import annotations

import html
from dataclasses import dataclass
from threading import Lock, Thread
from typing import TYPE_CHECKING

from copyback._core import InputError, SimulationError
from copyback.sweep.why import again

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from copyback._core import Progress

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
{refresh}<title>{title}</title>
<style>:root {{ color-scheme: light dark }} body {{ font: 16px/1.5 system-ui, sans-serif;
max-width: 40rem; margin: 4rem auto; padding: 0 1rem }} progress {{ width: 100% }}</style></head>
<body><main><h1>{title}</h1>{body}</main></body></html>
"""

_NOT_KEPT = (
    "A comparison does not keep what requests waited for, so this run is done again with "
    "<code>metrics.slowest</code>."
)

_FORM = (
    '<form method="post"><input type="hidden" name="token" value="{token}">'
    "<button>{button}</button></form>"
)

_REFRESH = '<meta http-equiv="refresh" content="1">'


@dataclass
class _Job:
    """A run that is being done again."""

    phase: str = "waits for another run"
    share: float = 0.0
    fault: str = ""
    is_done: bool = False

    def watch(self, progress: Progress) -> None:
        self.phase = "prepares its drive" if progress.phase == "precondition" else "runs"
        self.share = progress.fraction


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
        self._jobs: dict[Path, _Job] = {}
        self._one = Lock()
        self._beginning = Lock()

    def page(self, run: Path) -> str:
        """Return the page to show until a run has been done again; begins nothing."""
        job = self._jobs.get(run)
        if job is None:
            told, button = "It has the same results each time, so it can be had now.", "Do it again"
            return self._asking("Why were requests late?", f"{_NOT_KEPT} {told}", button)
        if job.fault:
            return self._asking("This run cannot be done again", _text(job.fault), "Try once more")
        if job.is_done:
            # It ended after its page was looked for: the next request finds that.
            self._jobs.pop(run, None)
        body = (
            f"<p>{_NOT_KEPT}</p>"
            f'<p><progress value="{job.share:.3f}" aria-label="Done"></progress></p>'
            f"<p>It {job.phase}: {100 * job.share:.0f} %.</p>"
        )
        return _PAGE.format(refresh=_REFRESH, title="Why were requests late?", body=body)

    def _asking(self, title: str, told: str, button: str) -> str:
        form = _FORM.format(token=self._token, button=button)
        return _PAGE.format(refresh="", title=title, body=f"<p>{told}</p>{form}")

    def begin(self, run: Path) -> None:
        """Begin to do a run again, unless that is under way."""
        with self._beginning:
            job = self._jobs.get(run)
            if job is None or job.fault or job.is_done:
                job = self._jobs[run] = _Job()
                Thread(target=self._do, args=(run, job), daemon=True).start()

    def _do(self, run: Path, job: _Job) -> None:
        with self._one:
            try:
                again(run, policies=self._policies, on_progress=job.watch)
            except (InputError, SimulationError, OSError) as fault:
                job.fault = str(fault)
            else:
                job.is_done = True


def _text(fault: str) -> str:
    return html.escape(fault).replace("\n", "<br>")
