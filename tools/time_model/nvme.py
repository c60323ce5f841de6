"""MQSim's host: a pair of queues, of which every message crosses a link.

Written from reading MQSim's source, in our words (`Host_Interface_NVMe.cpp`, `PCIe_Link.cpp` of
its `src` at 7ec40e3). Each way the link carries one message at a time. The host rings a bell for
each request; the drive asks for its entry as soon as it has a place for it, for the data of a write
then, and sends those of a read; at the end it asks for the next entry and says what has ended.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from time_model.requests import Requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from time_model.clock import Clock
    from time_model.host import Request

#: Times of messages on its link as it is shipped; ns. A page is one of 8 KiB.
BELL, ASK, ENTRY, PAGE, COMPLETION = 8, 8, 25, 2_496, 11


class Wire:
    """One way of a link: messages one behind the other."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._free_at = 0

    def send(self, time: int, then: Callable[[], None]) -> None:
        """Send a message that takes so long; behind those sent before."""
        self._free_at = max(self._free_at, self._clock.now) + time
        self._clock.after(self._free_at - self._clock.now, then)


class LinkedHost(Requests):
    """A host on a link.

    In a closed loop a response lasts from the entry's coming to the drive until the drive has
    served it, else as the host sees it.
    """

    @cached_property
    def _to_drive(self) -> Wire:
        return Wire(self._clock)

    @cached_property
    def _to_host(self) -> Wire:
        return Wire(self._clock)

    def begin(self) -> None:
        """Let the first requests come; in a closed loop the drive takes as many as it may."""
        if self._setup.iodepth is None:
            self._plan()
            return
        while self._requests:
            self._come(self._requests.popleft())

    def is_over(self) -> bool:
        """Say that MQSim goes on until nothing is left to do, collections included."""
        return False

    def _come(self, request: Request) -> None:
        since = self._clock.now

        def told() -> None:
            self._waiting.append((since, request))
            self._fetch()

        self._to_drive.send(BELL, told)

    def _fetch(self) -> None:
        most = self._setup.queue if self._setup.iodepth is None else self._setup.iodepth
        while self._waiting and self._inside < most:
            self._inside += 1
            entered = partial(self._enter, *self._waiting.popleft())
            self._to_host.send(ASK, partial(self._to_drive.send, ENTRY, entered))

    def _enter(self, since: int, request: Request) -> None:
        serve = partial(self._serve, since, self._clock.now, request)
        if request.is_read:
            serve()
        else:
            self._to_host.send(ASK, partial(self._to_drive.send, PAGE, serve))

    def _serve(self, since: int, entered: int, request: Request) -> None:
        send = self._target.read if request.is_read else self._target.write
        pages = range(request.first, request.first + request.pages)
        send(pages, partial(self._served, since, entered, request.is_read))

    def _served(self, since: int, entered: int, is_read: bool) -> None:
        is_closed = self._setup.iodepth is not None
        if is_closed:
            self.responses[is_read].append(self._clock.now - entered)
        if is_read:
            self._to_host.send(PAGE, lambda: None)
        self._inside -= 1
        self._fetch()

        def completed() -> None:
            if not is_closed and since >= self._setup.ramp:
                self.responses[is_read].append(self._clock.now - since)
            self._to_drive.send(BELL, lambda: None)

        self._to_host.send(COMPLETION, completed)
