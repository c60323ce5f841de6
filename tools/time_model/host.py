"""The host: requests at their times or one for each that ends, and how long each took."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from time_model.array import Parity, Striped
from time_model.arrival import ArrivalDrive
from time_model.cache import Cache, RecentCache
from time_model.clock import Clock
from time_model.device import Link, Mapped
from time_model.drive import Drive
from time_model.nvme import LinkedHost
from time_model.requests import Requests

AnyDrive = Drive | ArrivalDrive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from time_model.device import Device


class Request(NamedTuple):
    """A request: when it comes (of an open loop; ns), and which pages it reads or writes."""

    time: int
    is_read: bool
    first: int
    pages: int


class Target(Protocol):
    """Whatever serves requests."""

    def read(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Read pages."""

    def write(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Write pages."""


class Port:
    """Where commands enter a drive: it takes its time for each, any number at once."""

    def __init__(self, clock: Clock, inside: Target, device: Device) -> None:
        self._clock = clock
        self._inside = inside
        self._link = device.link or Link(device.overhead, device.overhead, 0, 0)

    def read(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Read pages."""
        end = self._ending(self._link.after_read, on_end)
        self._clock.after(self._link.before_read, lambda: self._inside.read(pages, end))

    def write(self, pages: Sequence[int], on_end: Callable[[], None]) -> None:
        """Write pages."""
        end = self._ending(self._link.after_write, on_end)
        self._clock.after(self._link.before_write, lambda: self._inside.write(pages, end))

    def _ending(self, time: int, on_end: Callable[[], None]) -> Callable[[], None]:
        def ended() -> None:
            self._clock.after(time, on_end)

        return ended if time else on_end


@dataclass(frozen=True)
class Setup:
    """What is simulated.

    Attributes
    ----------
    device, drives, parity, unit
        The drives, how many, whether with parity (RAID-5), and the pages of a stripe unit.
    iodepth
        Requests outstanding of a closed loop, which takes no notice of times; else None.
    filled
        Whether all logical pages have been written once, in order, before the first request.
    queue
        Requests that the drive takes at once; others wait outside.
    ramp
        What comes sooner is not measured; ns.
    """

    device: Device
    drives: int = 1
    parity: bool = False
    unit: int = 1
    iodepth: int | None = None
    filled: bool = True
    queue: int = 65_536
    ramp: int = 0


@dataclass(frozen=True)
class Outcome:
    """Responses of reads and of writes in nanoseconds, and counts of the measured part."""

    reads: list[int]
    writes: list[int]
    counts: Counter[str]


def simulate(setup: Setup, requests: Iterable[Request]) -> Outcome:
    """Run requests on filled drives."""
    clock = Clock()
    kind = Drive if setup.device.mapped is Mapped.AT_SERVICE else ArrivalDrive
    drives: list[AnyDrive] = [kind(clock, setup.device) for _ in range(setup.drives)]
    for drive in drives if setup.filled else []:
        drive.fill()
    clock.arbitrate = partial(_arbitrate, drives)
    target = _target(setup, clock, drives)
    host_kind = _Host if setup.device.mapped is Mapped.AT_SERVICE else LinkedHost
    host = host_kind(setup, clock, drives, target, deque(requests))
    host.begin()
    clock.run(host.is_over)
    counts: Counter[str] = sum((drive.counts for drive in drives), Counter())
    counts.subtract(host.before)
    return Outcome(host.responses[True], host.responses[False], counts)


def _arbitrate(drives: Sequence[AnyDrive]) -> bool:
    """Let every drive look for work, also behind one that has found some."""
    found = [drive.arbitrate() for drive in drives]
    return any(found)


class _Host(Requests):
    def begin(self) -> None:
        """Let the first requests come."""
        if self._setup.iodepth is None:
            self._plan()
            return
        for _ in range(self._setup.iodepth):
            self._clock.after(0, self._next)

    def is_over(self) -> bool:
        """Whether every request has ended: what collections do after that is in no count.

        Drives with buffers come to rest first.
        """
        if self._setup.device.cache_pages:
            return False
        return not self._requests and not self._inside and not self._waiting

    def _next(self) -> None:
        if self._requests:
            request = self._requests.popleft()
            self._begin_to_measure()
            self._come(request)

    def _come(self, request: Request) -> None:
        self._waiting.append((self._clock.now, request))
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._inside < self._setup.queue:
            self._inside += 1
            since, request = self._waiting.popleft()
            pages = range(request.first, request.first + request.pages)
            send = self._target.read if request.is_read else self._target.write
            send(pages, self._ending(since, request.is_read))

    def _ending(self, since: int, is_read: bool) -> Callable[[], None]:
        def end() -> None:
            if since >= self._setup.ramp:
                self.responses[is_read].append(self._clock.now - since)
            self._inside -= 1
            self._admit()
            if self._setup.iodepth is not None:
                self._clock.behind(self._next)

        return end


def _target(setup: Setup, clock: Clock, drives: list[AnyDrive]) -> Target:
    inside: list[Target] = [*drives]
    if setup.device.mapped is Mapped.AT_ARRIVAL:
        (drive,) = drives
        return RecentCache(clock, drive) if setup.device.cache_pages else drive
    if setup.device.cache_pages:
        inside = [Cache(clock, drive) for drive in drives]
    ports = [Port(clock, one, setup.device) for one in inside]
    if setup.drives > 1:
        return (Parity if setup.parity else Striped)(ports, setup.unit)
    return ports[0]
