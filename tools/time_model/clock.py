"""The events, in order of time."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """A heap of events. All of an instant are carried out before anything free looks for work.

    Attributes
    ----------
    now
        The instant that is simulated.
    arbitrate
        Lets whatever is free look for work; returns whether anything found some.
    """

    def __init__(self) -> None:
        self.now = 0
        self.arbitrate: Callable[[], bool] = lambda: False
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self._cancelled: set[int] = set()
        self._behind: list[Callable[[], None]] = []

    def after(self, time: int, action: Callable[[], None]) -> int:
        """Plan an action so long after now. Returns what it can be cancelled by."""
        self._count += 1
        heapq.heappush(self._events, (self.now + time, self._count, action))
        return self._count

    def behind(self, action: Callable[[], None]) -> None:
        """Plan an action for this instant, once whatever is free has looked for work."""
        self._behind.append(action)

    def cancel(self, event: int) -> None:
        """Forget an action."""
        self._cancelled.add(event)

    def run(self, is_over: Callable[[], bool]) -> None:
        """Go on until it is over, or nothing is planned any more."""
        while self._events and not is_over():
            self.now = self._events[0][0]
            while self._events and self._events[0][0] == self.now:
                _, number, action = heapq.heappop(self._events)
                if number in self._cancelled:
                    self._cancelled.remove(number)
                else:
                    action()
            self._look_for_work()

    def _look_for_work(self) -> None:
        while self.arbitrate() or self._behind:
            behind, self._behind = self._behind, []
            for action in behind:
                action()
