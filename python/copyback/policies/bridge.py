"""Between the simulator and a user's policy: makes it, asks it, checks what it answers."""

from __future__ import annotations

import inspect
import math
import operator
import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback._core import InputError
from copyback.policies.base import Device
from copyback.policies.faults import FAULTS, fault
from copyback.policies.files import file_of
from copyback.policies.keeping import Keeper
from copyback.policies.schedule import Admit, Point, SchedulePolicy, Situation
from copyback.policies.victim import Plane
from copyback.policies.watch import look_after

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from copyback.policies.load import Named

    Column = NDArray[np.generic]

#: The arrays of a plane, in the order in which the simulator hands them over.
COLUMNS = ("closed", "valid_pages", "erase_count", "closed_at", "changed_at")

_POINTS = {point.value: point for point in Point}
_ADMITTED = {
    Admit.NOBODY: (False, False),
    Admit.READS: (True, False),
    Admit.WRITES: (False, True),
    Admit.ALL: (True, True),
}


class Hooks:
    """Hooks of a configuration's policies of one kind, asked for each drive.

    Parameters
    ----------
    named
        The policy.
    """

    def __init__(self, named: Named) -> None:
        self._named = named
        self._class: Any = named.load()
        self._file = file_of(self._class)
        if (seconds := self._time_limit()) is not None:
            look_after(self, self._class, seconds)

    def _time_limit(self) -> float | None:
        """Return how many seconds one call may take; None for any time."""
        found = self._class.time_limit
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        if found is None or (is_number and 0 < found < math.inf):
            return found  # type: ignore[no-any-return]
        raise self.refused(
            f"time_limit: found {_short(found)}; allowed: seconds, above 0, or None for any time"
        )

    def policy(self, device: Device, seed: Sequence[int]) -> Any:
        """Return the policy of a drive."""
        random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
        return self.made(device, random)

    def made(self, works_for: Any, random: np.random.Generator) -> Any:
        """Return the policy of a drive, or of an array."""
        return self.asked("__init__", self._class, works_for, random, **self._named.parameters)

    def source_digest(self) -> str:
        """Return a digest of the source."""
        return self._named.source_digest()

    def asked(self, hook: str, call: Callable[..., Any], *facts: Any, **parameters: Any) -> Any:
        """Return what a hook answers; what it raises is the user's fault."""
        try:
            return call(*facts, **parameters)
        except FAULTS as error:
            raise fault(self._named.about, hook, error, self._file) from error

    def wrong(self, hook: str, answer: Any, allowed: str) -> InputError:
        """Return the fault that an answer is."""
        found = _short(answer)
        code = getattr(inspect.unwrap(getattr(self._class, hook)), "__code__", None)
        place = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
        return self.refused(f"{hook}: found {found}; allowed: {allowed}{place}")

    def refused(self, problem: str) -> InputError:
        """Return the fault that something about the policy is."""
        return InputError(f"{self._named.about}: {problem}")


def _short(answer: Any) -> str:
    """Return whatever it is, in one short line."""
    return " ".join(reprlib.repr(answer).split())


class VictimHooks(Hooks):
    """Victim policies."""

    def make(
        self, device: tuple[int, ...], seed: Sequence[int], columns: Sequence[Column]
    ) -> CalledVictims:
        """Return what the simulator calls of the victim policy of a drive."""
        shape = Device(*device)
        planes = [_plane(shape, index, columns) for index in range(shape.planes)]
        policy = self.policy(shape, seed)
        choose = policy.choose

        def ask(index: int, clock: int) -> int:
            plane = planes[index]
            plane.clock = clock
            block = self.asked("choose", choose, plane)
            return index * shape.blocks_per_plane + self.checked(plane, block)

        return CalledVictims(ask, Keeper(self, policy, columns))

    def checked(self, plane: Plane, answer: Any) -> int:
        """Return the answer, if it is a block that may be chosen."""
        block = _index(answer)
        if block is None or not 0 <= block < len(plane.closed):
            last = len(plane.closed) - 1
            raise self.wrong("choose", answer, f"a closed block of the plane, 0 to {last}")
        if not plane.closed[block]:
            allowed = f"a closed block, of plane {plane.index} now {plane.closed.sum()} of"
            raise self.wrong("choose", answer, f"{allowed} {len(plane.closed)}")
        return block


class CalledVictims:
    """Methods of a victim policy that the simulator calls, by name.

    Parameters
    ----------
    choose
        Chooses the victim of a plane, given its number and its time.
    keeper
        Keeps what the policy has learned.
    """

    def __init__(self, choose: Callable[[int, int], int], keeper: Keeper) -> None:
        self.choose = choose
        self.state, self.restore = keeper.state, keeper.restore


def _index(answer: Any) -> int | None:
    """Return a whole number of Python or NumPy as one of Python; None of anything else."""
    try:
        return operator.index(answer)
    except TypeError:
        return None


def _plane(shape: Device, index: int, columns: Sequence[Column]) -> Plane:
    """Return a plane as views of its part of the drive's arrays."""
    plane = Plane()
    plane.index, plane.clock = index, 0
    first = index * shape.blocks_per_plane
    for name, column in zip(COLUMNS, columns, strict=True):
        view = column[first : first + shape.blocks_per_plane]
        view.flags.writeable = False
        setattr(plane, name, view)
    return plane


class ScheduleHooks(Hooks):
    """Schedule policies."""

    def make(self, device: tuple[int, ...], seed: Sequence[int]) -> CalledSchedule:
        """Return what the simulator calls of the schedule of a drive."""
        policy = self.policy(Device(*device), seed)

        def admitted(die: int, before_write: bool, *rest: Any) -> tuple[bool, bool]:
            situation = Situation(die, _POINTS[before_write], *rest)
            answer = self.asked("admitted", policy.admitted, situation)
            if not isinstance(answer, Admit):
                raise self.wrong("admitted", answer, "a copyback.Admit, such as Admit.READS")
            return _ADMITTED[answer]

        def plane_to_collect(die: int, below: int) -> int:
            planes = tuple(bit for bit in range(below.bit_length()) if below >> bit & 1)
            answer = self.asked("plane_to_collect", policy.plane_to_collect, die, planes)
            plane = _index(answer)
            if plane is None or plane not in planes:
                raise self.wrong("plane_to_collect", answer, f"one of {planes}")
            return plane

        overrides = self._class.plane_to_collect is not SchedulePolicy.plane_to_collect
        choose = plane_to_collect if overrides else None
        return CalledSchedule(admitted, choose, Keeper(self, policy))


class CalledSchedule:
    """Methods of a schedule that the simulator calls, by name.

    Parameters
    ----------
    admitted
        Says who goes first.
    plane_to_collect
        Says which plane is collected, if the policy does.
    keeper
        Keeps what the policy has learned.
    """

    def __init__(
        self,
        admitted: Callable[..., tuple[bool, bool]],
        plane_to_collect: Callable[[int, int], int] | None,
        keeper: Keeper,
    ) -> None:
        self.admitted = admitted
        self.plane_to_collect = plane_to_collect
        self.state, self.restore = keeper.state, keeper.restore
