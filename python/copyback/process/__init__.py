"""Process of a command or program: its owner, cores, streams, signals, extras and commit."""

from __future__ import annotations

import os

_is_command_line = False


def take() -> None:
    """Say that the process is the command line's own: settings of all of it may be changed."""
    global _is_command_line
    _is_command_line = True


def is_command_line() -> bool:
    """Whether the process is the command line's own, not that of a program with the library."""
    return _is_command_line


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
