"""WHEN collections yield: schedule policies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum, Flag
from typing import TYPE_CHECKING, NamedTuple

from copyback.policies.base import Policy, Remembers

if TYPE_CHECKING:
    from collections.abc import Sequence


class Admit(Flag):
    """Requests of the host that go first: ``Admit.READS | Admit.WRITES`` is ``Admit.ALL``."""

    NOBODY = 0
    READS = 1
    WRITES = 2
    ALL = 3


class Point(Enum):
    """Point that a collection has reached.

    Attributes
    ----------
    BETWEEN_MOVES
        Before a page is read, or a block erased: nothing is in the registers.
    BEFORE_WRITE
        Before a page is written: it is in the register, and a read of another page must wait. Asked
        about only with ``inside_moves = true``, or if pages are moved over the channel.
    """

    BETWEEN_MOVES = False
    BEFORE_WRITE = True


class Situation(NamedTuple):
    """A die whose collection is due, or stands between two of its flash operations.

    Attributes
    ----------
    die
        Which die of the drive, from 0.
    point
        Where the collection stands.
    time_ns
        Simulated time since the start of the run, in nanoseconds.
    waiting_reads
        Page reads of the host that wait for the die.
    waiting_writes
        Page writes of the host that wait for the die, or for any.
    free_blocks
        Free blocks of the plane of the die that has the fewest.
    pages_left
        Valid pages that the collection still has to move; 0 before it begins.
    steps
        Moves and erases that collections have begun on the die since an operation of the host last
        did.
    below_hard
        Whether a plane that is short of space has fewer free blocks than ``hard_threshold``.
    write_finds_no_block
        Whether a write waits that no plane can take before a block has been reclaimed.
    """

    die: int
    point: Point
    time_ns: int
    waiting_reads: int
    waiting_writes: int
    free_blocks: int
    pages_left: int
    steps: int
    below_hard: bool
    write_finds_no_block: bool


class SchedulePolicy(Remembers, Policy, ABC):
    """A schedule policy: derive from it and write :meth:`admitted`.

    Each drive gets an object of its own, made with ``(device, random, **parameters)``. It may
    remember what it likes.

    Examples
    --------
    >>> import copyback
    >>> class ReadsFirst(copyback.SchedulePolicy):
    ...     def admitted(self, situation):
    ...         return copyback.Admit.READS
    """

    @abstractmethod
    def admitted(self, situation: Situation) -> Admit:
        """Return who goes before the next operation of a collection. Required.

        Asked while requests of the host wait. Those admitted are served one after the other, and
        this is asked again each time; the collection goes on when nobody is left who is admitted
        and can be served. One that always admits everybody still ends: a write that finds no free
        block cannot be served.

        Parameters
        ----------
        situation
            The die and its collection.
        """

    def plane_to_collect(self, die: int, planes: Sequence[int]) -> int:
        """Return the plane of a die to collect next. Optional: else they take turns.

        Parameters
        ----------
        die
            Which die of the drive, from 0.
        planes
            Those of its planes that are short of space and have not been looked at, counted inside
            the die from 0; at least one.

        Returns
        -------
        int
            One of `planes`.
        """
        raise NotImplementedError
