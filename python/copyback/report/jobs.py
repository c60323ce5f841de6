"""Work that a page of this machine's server has begun: one piece at a time, in a thread."""

from __future__ import annotations

import html
from dataclasses import dataclass
from threading import Lock, Thread
from typing import TYPE_CHECKING, Generic, TypeVar

from copyback._core import InputError, SimulationError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from copyback._core import Progress

ResultT = TypeVar("ResultT")

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
{refresh}<title>{title}</title>
<style>:root {{ color-scheme: light dark }} body {{ font: 16px/1.5 system-ui, sans-serif;
max-width: 40rem; margin: 4rem auto; padding: 0 1rem }} progress {{ width: 100% }}
pre {{ white-space: pre-wrap }} td, th {{ text-align: left; padding-right: 2rem }}</style></head>
<body><main><h1>{title}</h1>{body}</main></body></html>
"""

_FORM = (
    '<form method="post"><input type="hidden" name="token" value="{token}">'
    "<button>{button}</button></form>"
)

_REFRESH = '<meta http-equiv="refresh" content="1">'


@dataclass
class Job(Generic[ResultT]):
    """A piece of work.

    Attributes
    ----------
    result
        What it came to; None as long as it is under way.
    """

    phase: str = "waits for another run"
    share: float = 0.0
    fault: str = ""
    result: ResultT | None = None

    def watch(self, progress: Progress) -> None:
        """Note how far a run is."""
        self.phase = "prepares its drive" if progress.phase == "precondition" else "runs"
        self.share = progress.fraction

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or failed."""
        return bool(self.fault) or self.result is not None


class Jobs(Generic[ResultT]):
    """Pieces of work by what they are for."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, Job[ResultT]] = {}
        self._one = Lock()
        self._beginning = Lock()

    def find(self, key: Hashable) -> Job[ResultT] | None:
        """Return a piece of work; None if it was not begun."""
        return self._jobs.get(key)

    def forget(self, key: Hashable) -> None:
        """Let a piece of work be begun again."""
        self._jobs.pop(key, None)

    def begin(self, key: Hashable, work: Callable[[Job[ResultT]], ResultT]) -> None:
        """Begin a piece of work, unless it is under way."""
        with self._beginning:
            job = self._jobs.get(key)
            if job is None or job.is_over:
                job = self._jobs[key] = Job()
                Thread(target=self._do, args=(work, job), daemon=True).start()

    def _do(self, work: Callable[[Job[ResultT]], ResultT], job: Job[ResultT]) -> None:
        with self._one:
            try:
                job.result = work(job)
            except (InputError, SimulationError, OSError) as fault:
                job.fault = str(fault)


def asking(token: str, title: str, told: str, button: str) -> str:
    """Return a page with a button that begins a piece of work."""
    form = _FORM.format(token=token, button=button)
    return PAGE.format(refresh="", title=title, body=f"<p>{told}</p>{form}")


def waiting(job: Job[ResultT], title: str, told: str) -> str:
    """Return a page that says how far a piece of work is, and looks again each second."""
    body = (
        f"<p>{told}</p>"
        f'<p><progress value="{job.share:.3f}" aria-label="Done"></progress></p>'
        f"<p>It {job.phase}: {100 * job.share:.0f} %.</p>"
    )
    return PAGE.format(refresh=_REFRESH, title=title, body=body)


def escaped(text: str) -> str:
    """Return text for a page."""
    return html.escape(text).replace("\n", "<br>")
