"""Processes that tests start, none of which outlives its test."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, AnyStr

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

#: Seconds in which a process ends once nobody needs it any more.
PATIENCE = 60


@contextlib.contextmanager
def ending(process: subprocess.Popen[AnyStr]) -> Iterator[subprocess.Popen[AnyStr]]:
    """Wait for a process to end, but not forever; kill it if a test fails meanwhile.

    Raises
    ------
    subprocess.TimeoutExpired
        If it does not end.
    """
    with process:
        try:
            yield process
            process.wait(timeout=PATIENCE)
        finally:
            process.kill()
