"""Place where the simulations of a sweep run, and their share of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.process import cores
from copyback.sweep.memory import share_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback._core import Config
    from copyback.sweep.memory import Share


@dataclass(frozen=True)
class Where:
    """On the cores of this machine, or on the workers of a Dask scheduler.

    Attributes
    ----------
    jobs
        Simulations at once; else one a core, or as many as fit into the memory.
    dask
        Address of a scheduler.
    memory
        Bytes that the processes of a sweep here may hold together; no limit if None.

    Raises
    ------
    InputError
        If a scheduler is named and also what its workers decide.
    """

    jobs: int | None = None
    dask: str | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.dask is None:
            return
        if self.jobs is not None:
            raise InputError("--jobs and --dask: the scheduler's workers say how many run at once")
        if self.memory is not None:
            raise InputError("--memory and --dask: each worker has a limit of its own")

    def share(self, configs: Sequence[Config]) -> Share:
        """Return how many simulations run at once here, and how much each may hold.

        Raises
        ------
        InputError
            If the largest does not fit into the memory.
        """
        return share_of(self.memory, configs, self.jobs or cores())
