"""WHERE pages go: placement policies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from copyback.policies.base import Policy, Remembers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Pages = NDArray[np.int64]
    Ages = NDArray[np.int64]
    Numbers = Sequence[int] | NDArray[np.integer] | NDArray[np.bool_]
    Answer = Numbers | int | tuple[Numbers | int, Numbers | int | None]

#: The age of a page that the host has not written, and the time of what does not come.
FOREVER = 1 << 60


class Block(NamedTuple):
    """The life of a block. Times are counted in pages that the host has written to the drive.

    Attributes
    ----------
    number
        Its place in the arrays of `Blocks`.
    class_
        Whose pages it took.
    opened
        When its first page was written.
    sealed
        When it was filled.
    valid
        Its valid pages now.
    """

    number: int
    class_: int
    opened: int
    sealed: int
    valid: int


class Blocks:
    """The blocks of a drive, as arrays with an entry for each, plane after plane.

    The arrays are read-only views of the simulator's own, brought up to date before a policy is
    asked or told anything; they stay the same objects for the whole run.

    Attributes
    ----------
    classes : numpy.ndarray of int16
        The class that a block was opened for; -1 if it is free, or holds pages of no class.
    opened_at : numpy.ndarray of int64
        When its first page was written, in pages that the host had written to the drive; `FOREVER`
        if it has no class.
    sealed_at : numpy.ndarray of int64
        When it was filled; `FOREVER` if it has not been, or is being collected.
    """

    __slots__ = ("classes", "opened_at", "sealed_at")

    classes: NDArray[np.int16]
    opened_at: NDArray[np.int64]
    sealed_at: NDArray[np.int64]


class PlacementPolicy(Remembers, Policy, ABC):
    """A placement: derive from it and write :meth:`place_host` and :meth:`place_moved`.

    Each drive gets an object of its own, made with ``(device, random, **parameters)``; it may
    remember what it likes. The configuration says how many classes there are. Time is counted in
    pages that the host has written to the drive: `now` is the number of those before.

    A page goes to the class that the policy gives it at the moment at which it is written. To be
    asked seldom, it is asked about many pages at a time, and says with their classes until when
    they hold. How many pages come together follows from the run and may change with a version: an
    answer about a page must not depend on the others that it is asked with.

    What has happened is told, in order, before the next question (unless `moves_depend_on_pages`
    says that it may wait). Only what a class overrides is told; a policy that does not need `wrote`
    saves the time that it takes.

    Attributes
    ----------
    blocks : Blocks
        The blocks of the drive; there after `__init__`.
    watched : sequence of int, or None
        The classes of the blocks that `sealed`, `chosen` and `collected` are about; None, unless
        it is overridden: all.
    moves_depend_on_pages : bool
        Whether `place_moved` depends on what `wrote`, `moved` and `trimmed` have told; True, unless
        it is overridden. With False these wait for the next question about pages of the host, or
        for what is told of a block: they are called more seldom, with more pages, which is faster.

    Examples
    --------
    >>> import copyback
    >>> class ByParity(copyback.PlacementPolicy):
    ...     def place_host(self, pages, ages, now, hint):
    ...         return pages % 2, copyback.FOREVER
    ...
    ...     def place_moved(self, pages, ages, now, left):
    ...         return pages % 2, copyback.FOREVER
    """

    blocks: Blocks
    watched: Sequence[int] | None = None
    moves_depend_on_pages: bool = True

    @abstractmethod
    def place_host(self, pages: Pages, ages: Ages, now: int, hint: int | None) -> Answer:
        """Return the classes of pages that the host writes. Required. Decides, and changes nothing.

        Parameters
        ----------
        pages
            Their numbers, none twice: those of a command that have not been written, and of others
            that wait.
        ages
            How long ago the host last wrote each of them; `FOREVER` if it has not.
        now
            The time.
        hint
            The placement handle that the host writes all of them with, if any: that of the trace,
            or of `workload.handles`, which is the number of the flow unless it says otherwise.

        Returns
        -------
        classes, or a tuple of classes and `until`
            A class for each page, as an array or list of whole numbers, or one number for all: of
            the classes that take pages of the host. With `until`, a time for each page or one for
            all, the class is that until then, whatever else the host writes or trims, and
            collections move. Without it, the policy is asked again if anything happens before the
            page is written. A page that has been written, trimmed or moved is asked about anew in
            any case, and all are if `sealed`, `chosen` or `collected` returns True.
        """

    @abstractmethod
    def place_moved(self, pages: Pages, ages: Ages, now: int, left: int | None) -> Answer:
        """Return the classes of pages that a collection moves. Required. Changes nothing, either.

        Parameters
        ----------
        pages
            Their numbers, none twice: valid pages of victims.
        ages
            How long ago the host last wrote each of them; `FOREVER` if that is not known.
        now
            The time.
        left
            The class of the blocks that they leave; None if the placement had no say in these.

        Returns
        -------
        classes, or a tuple of classes and `until`
            As of :meth:`place_host`; each one of the classes that take pages which are moved.
        """

    def wrote(self, pages: Pages, ages: Ages, now: int) -> None:
        """Learn which pages the host has written. Optional.

        Parameters
        ----------
        pages
            Their numbers, in order: the first was written at `now`, each further one a page later.
        ages
            How long before the host had written each of them; `FOREVER` if it had not.
        now
            When the first was written.
        """

    def moved(self, pages: Pages, left: int | None) -> None:
        """Learn which pages collections have moved. Optional.

        Parameters
        ----------
        pages
            Their numbers, in order.
        left
            The class of the blocks that they have left.
        """

    def trimmed(self, pages: Pages, ages: Ages, now: int) -> None:
        """Learn which pages the host has trimmed. Optional.

        Parameters
        ----------
        pages
            Their numbers, in order.
        ages
            How long before the host had written each of them; `FOREVER` if it had not.
        now
            The time.
        """

    def sealed(self, block: Block) -> bool | None:
        """Learn that a block has been filled. Optional.

        Returns
        -------
        bool or None
            True if answers that the policy has given do not hold any more.
        """

    def chosen(self, block: Block, now: int) -> bool | None:
        """Learn that a block has been chosen to be collected. Optional; as :meth:`sealed`."""

    def collected(self, block: Block, now: int) -> bool | None:
        """Learn that a block has been collected: no page is left. Optional; as :meth:`sealed`."""
