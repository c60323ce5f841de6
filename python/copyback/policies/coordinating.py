"""Between the simulator and a user's coordinator: tells it, checks what it orders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.policies.bridge import Hooks, whole
from copyback.policies.coordination import (
    Array,
    Collect,
    Done,
    Moment,
    MustCollect,
    Report,
    RunsShort,
    State,
    Stop,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from copyback.policies.bridge import Column

#: What a drive may say, by number, from what the simulator tells of it.
MESSAGES: tuple[Callable[[int, int], Any], ...] = (
    lambda writable, _: RunsShort(writable),
    lambda _, __: MustCollect(),
    lambda runs_short, _: Done(bool(runs_short)),
    State,
)
#: What a drive may be told, by number.
ORDERS = (Collect, Stop, Report)
#: What a coordinator is told only if its class says what to do then.
TOLD = ("became_busy", "became_quiet", "instant_ends")

_ALLOWED = "Collect, Stop and Report orders in a list, or None"

Given = tuple[int, int, int | None, bool, int | None]


class CoordinationHooks(Hooks):
    """Coordinators."""

    made_with = Array

    def called(self, policy: Any, array: Array, _: Sequence[Column]) -> Called:
        """Return the methods of a coordinator that the simulator calls."""
        return Called(self, policy, array)


class Called:
    """The methods of a coordinator that the simulator calls, by name.

    Parameters
    ----------
    hooks
        Where it comes from.
    policy
        The coordinator.
    array
        The array.
    """

    became_busy: Callable[[int, int], list[Given]] | None
    became_quiet: Callable[[int, int], list[Given]] | None
    instant_ends: Callable[[int, int], list[Given]] | None

    def __init__(self, hooks: CoordinationHooks, policy: Any, array: Array) -> None:
        self._hooks = hooks
        self._policy = policy
        self._array = array
        self._now = 0
        self._wake_at: int | None = None
        for hook in TOLD:
            setattr(self, hook, self._told(hook) if hooks.overrides(hook) else None)
        self.sent = self._sent if hooks.overrides("sent") else None

    def heard(self, now: int, outstanding: int, message: tuple[int, int, int, int]) -> list[Given]:
        """Return the orders that answer a message."""
        drive, kind, first, second = message
        if drive not in self._array.speaking:
            return []  # It is lost.
        return self._asked("heard", now, outstanding, drive, MESSAGES[kind](first, second))

    def wake(self, now: int, outstanding: int) -> list[Given]:
        """Return the orders at the time that it wanted to be woken at."""
        self._wake_at = None
        self._hooks.asked("wake", setattr, self._policy, "wake_at", None)
        return self._asked("wake", now, outstanding)

    def wake_at(self) -> int | None:
        """Return when it wants to be woken."""
        wake_at = self._policy.wake_at
        time = whole(wake_at)
        if time != self._wake_at or (time is None and wake_at is not None):
            if wake_at is not None and (time is None or not self._now < time < 1 << 63):
                allowed = f"as wake_at None, or whole nanoseconds later than {self._now}"
                raise self._hooks.wrong("wake", wake_at, allowed)
            self._wake_at = time
        return time

    def _told(self, hook: str) -> Callable[[int, int], list[Given]]:
        return lambda now, outstanding: self._asked(hook, now, outstanding)

    def _sent(self, drive: int, size: int) -> None:
        answer = self._hooks.asked("sent", self._policy.sent, drive, size)
        if answer is not None:
            raise self._hooks.wrong("sent", answer, "None: instant_ends returns orders, after it")

    def _asked(self, hook: str, now: int, outstanding: int, *facts: Any) -> list[Given]:
        self._now = now
        method = getattr(self._policy, hook)
        answer = self._hooks.asked(hook, method, *facts, Moment(now, outstanding))
        if answer is None:
            return []
        if isinstance(answer, ORDERS) or not isinstance(answer, Iterable):
            raise self._hooks.wrong(hook, answer, _ALLOWED)
        orders = self._hooks.asked(hook, list, answer)
        return [self._given(hook, order) for order in orders]

    def _given(self, hook: str, order: Any) -> Given:
        """Return an order as the simulator takes it, if it is one."""
        if not isinstance(order, ORDERS):
            raise self._hooks.wrong(hook, order, _ALLOWED)
        drive = whole(order.drive)
        if drive is None or drive not in self._array.speaking:
            named = ", ".join(map(str, self._array.speaking)) or "none"
            raise self._hooks.wrong(hook, order, f"orders to drives that speak: {named}")
        kind = ORDERS.index(type(order))
        if not isinstance(order, Collect):
            return drive, kind, None, False, None
        reserve = self._array.reserve
        free_blocks, at_most = whole(order.free_blocks), whole(order.at_most)
        if order.free_blocks is not None and (
            free_blocks is None or not 1 <= free_blocks <= reserve
        ):
            raise self._hooks.wrong(hook, order, f"free_blocks None, or from 1 to {reserve}")
        if order.at_most is not None and (at_most is None or not 1 <= at_most < 1 << 32):
            raise self._hooks.wrong(hook, order, "at_most None, or at least 1")
        if not isinstance(order.regardless, bool | np.bool_):
            raise self._hooks.wrong(hook, order, "regardless True or False")
        return drive, kind, free_blocks, bool(order.regardless), at_most
