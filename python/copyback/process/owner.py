"""Owner of this process: a program that uses the library, or the command line."""

from __future__ import annotations

_is_command_line = False


def take() -> None:
    """Say that the process is the command line's: settings of all of it may be changed."""
    global _is_command_line
    _is_command_line = True


def is_command_line() -> bool:
    """Whether it is."""
    return _is_command_line
