"""Whether policies still answer: a call that takes longer than its class allows is ended."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback.policies.files import files_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

#: Where the frames of the simulator are.
PACKAGE = str(Path(__file__).parents[1])
#: Seconds between looks, at most.
SELDOM = 1.0


class NoAnswerError(BaseException):
    """A call has taken too long. No `Exception`: a policy that catches these must not go on.

    Attributes
    ----------
    seconds
        How long it might have taken.
    """

    seconds: float

    def __str__(self) -> str:
        """Return what happened and what may be done."""
        return (
            f"none after {self.seconds:g} s; `time_limit` of the class allows more, None any time"
        )


@dataclass(frozen=True)
class Limit:
    """Limit on the time that a call of a policy may take.

    Attributes
    ----------
    files
        The files that its class and those that it derives from are in.
    seconds
        At most.
    """

    files: frozenset[str]
    seconds: float


@dataclass
class _Call:
    frame: FrameType
    since: float


class _Watch:
    """Looks at what the threads of this process do, as long as there is anybody to look after.

    A call of a policy is a frame whose code is in one of its files, and which the simulator has
    called. So the calls themselves cost nothing.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: weakref.WeakKeyDictionary[Any, Limit] = weakref.WeakKeyDictionary()
        self._calls: dict[int, _Call] = {}
        self._thread: threading.Thread | None = None

    def add(self, owner: Any, limit: Limit) -> None:
        """Look after calls for as long as their owner lives."""
        with self._lock:
            self._limits[owner] = limit
            # A process that was forked has the object, and no thread.
            if self._thread is None or not self._thread.is_alive():
                name = "copyback-policies"
                self._thread = threading.Thread(target=self._look_on, name=name, daemon=True)
                self._thread.start()

    def _look_on(self) -> None:
        while limits := self._known():
            time.sleep(min(SELDOM, *(limit.seconds / 4 for limit in limits)))
            self._look(limits)

    def _known(self) -> list[Limit]:
        with self._lock:
            if limits := list(self._limits.values()):
                return limits
            self._thread = None
            self._calls.clear()
            return []

    def _look(self, limits: list[Limit]) -> None:
        now, calls = time.monotonic(), {}
        for thread, frame in sys._current_frames().items():
            if (found := _call_in(frame, limits)) is None:
                continue
            entered, limit = found
            before = self._calls.get(thread)
            goes_on = before is not None and before.frame is entered
            call = before if before is not None and goes_on else _Call(entered, now)
            if now - call.since > limit.seconds:
                _end(thread, limit.seconds)
                call.since = now
            calls[thread] = call
        self._calls = calls


def _call_in(frame: FrameType | None, limits: Iterable[Limit]) -> tuple[FrameType, Limit] | None:
    """Return the frame of a policy that the simulator has called last, and its limit."""
    while frame is not None:
        caller = frame.f_back
        if _is_called_by_us(frame, caller):
            for limit in limits:
                if frame.f_code.co_filename in limit.files:
                    return frame, limit
        frame = caller
    return None


def _is_called_by_us(frame: FrameType, caller: FrameType | None) -> bool:
    if caller is None:
        # A program that has a policy in it runs for as long as it likes.
        return frame.f_code.co_name != "<module>"
    return _is_ours(caller.f_code.co_filename)


def _is_ours(file: str) -> bool:
    return file.startswith(PACKAGE)


def _end(thread: int, seconds: float) -> None:
    """Raise in a thread, as soon as it is back in Python from what it waits for in C."""
    error = type(NoAnswerError.__name__, (NoAnswerError,), {"seconds": seconds})
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


_WATCH = _Watch()


def look_after(owner: Any, policy: type[Any], seconds: float) -> None:
    """End calls of a policy that take longer than so long, for as long as `owner` lives."""
    files = {file for base in policy.__mro__ for file in files_of(base)}
    own = frozenset(file for file in files if not _is_ours(file))
    _WATCH.add(owner, Limit(own, seconds))
