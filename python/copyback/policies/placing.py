"""Between the simulator and a user's placement: makes it, says what is wrong with its answers."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback._core import InputError
from copyback.policies.bridge import Hooks, read_only
from copyback.policies.faults import FAULTS, fault
from copyback.policies.placement import Block, Blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from copyback.policies.base import Device
    from copyback.policies.bridge import Column

#: What a policy is told only if its class says what to do then.
TOLD = ("wrote", "moved", "trimmed", "sealed", "chosen", "collected")


class PlacementHooks(Hooks):
    """Placements."""

    def called(self, policy: Any, _: Device, columns: Sequence[Column]) -> Called:
        """Return the methods of a placement that the simulator calls."""
        policy.blocks = Blocks()
        read_only(policy.blocks, Blocks.__slots__, columns, slice(None))
        return Called(self, policy)

    def failed(self, hook: str, error: BaseException) -> BaseException:
        """Return the fault that an exception in a hook is; what is no error stays as it is."""
        if isinstance(error, InputError) or not isinstance(error, FAULTS):
            return error
        return fault(self._named.about, hook, error, self._file)


class Called:
    """The methods of a placement that the simulator calls, by name.

    Parameters
    ----------
    hooks
        Where it comes from.
    policy
        The placement.
    """

    block = Block

    def __init__(self, hooks: PlacementHooks, policy: Any) -> None:
        self.place_host = policy.place_host
        self.place_moved = policy.place_moved
        for hook in TOLD:
            setattr(self, hook, getattr(policy, hook) if hooks.overrides(hook) else None)
        self.watched = hooks.asked("watched", _as_list, policy.watched)
        self.moves_depend_on_pages = hooks.asked(
            "moves_depend_on_pages", bool, policy.moves_depend_on_pages
        )
        self.failed = hooks.failed
        self.wrong = hooks.wrong
        self.numbers = numbers


def numbers(answer: Any) -> NDArray[np.int64] | None:
    """Return whole numbers of whatever form as an array of one dimension; None of anything else."""
    try:
        array = np.asarray(answer)
    except ValueError:
        return None
    if array.ndim != 1 or (array.dtype.kind not in "biu" and array.size):
        return None
    return array.astype(np.int64)


def _as_list(watched: Sequence[int] | None) -> list[int] | None:
    """Return classes as numbers of Python."""
    return None if watched is None else [operator.index(class_) for class_ in watched]
