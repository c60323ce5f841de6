"""Common base of policies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

#: What a policy is made with, and what it only looks at.
NOT_LEARNED = ("device", "array", "random", "blocks")


@dataclass(frozen=True)
class Device:
    """The drive that a policy works for; each drive of an array has a policy of its own.

    Attributes
    ----------
    index
        Which drive of the array, from 0.
    dies
        Dies of the drive.
    planes_per_die
        Planes of a die, striped ones together.
    blocks_per_plane
        Erase blocks of a plane.
    pages_per_block
        Pages of a block that hold data.
    logical_pages
        Pages that have a number; those that hold a demand-paged mapping are behind the host's.
    """

    index: int
    dies: int
    planes_per_die: int
    blocks_per_plane: int
    pages_per_block: int
    logical_pages: int

    @property
    def planes(self) -> int:
        """Planes of the drive."""
        return self.dies * self.planes_per_die


class Remembers:
    """A policy whose memory may be kept in a file."""

    def state(self) -> Any:
        """Return what the policy has learned, to be kept in a file. Optional.

        Unless it is overridden, that is every attribute of the object but `device` or `array`,
        `random` and `blocks`.

        Returns
        -------
        state
            Made of None, bool, int, float, str, bytes, list, tuple, dict and NumPy arrays.
        """
        return {key: it for key, it in vars(self).items() if key not in NOT_LEARNED}

    def restore(self, state: Any) -> None:
        """Remember, newly made, what :meth:`state` has returned. Optional."""
        vars(self).update(state)


class Limited:
    """A policy that has to answer in time.

    Attributes
    ----------
    time_limit : float, or None
        Seconds that one call may take; what takes longer hangs, and ends the run. 60, unless it is
        overridden; None: any time. What hangs inside a function of C is ended once it is back.
    """

    time_limit: float | None = 60.0


class Policy(Limited):
    """A policy of a drive.

    Parameters
    ----------
    device
        The drive that it works for.
    random
        The only source of chance that a policy may use. It follows from the configuration's seed,
        so that the same configuration gives the same results.
    """

    def __init__(self, device: Device, random: np.random.Generator) -> None:
        self.device = device
        self.random = random
