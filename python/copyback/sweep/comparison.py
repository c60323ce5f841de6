""":func:`compare`: runs a sweep and returns what it found."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.data import older
from copyback.data.destination import staged_file
from copyback.data.outputs import replace_file
from copyback.data.parquet import read_parquet, write_parquet
from copyback.data.result_directory import ResultDirectory
from copyback.inputs import configuration
from copyback.inputs.arguments import (
    CONFIG,
    COUNT,
    KEYS,
    NUMBER,
    PATH,
    SEEDS,
    SWITCH,
    TEXT,
    TEXTS,
    check,
)
from copyback.inputs.arguments import path as argument_path
from copyback.result import Result
from copyback.sweep.completion import completed
from copyback.sweep.dataset import dataset, varied
from copyback.sweep.design import Design, grid_of, numbered_seeds
from copyback.sweep.failures import Failures
from copyback.sweep.memory import memory_of
from copyback.sweep.page import render
from copyback.sweep.plan import make_plan
from copyback.sweep.schemes import Contest, baseline_of, contests, flow_contests
from copyback.sweep.standings import standings
from copyback.sweep.store import REPORT, RESULTS, WINNERS, described, run_directory
from copyback.sweep.tabular import Tabular
from copyback.sweep.where import Where

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from copyback.frame import Frame
    from copyback.sweep.axes import Point
    from copyback.sweep.plan import Plan


@dataclass(frozen=True, repr=False)
class Comparison(Tabular):
    """Result of a sweep.

    Attributes
    ----------
    directory
        Where it is kept.
    frame
        One row a run: ``run``, the keys that vary, ``seed``, and every number of the summary.
    contests
        The schemes under each load, with means over seeds, differences and their uncertainty.
    flows
        The same by the requests of each flow, where runs have several: `requests.flow` says which.
    reused
        Runs that an earlier sweep into the directory had done.
    refused
        Points that were left out because they make no sense, and why.
    failed
        Points that could not be run, and why: a damaged trace, one that does not fit the drive.
    command
        How the sweep was started.
    """

    directory: Path
    frame: Frame
    contests: tuple[Contest, ...]
    flows: tuple[Contest, ...]
    reused: int
    refused: tuple[str, ...]
    failed: tuple[str, ...]
    command: str

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Comparison:
        """Read what a finished sweep left.

        Raises
        ------
        InputError
            If the directory holds none.
        """
        home = argument_path("Comparison.load", directory, "directory")
        facts = described(home)
        try:
            frame = read_parquet(home / RESULTS)
        except (OSError, InputError):
            raise InputError(
                f"{home / RESULTS}: damaged; run the sweep again, which uses the runs there are"
            ) from None
        refused = tuple(facts["refused"])
        if older.is_older(frame):
            frame, refused = older.renamed(frame), (*refused, older.NOTE)
        of = frame, facts["keys"], facts["baseline"]
        contested, flows = tuple(contests(*of)), tuple(flow_contests(*of))
        failed = tuple(facts.get("failed", ()))
        return cls(home, frame, contested, flows, len(frame), refused, failed, facts["command"])

    def report(self) -> Path:
        """Write the page, self-contained, and the winners beside the results; return where."""
        replace_file(self.directory / WINNERS, standings(self.contests).encode())
        return replace_file(self.directory / REPORT, render(self).encode())

    def _rows(self) -> Frame:
        return self.frame

    def plot(
        self,
        measure: str | None = None,
        *,
        kind: str = "bars",
        over: Sequence[str] = (),
        width: float | None = None,
    ) -> Figure:
        """Draw a measure of the schemes, with 95% intervals over the seeds.

        Parameters
        ----------
        measure
            Such as ``"p99.9"``, ``"mean"`` or ``"WA"``; else the one that the answer is about.
        kind
            ``"bars"``, one a scheme; ``"curve"``, a line a scheme over a key that is a number;
            ``"heat"``, a map over two keys that are numbers.
        over
            The key of a curve, or the keys of a map: across, then up. Else those with most values.
        width
            Inches; else as wide as its panels need.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it. An axis is logarithmic where values differ
            by more than a factor of 10.

        Raises
        ------
        InputError
            If there is no such measure, figure or key; without matplotlib.
        """
        from copyback.figures.of_comparison import of_comparison

        check(
            "Comparison.plot",
            measure=(measure, TEXT.or_none()),
            kind=(kind, TEXT),
            over=(over, TEXTS),
            width=(width, NUMBER.or_none()),
        )
        return of_comparison(self.contests, measure, kind=kind, over=over, width=width)

    def to_latex(self, columns: Sequence[str] | None = None) -> str:
        """Return a table of the schemes for LaTeX, which needs the package ``booktabs``.

        Parameters
        ----------
        columns
            ``"scheme"``, ``"load"``, keys that vary, and measures such as ``"p99.9"`` or ``"WA"``;
            else load and scheme, and what the answer is about.

        Returns
        -------
        str
            Numbers have three significant digits, and 95% intervals where there are several seeds.

        Raises
        ------
        InputError
            If there is no such column.
        """
        from copyback.sweep.latex import latex

        check("Comparison.to_latex", columns=(columns, TEXTS.or_none()))
        return latex(self.contests, columns)

    def __repr__(self) -> str:
        from copyback.sweep.shown import shown

        return shown(self)

    def _repr_html_(self) -> str:
        from copyback.sweep.fragment import render_fragment

        return render_fragment(self.contests)

    def result(self, run: str) -> Result:
        """Return one run.

        Parameters
        ----------
        run
            Its name in the column ``run``.
        """
        check("Comparison.result", run=(run, TEXT))
        return Result.load(run_directory(self.directory, run))


def compare(
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    over: Mapping[str, Sequence[Any]] | None = None,
    seeds: int | Sequence[int] | None = None,
    preset: str | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    memory: str | None = None,
    baseline: Mapping[str, Any] | None = None,
    skip_refused: bool = False,
    progress: bool = False,
    **overrides: Any,
) -> Comparison:
    """Run every combination of some settings, and compare the schemes among them.

    Parameters
    ----------
    config
        A TOML file, or a dictionary of the same shape.
    over
        For each key the values that it takes. ``trace`` is a key whose values are trace files,
        ``workload`` one whose values are names of workload presets.
    seeds
        Run each combination with the seeds 1 to this, or with these; else with the configuration's
        own.
    preset
        Name of a preset, in place of a file or as the base of a dictionary.
    out
        A new or empty directory, or one that holds an earlier sweep, whose runs are used again;
        else a temporary one that lasts as long as what is returned.
    jobs
        Simulations at once; else one a core.
    dask
        Address of a Dask scheduler whose workers run the simulations.
    memory
        What the processes of the sweep may hold together, such as ``"4GiB"``: no more run at once
        than fit.
    baseline
        Settings of the scheme that the others are compared with; else the first.
    skip_refused
        Leave out combinations that the simulator refuses.
    progress
        Show a progress bar on standard error.
    **overrides
        Configuration keys with double underscores for dots.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If the input is at fault: the message has one line a fault. Every configuration and trace
        is checked before the first run. A trace that is wrong takes only its own runs with it:
        `failed` of what is returned names them, and so does a warning.

    Examples
    --------
    >>> import copyback
    >>> found = copyback.compare(
    ...     {"workload": {"type": "synthetic", "requests": 500}},
    ...     over={"ssd.gc.victim": ["greedy", "fifo"]},
    ...     ssd__geometry__blocks_per_plane=32,
    ... )
    >>> found.frame["ssd.gc.victim"].to_list()
    ['greedy', 'fifo']
    """
    from copyback.words.console import counting_display

    check(
        "compare",
        config=(config, CONFIG),
        over=(over, KEYS.or_none()),
        seeds=(seeds, SEEDS.or_none()),
        preset=(preset, TEXT.or_none()),
        out=(out, PATH.or_none()),
        jobs=(jobs, COUNT.or_none()),
        dask=(dask, TEXT.or_none()),
        memory=(memory, TEXT.or_none()),
        baseline=(baseline, KEYS.or_none()),
        skip_refused=(skip_refused, SWITCH),
        progress=(progress, SWITCH),
    )
    where = Where(jobs, dask, memory_of(memory))
    design = Design(
        grid=grid_of(over or {}),
        seeds=numbered_seeds(seeds),
        baseline=tuple(
            (key, configuration.setting_text(key, value)) for key, value in (baseline or {}).items()
        ),
    )
    plan = make_plan(
        config,
        design.points(),
        preset=preset,
        settings=configuration.keyword_settings(overrides),
        skip_refused=skip_refused,
    )
    with (
        ResultDirectory(out, "copyback-sweep-") as home,
        counting_display("Sweep", len(plan.runs), quiet=not progress) as tell,
    ):
        return home.goes_with(
            run_plan(
                plan,
                home.path,
                where,
                baseline=design.baseline,
                command="copyback.compare()",
                on_progress=tell,
                on_failed=lambda text, _: warnings.warn(text, stacklevel=2),
                kept=out is not None,
            )
        )


def run_plan(
    plan: Plan,
    directory: Path,
    where: Where,
    *,
    baseline: Point = (),
    command: str,
    on_progress: Callable[[float], None] = lambda _: None,
    on_failed: Callable[[str, Exception], None] = lambda *_: None,
    kept: bool = True,
    page: bool = True,
) -> Comparison:
    """Do what is missing of a plan, write dataset and page, and return what was found.

    Parameters
    ----------
    page
        Whether to write the page and the winners.
    kept
        Whether the directory outlasts the process.
    on_progress
        Told how many runs there are so far, those of earlier sweeps included, and now and then what
        those under way come to.
    on_failed
        Told a sentence on runs that cannot be done, and the fault; on those with unreadable inputs
        before the first run.

    Raises
    ------
    InputError, SimulationError
        If no run can be done, or what hands them out is lost.
    """
    chosen = baseline_of(varied(plan), baseline)
    failures = Failures(plan.runs, on_failed)
    with completed(
        plan, directory, where, failures, command=command, on_progress=on_progress, kept=kept
    ) as done:
        frame = dataset(done.plan, done.store)
        with staged_file(directory / RESULTS) as partial:
            write_parquet(frame, partial)
        left_out = {"refused": plan.refused, "failed": failures.sentences()}
        about = {"command": command, "keys": plan.keys, "baseline": chosen, **left_out}
        done.store.describe(about)
        of = frame, plan.keys, chosen
        contested, flows = tuple(contests(*of)), tuple(flow_contests(*of))
        reused = done.reused
        found = Comparison(directory, frame, contested, flows, reused, command=command, **left_out)
        if page:
            found.report()
    return found
