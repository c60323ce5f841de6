"""Channels and dies: what takes time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from time_model.clock import Clock
    from time_model.device import Device


class Kind(Enum):
    """What an array does."""

    READ = "read"
    PROGRAM = "program"
    ERASE = "erase"
    COPYBACK = "copyback"


@dataclass(eq=False)
class Operation:
    """One command of a die, of one or several planes.

    Attributes
    ----------
    kind
        What it does.
    before, array, after
        Times on the channel before, in the array, and on the channel after.
    pages
        Logical pages that it reads or programs.
    on_end
        Called when all of it is done.
    """

    kind: Kind
    before: int
    array: int
    after: int
    pages: frozenset[int]
    on_end: Callable[[], None]
    suspended: int = 0


class Channel:
    """A bus that carries one transfer at a time."""

    def __init__(self, clock: Clock, data_first: bool) -> None:
        self._clock = clock
        self._first_out = data_first
        self._waiting: dict[bool, deque[tuple[int, Callable[[], None]]]] = {
            True: deque(),
            False: deque(),
        }
        self._is_busy = False

    def ask(self, out: bool, time: int, then: Callable[[], None]) -> None:
        """Ask for a transfer, out of a chip or into one."""
        self._waiting[out].append((time, then))

    def arbitrate(self) -> bool:
        """Begin the next transfer, if one can."""
        if self._is_busy:
            return False
        for out in (self._first_out, not self._first_out):
            if self._waiting[out]:
                time, then = self._waiting[out].popleft()
                self._is_busy = True
                self._clock.after(time, partial(self._end, then))
                return True
        return False

    def _end(self, then: Callable[[], None]) -> None:
        self._is_busy = False
        then()


@dataclass(eq=False)
class Die:
    """A die with one page register a plane: it does one thing at a time.

    Attributes
    ----------
    clock, device, channel
        What it lives in.
    current
        What it does.
    paused
        What it has suspended.
    is_dirty
        Whether something has changed since it last looked for work.
    """

    clock: Clock
    device: Device
    channel: Channel
    current: Operation | None = None
    paused: Operation | None = None
    is_dirty: bool = False
    _in_array: bool = False
    _ends_at: int = 0
    _event: int = field(default=0)

    def take(self, operation: Operation) -> None:
        """Begin an operation."""
        self.current = operation
        self._in_array = False
        if operation.before:
            self.channel.ask(False, operation.before, lambda: self._enter(operation))
        else:
            self._enter(operation)

    def can_be_suspended(self) -> bool:
        """Whether a read may take the array away from what is in it."""
        operation = self.current
        return (
            self.device.suspends
            and operation is not None
            and self._in_array
            and operation.kind in (Kind.PROGRAM, Kind.ERASE)
            and operation.suspended < self.device.most_suspends
            and self._ends_at - self.clock.now > self.device.suspend_time
        )

    def suspend(self) -> None:
        """Suspend what is in the array; the die is free once that is done."""
        operation = self.current
        assert operation is not None
        self.clock.cancel(self._event)
        operation.array = self._ends_at - self.clock.now
        operation.suspended += 1
        self._in_array = False
        self.clock.after(self.device.suspend_time, self._pause)

    def resume(self) -> None:
        """Go on with what was suspended."""
        operation, self.paused = self.paused, None
        assert operation is not None
        operation.array += self.device.resume_time
        self.current = operation
        self._enter(operation)

    def _pause(self) -> None:
        self.is_dirty = True
        self.paused, self.current = self.current, None

    def _enter(self, operation: Operation) -> None:
        self.is_dirty = True
        self._in_array = True
        self._ends_at = self.clock.now + operation.array
        self._event = self.clock.after(operation.array, lambda: self._leave(operation))

    def _leave(self, operation: Operation) -> None:
        self._in_array = False
        if operation.after:
            self.channel.ask(True, operation.after, lambda: self._end(operation))
        else:
            self._end(operation)

    def _end(self, operation: Operation) -> None:
        self.is_dirty = True
        self.current = None
        operation.on_end()
