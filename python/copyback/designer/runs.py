"""Runs designs with the executor and the store of sweeps, and counts page operations."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from copyback import data as names
from copyback._core import InputError
from copyback.designer.scores import Measured, Refused, RunNumbers, measured
from copyback.designer.study import Length
from copyback.sweep.axes import LOAD, SEED
from copyback.sweep.comparison import run_plan
from copyback.sweep.completion import completed
from copyback.sweep.failures import Failures
from copyback.sweep.plan import Plan, make_plan, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from copyback.designer.space import Design
    from copyback.designer.study import Study
    from copyback.sweep.axes import Point
    from copyback.sweep.plan import Run
    from copyback.sweep.store import Store
    from copyback.sweep.where import Where

#: Result of running a design.
Outcome = Measured | Refused


@dataclass
class Runner:
    """Runs the designs of a study; those that the store holds are not run again.

    Attributes
    ----------
    directory
        Of the store.
    spent
        Page operations of all runs so far, those of an earlier command included.
    """

    study: Study
    directory: Path
    where: Where
    command: str
    on_failed: Callable[[str, Exception], None]
    spent: int = 0
    _numbers: dict[str, RunNumbers] = field(default_factory=dict)
    _runs: list[Run] = field(default_factory=list)

    def check_base(self, base: Design) -> None:
        """Refuse a configuration, workload or short run that is wrong without the space.

        Raises
        ------
        InputError
            With every fault.
        """
        for length in dict.fromkeys((self.study.search_length, Length.FULL)):
            self._planned(self._points(base, length, self.study.seeds))

    def measure(
        self, designs: Sequence[Design], length: Length, seeds: Sequence[int]
    ) -> list[Outcome]:
        """Return what the runs of some designs come to, in their order."""
        planned = [self.plan(design, length, seeds) for design in designs]
        left = self._run([run for own in planned if not isinstance(own, Refused) for run in own])
        return [
            own if isinstance(own, Refused) else self._outcome(design, own, left)
            for design, own in zip(designs, planned, strict=True)
        ]

    def plan(
        self, design: Design, length: Length, seeds: Sequence[int]
    ) -> tuple[Run, ...] | Refused:
        """Return the runs of a design, under each workload with each seed."""
        try:
            return self._planned(self._points(design, length, seeds)).runs
        except InputError as fault:
            # A reason names the key, and no file: a page of results may be for others.
            reason = str(fault).splitlines()[0].partition(": ")[2]
            place = rf"{re.escape(str(self.study.base))}(:\d+)*: "
            return Refused(design, re.sub(f"^{place}", "", reason))

    @property
    def commits(self) -> set[str]:
        """Commits of the checkouts that its runs were run from, those of an earlier command too."""
        return {one.commit for one in self._numbers.values() if one.commit is not None}

    def finish(self) -> None:
        """Write all runs so far as a sweep does: one row a run."""
        keys = dict.fromkeys(key.key for key in self.study.space.keys)
        plan = Plan((LOAD, *keys), tuple(merge(self._runs)), ())
        run_plan(plan, self.directory, self.where, command=self.command, page=False)

    def _points(self, design: Design, length: Length, seeds: Sequence[int]) -> list[Point]:
        return [
            ((LOAD, load.label(length)), *design.point, (SEED, str(seed)))
            for load in self.study.loads
            for seed in seeds
        ]

    def _planned(self, points: Sequence[Point]) -> Plan:
        return make_plan(
            self.study.base,
            points,
            preset=self.study.preset,
            named=self.study.named,
            settings=list(self.study.settings),
            merged=False,
        )

    def _run(self, runs: Sequence[Run]) -> dict[str, str]:
        """Do what is missing; return for the key of each run that failed what ended it."""
        new = list({run.key: run for run in runs if run.key not in self._numbers}.values())
        if not new:
            return {}
        failures = Failures(new, self.on_failed)
        plan = Plan((), tuple(new), ())
        with completed(plan, self.directory, self.where, failures, command=self.command) as done:
            for run in done.plan.runs:
                self._numbers[run.key] = _read(done.store, run)
                self.spent += self._numbers[run.key].operations
        self._runs += done.plan.runs
        reason = "; ".join(failures.sentences())
        return {run.key: reason for run in new if run in failures}

    def _outcome(self, design: Design, runs: Sequence[Run], failed: dict[str, str]) -> Outcome:
        for run in runs:
            if run.key in failed:
                return Refused(design, failed[run.key])
        loads = [
            load for load in self.study.loads for _ in range(len(runs) // len(self.study.loads))
        ]
        numbers = {
            (load.name, run.seed): self._numbers[run.key]
            for load, run in zip(loads, runs, strict=True)
        }
        return measured(self.study, design, numbers)


def _read(store: Store, run: Run) -> RunNumbers:
    summary = json.loads((store.run(run.key) / names.SUMMARY).read_text(encoding="utf-8"))
    return RunNumbers.of(summary, run.resolved)
