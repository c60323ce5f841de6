"""Faults of a user's policy, in a line."""

from __future__ import annotations

import traceback

from copyback._core import InputError
from copyback.policies.watch import NoAnswerError

#: What a policy raises that is its own fault, and no wish of somebody who interrupts it.
FAULTS = (Exception, SystemExit, NoAnswerError)


def fault(about: str, hook: str, error: BaseException, file: str | None) -> InputError:
    """Return the fault that an exception in a policy is.

    Parameters
    ----------
    about
        The policy.
    hook
        What it was asked.
    error
        What it raised.
    file
        The file of the policy, if that is known: the place is the last line of it that was reached.
    """
    said = " ".join(str(error).split())
    kind = type(error).__name__
    return InputError(f"{about}: {hook}: {kind}{': ' * bool(said)}{said}{_place(error, file)}")


def _place(error: BaseException, file: str | None) -> str:
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f" ({error.filename}:{error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    in_file = [frame for frame in frames if frame.filename == file]
    last = in_file or frames
    return f" ({last[-1].filename}:{last[-1].lineno})"
