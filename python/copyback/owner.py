"""Whose process this is: a program's that uses the library, or the command line's own."""

from __future__ import annotations

_is_command_line = False


def take() -> None:
    """Say that the process is the command line's: settings of all of it may be changed."""
    global _is_command_line
    _is_command_line = True


def is_command_line() -> bool:
    """Whether it is."""
    return _is_command_line
