"""Runs of a sweep that could not be done, and why; the others go on without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback._core import InputError, SimulationError
from copyback.sweep.axes import SEED
from copyback.sweep.plan import reasons

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from copyback.sweep.axes import Point
    from copyback.sweep.plan import Run

#: A run, and what ended it.
Failed = tuple["Run", Exception]


class Failures:
    """The runs that failed so far.

    Parameters
    ----------
    runs
        All runs of the sweep.
    on_failed
        Told a sentence, and the fault behind it, for runs that fail together.
    """

    def __init__(self, runs: Sequence[Run], on_failed: Callable[[str, Exception], None]) -> None:
        self._seeds_vary = len({run.seed for run in runs}) > 1
        self._on_failed = on_failed
        self._failed: dict[str, Failed] = {}

    def add(self, failed: Sequence[Failed]) -> None:
        """Take runs that failed together, and tell."""
        self._failed.update({run.key: (run, fault) for run, fault in failed})
        faults = {line: fault for _, fault in failed for line in str(fault).splitlines()}
        for sentence, fault in zip(reasons(self._lines(failed)), faults.values(), strict=True):
            self._on_failed(sentence, fault)

    def __contains__(self, run: Run) -> bool:
        return run.key in self._failed

    def sentences(self) -> tuple[str, ...]:
        """Return each reason once, with what the runs have in common that it ended."""
        return tuple(reasons(self._lines(self._failed.values())))

    def check_some_left(self, runs: Sequence[Run]) -> None:
        """Refuse to go on with no run at all.

        Raises
        ------
        InputError, SimulationError
            If there are none; what was wrong has been told.
        """
        if not runs:
            is_input = all(isinstance(fault, InputError) for _, fault in self._failed.values())
            raise (InputError if is_input else SimulationError)("no run of the sweep can be done")

    def _lines(self, failed: Iterable[Failed]) -> list[tuple[Point, str]]:
        return [
            (self._point(run), line) for run, fault in failed for line in str(fault).splitlines()
        ]

    def _point(self, run: Run) -> Point:
        return (*run.point, (SEED, str(run.seed))) if self._seeds_vary else run.point
