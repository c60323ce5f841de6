"""What policies have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


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


class Policy:
    """A policy.

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
