"""MAY I collect: coordinators of arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from copyback.policies.base import Limited, Remembers

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np


@dataclass(frozen=True)
class Array:
    """The array that a coordinator works for.

    Attributes
    ----------
    drives
        Drives.
    speaking
        The drives that send and understand messages, by number from 0: all but those of
        ``array.protocol.silent``, and lost ones that are not rebuilt.
    register_threshold
        Free blocks of a plane below which a drive says that it runs short
        (``array.protocol.register_margin``).
    target
        Free blocks of a plane at which a collection that was ordered is done, as configured
        (``array.protocol.target_margin``).
    most_blocks
        Most blocks of a plane that are collected in a round, as configured
        (``array.protocol.round``); None if there is no limit.
    reserve
        Free blocks of a plane that is full of data: no collection gets further.
    latency_ns
        Time that a message takes, either way.
    """

    drives: int
    speaking: tuple[int, ...]
    register_threshold: int
    target: int
    most_blocks: int | None
    reserve: int
    latency_ns: int


class Moment(NamedTuple):
    """When a coordinator is told something.

    Attributes
    ----------
    time_ns
        Simulated time since the start of the run, in nanoseconds.
    outstanding
        Requests in the array.
    """

    time_ns: int
    outstanding: int


class RunsShort(NamedTuple):
    """A drive says: a plane has fallen below the register threshold.

    Attributes
    ----------
    writable
        Bytes that the drive can still be sent to write, by its estimate, before it must collect.
    """

    writable: int


class MustCollect(NamedTuple):
    """A drive says: a plane has fallen below ``ssd.gc.soft_threshold``, and is being collected."""


class Done(NamedTuple):
    """A drive says: what it was ordered to collect is collected, or it has been stopped.

    Attributes
    ----------
    runs_short
        Whether a plane is still below the register threshold.
    """

    runs_short: bool


class State(NamedTuple):
    """A drive says how it stands, because it was asked.

    Attributes
    ----------
    below_register
        Planes below the register threshold.
    free_blocks_min
        Fewest free blocks of a plane.
    """

    below_register: int
    free_blocks_min: int


Message = RunsShort | MustCollect | Done | State


class Collect(NamedTuple):
    """An order to a drive: collect the planes that have fewer free blocks.

    A drive that can gain nothing says at once that it is done.

    Attributes
    ----------
    drive
        Which drive.
    free_blocks
        Until each plane has so many free blocks, 1 to ``Array.reserve``. None: until all of the
        reserve is free, nothing invalid is left, or a request comes to the drive.
    at_most
        So many blocks of a plane at most; None: as many as it takes.
    regardless
        Whether each plane collects at least one block, whether it needs to or not.
    """

    drive: int
    free_blocks: int | None
    at_most: int | None = None
    regardless: bool = False


class Stop(NamedTuple):
    """An order to a drive: collect no more than must be."""

    drive: int


class Report(NamedTuple):
    """An order to a drive: say how you stand, in a message `State`."""

    drive: int


Order = Collect | Stop | Report


class CoordinationPolicy(Remembers, Limited, ABC):
    """A coordinator of an array: derive from it and write :meth:`heard`.

    The controller of an array has one, made with ``(array, random, **parameters)``. It is told what
    drives say, and returns orders to drives. Each message and each order takes
    ``array.protocol.latency``. Whatever it orders or does not, a drive collects by itself when a
    plane has fewer free blocks than ``ssd.gc.soft_threshold``.

    Of the methods but :meth:`heard`, only those that a class overrides are called.

    Attributes
    ----------
    array : Array
        The array.
    random : numpy.random.Generator
        The only source of chance that a policy may use; it follows from the configuration's seed.
    wake_at : int or None
        When :meth:`wake` is to be called, in nanoseconds of simulated time: later than now. It is
        looked at after each method, and is None again when :meth:`wake` is called.

    Examples
    --------
    >>> import copyback
    >>> from copyback.policies import Collect, RunsShort
    >>> class AllTogether(copyback.CoordinationPolicy):
    ...     def heard(self, drive, message, moment):
    ...         if isinstance(message, RunsShort):
    ...             return [Collect(one, self.array.target) for one in self.array.speaking]
    """

    wake_at: int | None = None

    def __init__(self, array: Array, random: np.random.Generator) -> None:
        self.array = array
        self.random = random

    @abstractmethod
    def heard(self, drive: int, message: Message, moment: Moment) -> Iterable[Order] | None:
        """Return orders, once a message has arrived. Required.

        Parameters
        ----------
        drive
            The drive that has sent it.
        message
            A `RunsShort`, `MustCollect`, `Done` or `State`.
        moment
            The time, and the requests in the array.

        Returns
        -------
        orders
            `Collect`, `Stop` and `Report`, in the order of sending; None for none.
        """

    def wake(self, moment: Moment) -> Iterable[Order] | None:
        """Return orders at the time `wake_at`. Optional."""

    def became_busy(self, moment: Moment) -> Iterable[Order] | None:
        """Return orders when the first request is in an array that had none. Optional."""

    def became_quiet(self, moment: Moment) -> Iterable[Order] | None:
        """Return orders when the last request has left the array. Optional."""

    def sent(self, drive: int, size: int) -> None:
        """Learn that `size` bytes have been sent to a drive to be written. Optional."""

    def instant_ends(self, moment: Moment) -> Iterable[Order] | None:
        """Return orders at the end of an instant, after all else. Optional.

        Called each time that something has happened in a drive, or to a request.
        """
