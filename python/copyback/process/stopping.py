"""Ends a command when a signal asks for it: by an exception, so that nothing half-written stays.

An exception that a signal's handler raises may be lost: an import in which it falls forgets it, or
makes an ImportError of it. So it is remembered as well, and whatever goes on for long looks.
"""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The signal that has asked us to stop.
_asked: int | None = None


class Stopped(BaseException):
    """A signal asked us to stop: unwind.

    Parameters
    ----------
    number
        The signal.
    """

    def __init__(self, number: int) -> None:
        self.number = number


def check() -> None:
    """Stop if a signal has asked for it.

    Raises
    ------
    Stopped
        If so.
    """
    if _asked is not None:
        raise Stopped(_asked)


@contextlib.contextmanager
def cleanly() -> Iterator[None]:
    """Let SIGINT and SIGTERM raise `Stopped`, whatever else their exception is made into.

    A signal that our parent told us to ignore (nohup, a background job) stays ignored.
    """
    global _asked
    _asked = None
    previous = {
        number: signal.signal(number, _stop)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    except Exception:
        check()
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        _asked = None


def _stop(number: int, _frame: Any) -> NoReturn:
    global _asked
    _asked = number
    raise Stopped(number)
