"""WHO is collected: victim policies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from copyback.policies.base import Policy, Remembers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Plane:
    """The blocks of a plane, as arrays with an entry for each, and the plane's time.

    The arrays are read-only views of the simulator's own, brought up to date when a block of the
    plane is to be chosen; they stay the same objects for the whole run. Time is counted in
    changes of the plane's blocks (a block is filled, or loses a page), so that it also runs while a
    drive is prepared.

    Attributes
    ----------
    index : int
        Which plane of the drive, from 0.
    clock : int
        The time, in changes.
    closed : numpy.ndarray of bool
        Whether the block is full of data and may be chosen. Free blocks, and those being filled or
        collected, may not.
    valid_pages : numpy.ndarray of uint16
        Pages that have to be moved if the block is chosen. A block that is not closed counts as one
        whose pages are all valid, with nothing to gain. Where a mapping binds logical pages to
        blocks, the pages that a merge moves for each block that it gives back.
    erase_count : numpy.ndarray of uint32
        How often the block had been erased when it was last filled.
    closed_at : numpy.ndarray of uint64
        When the block was last filled, in changes.
    changed_at : numpy.ndarray of uint64
        When the block last lost a page, or was filled, in changes.
    """

    __slots__ = (
        "changed_at",
        "clock",
        "closed",
        "closed_at",
        "erase_count",
        "index",
        "valid_pages",
    )

    index: int
    clock: int
    closed: NDArray[np.bool_]
    valid_pages: NDArray[np.uint16]
    erase_count: NDArray[np.uint32]
    closed_at: NDArray[np.uint64]
    changed_at: NDArray[np.uint64]


class VictimPolicy(Remembers, Policy, ABC):
    """A victim policy: derive from it and write :meth:`choose`.

    Each drive gets an object of its own, made with ``(device, random, **parameters)``. It may
    remember what it likes.

    Examples
    --------
    >>> import copyback
    >>> class LeastWorn(copyback.VictimPolicy):
    ...     def choose(self, plane):
    ...         worth = plane.closed & (plane.valid_pages < self.device.pages_per_block)
    ...         blocks = worth.nonzero()[0]
    ...         return blocks[plane.erase_count[blocks].argmin()]
    """

    @abstractmethod
    def choose(self, plane: Plane) -> int | np.integer:
        """Return the block of `plane` to collect next. Required.

        Asked once for each collection, while the drive is prepared and while it runs, when some
        closed block of the plane has a page that need not be moved.

        Parameters
        ----------
        plane
            The plane that is to be collected.

        Returns
        -------
        int
            The block's place in the plane's arrays. It must be closed. All of its pages may be
            valid; nothing is gained then, and the plane is collected again.
        """
