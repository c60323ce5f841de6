"""Keeping of a policy's memory, on its way to a file and back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.policies.state import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from copyback._core import InputError
    from copyback.policies.bridge import Hooks


class Keeper:
    """Writes down what a policy has learned, and where its chance stands.

    Parameters
    ----------
    hooks
        Where the policy comes from.
    policy
        The policy.
    columns
        What it was told, in arrays that a file has to hold, too.
    """

    def __init__(
        self, hooks: Hooks, policy: Any, columns: Sequence[NDArray[np.generic]] = ()
    ) -> None:
        self._hooks = hooks
        self._policy = policy
        self._columns = columns

    def state(self) -> bytes:
        """Return what the policy has learned."""
        learned = self._hooks.asked("state", self._policy.state)
        chance = json.dumps(self._policy.random.bit_generator.state)
        written = self._hooks.asked("state", packed, learned)
        return packed([self._hooks.source_digest(), chance, written, *self._columns])

    def restore(self, data: bytes) -> None:
        """Remember what a file tells.

        Raises
        ------
        InputError
            If another text of the class has told it.
        """
        try:
            source, chance, learned, *columns = unpacked(data)
            self._take(columns)
        except ValueError:
            raise self._damaged() from None
        if source != self._hooks.source_digest():
            raise self._hooks.refused(
                "the file was written with another text of the policy; expected one that was "
                "written with this: prepare the device again, or run from the start"
            )
        self._policy.random.bit_generator.state = json.loads(chance)
        self._hooks.asked("restore", self._policy.restore, unpacked(learned))

    def _take(self, told: Sequence[Any]) -> None:
        """Take what the policy was told."""
        for column, saved in zip(self._columns, told, strict=True):
            if not isinstance(saved, np.ndarray) or saved.dtype != column.dtype:
                raise ValueError("another column")
            column[:] = saved

    def _damaged(self) -> InputError:
        return self._hooks.refused("the file is damaged: expected one as saved")
