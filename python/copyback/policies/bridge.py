"""Between the simulator and a user's policy: makes it, asks it, checks what it answers.

All kinds of policies are made, kept, limited and refused alike, by `Hooks`. A kind says what its
policies are made with and what the simulator calls.
"""

from __future__ import annotations

import inspect
import math
import operator
import reprlib
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from copyback._core import InputError
from copyback.policies.base import Device
from copyback.policies.faults import FAULTS, fault
from copyback.policies.files import file_of
from copyback.policies.keeping import Keeper
from copyback.policies.schedule import Admit, Point, Situation
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
    """Hooks of a configuration's policies of one kind, asked for each drive or array.

    Parameters
    ----------
    named
        The policy.
    """

    #: What the facts that a policy is made with become.
    made_with: ClassVar[Callable[..., Any]] = Device
    #: Whether what it sees in arrays is kept with what it has learned.
    keeps_columns: ClassVar[bool] = False

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

    def make(
        self, facts: Sequence[Any], seed: Sequence[int], columns: Sequence[Column]
    ) -> tuple[Any, Keeper]:
        """Return what the simulator calls of the policy of a drive or array, and its memory."""
        random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
        works_for = self.made_with(*facts)
        policy = self.asked("__init__", self._class, works_for, random, **self._named.parameters)
        called = self.called(policy, works_for, columns)
        return called, Keeper(self, policy, columns if self.keeps_columns else ())

    def called(self, policy: Any, works_for: Any, columns: Sequence[Column]) -> Any:
        """Return the methods of a policy that the simulator calls, by name."""
        raise NotImplementedError

    def overrides(self, hook: str) -> bool:
        """Whether the class of the policy has a hook of its own."""
        return getattr(self._class, hook) is not getattr(self._named.kind.base, hook)

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


def whole(answer: Any) -> int | None:
    """Return a whole number of Python or NumPy as one of Python; None of anything else."""
    try:
        return operator.index(answer)
    except TypeError:
        return None


def read_only(owner: Any, names: Sequence[str], columns: Sequence[Column], part: slice) -> None:
    """Give an object its part of each array, to look at."""
    for name, column in zip(names, columns, strict=True):
        view = column[part]
        view.flags.writeable = False
        setattr(owner, name, view)


class VictimHooks(Hooks):
    """Victim policies."""

    keeps_columns = True

    def called(self, policy: Any, device: Device, columns: Sequence[Column]) -> CalledVictims:
        """Return the methods of a victim policy that the simulator calls."""
        planes = [_plane(device, index, columns) for index in range(device.planes)]
        choose = policy.choose

        def ask(index: int, clock: int) -> int:
            plane = planes[index]
            plane.clock = clock
            block = self.asked("choose", choose, plane)
            return index * device.blocks_per_plane + self.checked(plane, block)

        return CalledVictims(ask)

    def checked(self, plane: Plane, answer: Any) -> int:
        """Return the answer, if it is a block that may be chosen."""
        block = whole(answer)
        if block is None or not 0 <= block < len(plane.closed):
            last = len(plane.closed) - 1
            raise self.wrong("choose", answer, f"a closed block of the plane, 0 to {last}")
        if not plane.closed[block]:
            allowed = f"a closed block, of plane {plane.index} now {plane.closed.sum()} of"
            raise self.wrong("choose", answer, f"{allowed} {len(plane.closed)}")
        return block


class CalledVictims(NamedTuple):
    """Methods of a victim policy that the simulator calls, by name.

    Attributes
    ----------
    choose
        Chooses the victim of a plane, given its number and its time.
    """

    choose: Callable[[int, int], int]


def _plane(shape: Device, index: int, columns: Sequence[Column]) -> Plane:
    """Return a plane as views of its part of the drive's arrays."""
    plane = Plane()
    plane.index, plane.clock = index, 0
    first = index * shape.blocks_per_plane
    read_only(plane, COLUMNS, columns, slice(first, first + shape.blocks_per_plane))
    return plane


class ScheduleHooks(Hooks):
    """Schedule policies."""

    def called(self, policy: Any, _device: Device, _: Sequence[Column]) -> CalledSchedule:
        """Return the methods of a schedule that the simulator calls."""

        def admitted(die: int, before_write: bool, *rest: Any) -> tuple[bool, bool]:
            situation = Situation(die, _POINTS[before_write], *rest)
            answer = self.asked("admitted", policy.admitted, situation)
            if not isinstance(answer, Admit):
                raise self.wrong("admitted", answer, "a copyback.Admit, such as Admit.READS")
            return _ADMITTED[answer]

        def plane_to_collect(die: int, below: int) -> int:
            planes = tuple(bit for bit in range(below.bit_length()) if below >> bit & 1)
            answer = self.asked("plane_to_collect", policy.plane_to_collect, die, planes)
            plane = whole(answer)
            if plane is None or plane not in planes:
                raise self.wrong("plane_to_collect", answer, f"one of {planes}")
            return plane

        return CalledSchedule(
            admitted, plane_to_collect if self.overrides("plane_to_collect") else None
        )


class CalledSchedule(NamedTuple):
    """Methods of a schedule that the simulator calls, by name.

    Attributes
    ----------
    admitted
        Says who goes first.
    plane_to_collect
        Says which plane is collected, if the policy does.
    """

    admitted: Callable[..., tuple[bool, bool]]
    plane_to_collect: Callable[[int, int], int] | None
