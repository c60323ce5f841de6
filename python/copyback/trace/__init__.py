"""Traces as files: what is in one, and one written in another format.

Both take a trace or a configuration, whose workload counts as one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback._core import Conversion, InputError, Survey, trace_target
from copyback.inputs import configuration, typed
from copyback.inputs.arguments import CONFIG, PATH, SWITCH, TEXT, TEXTS, check
from copyback.inputs.arguments import path as argument_path
from copyback.simulation.driver import Pace
from copyback.simulation.simulate import settings_of
from copyback.trace.statistics import TraceStatistics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from copyback._core import Config, Progress

#: What has a configuration's name; anything else is a trace.
CONFIGURATION = ".toml"

#: Kinds of requests that a format may not know, and that may be left out.
DROPPABLE = ("trim", "flush")


class TraceInfo(TraceStatistics, kw_only=True):
    """Statistics of a workload, under the keys of ``copyback trace info --json``.

    Sizes are in bytes, times in the unit that the key names. What can't be known of so few
    requests, or without arrival times, is None.
    """

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page of plots, which opens offline, and return where.

        Parameters
        ----------
        path
            The HTML file to write.
        """
        from copyback.data.outputs import replace_file
        from copyback.trace.report import render

        return replace_file(argument_path("report", path), render(self).encode("utf-8"))


def trace_info(
    source: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    preset: str | None = None,
    format: str | None = None,  # noqa: A002 - the command line's --format
    lenient: bool = False,
    progress: bool = False,
    **overrides: Any,
) -> TraceInfo:
    """Return statistics of a trace, or of the workload of a configuration.

    One pass; memory grows with the footprint, not with the number of requests.

    Parameters
    ----------
    source
        A trace, a configuration (``.toml``), or a dictionary of its shape.
    preset
        Name of a preset, in place of a file.
    format
        Format of the trace; detected if not given.
    lenient
        Skip damaged rows of the trace; `notes` says how many and which first.
    progress
        Show a progress bar on standard error.
    **overrides
        Configuration keys with double underscores for dots, such as ``workload__limit=1000``.

    Returns
    -------
    TraceInfo

    Raises
    ------
    InputError
        If the input is at fault: the message has one line a fault.
    SimulationError
        If the machine or the simulator is.

    Examples
    --------
    >>> import copyback
    >>> info = copyback.trace_info({"workload": {"type": "synthetic", "requests": 1000}})
    >>> info.requests, info.operations.read.count + info.operations.write.count
    (1000, 1000)
    """
    check(
        "trace_info",
        source=(source, CONFIG),
        preset=(preset, TEXT.or_none()),
        format=(format, TEXT.or_none()),
        lenient=(lenient, SWITCH),
        progress=(progress, SWITCH),
    )
    settings = configuration.keyword_settings(overrides)
    workload = Workload.of(
        source, preset=preset, format_=format, lenient=lenient, settings=settings
    )
    from copyback.words.console import progress_display

    with progress_display(quiet=not progress) as show:
        return survey(workload, on_progress=show)


def convert_trace(
    source: str | os.PathLike[str] | Mapping[str, Any] | None,
    output: str | os.PathLike[str],
    *,
    preset: str | None = None,
    format: str | None = None,  # noqa: A002 - the command line's --format
    lenient: bool = False,
    to: str | None = None,
    drop: tuple[str, ...] = (),
    progress: bool = False,
    **overrides: Any,
) -> list[str]:
    """Write a trace in another format, or the workload of a configuration as a trace.

    The file appears whole or not at all.

    Parameters
    ----------
    source
        A trace, a configuration (``.toml``), or a dictionary of its shape.
    output
        The file to write. Its extension names the format and the compression: ``x.parquet``,
        ``x.msr.gz``.
    preset
        Name of a preset, in place of a file.
    format
        Format of the trace that is read; detected if not given.
    lenient
        Skip damaged rows of the trace; what is returned says how many and which first.
    to
        Format to write, if the extension does not name it.
    drop
        Kinds of requests to leave out if the format cannot hold them: ``"trim"``, ``"flush"``.
    progress
        Show a progress bar on standard error.
    **overrides
        Configuration keys with double underscores for dots, such as ``workload__limit=1000``.

    Returns
    -------
    list of str
        What got lost and what else is worth knowing, one sentence each.

    Raises
    ------
    InputError
        If the input is at fault, or the format cannot hold a request.
    SimulationError
        If the machine or the simulator is.
    """
    check(
        "convert_trace",
        source=(source, CONFIG),
        output=(output, PATH),
        preset=(preset, TEXT.or_none()),
        format=(format, TEXT.or_none()),
        lenient=(lenient, SWITCH),
        to=(to, TEXT.or_none()),
        drop=(drop, TEXTS),
        progress=(progress, SWITCH),
    )
    settings = configuration.keyword_settings(overrides)
    workload = Workload.of(
        source, preset=preset, format_=format, lenient=lenient, settings=settings
    )
    from copyback.words.console import progress_display

    with progress_display(quiet=not progress) as show:
        return convert(workload, Path(output), to=to, drop=drop, on_progress=show)


class Workload:
    """A workload to read, and the device it is for, if any.

    Parameters
    ----------
    config
        The configuration whose workload it is.
    unlimited
        Whether it is a trace by itself, to be read without the bounds of a device.
    """

    def __init__(self, config: Config, *, unlimited: bool) -> None:
        self.config = config
        self.unlimited = unlimited

    @classmethod
    def of(
        cls,
        source: str | os.PathLike[str] | Mapping[str, Any] | None,
        *,
        preset: str | None = None,
        format_: str | None = None,
        lenient: bool = False,
        settings: list[tuple[str, str]],
    ) -> Workload:
        """Return the workload of a trace, of a configuration or of a preset."""
        named = os.fspath(source) if isinstance(source, str | os.PathLike) else None
        if named is not None and not named.endswith(CONFIGURATION):
            if preset is not None:
                raise InputError(f"a trace ({named}) and a preset ({preset}): give one")
            trace = "/dev/stdin" if named == "-" else named
            settings = settings_of(
                trace=trace, format_=format_, lenient=lenient, seed=None, overrides=settings
            )
            return cls(configuration.read({}, settings=settings), unlimited=True)
        settings = settings_of(
            trace=None, format_=format_, lenient=lenient, seed=None, overrides=settings
        )
        return cls(configuration.read(source, preset=preset, settings=settings), unlimited=False)


def survey(workload: Workload, *, on_progress: Callable[[Progress], None]) -> TraceInfo:
    """Return the statistics of a workload."""
    task = Survey(workload.config, workload.unlimited)
    pace = Pace()
    while not pace.advance(task):
        on_progress(task.progress())
    return typed.decode(task.summary(), TraceInfo)


def convert(
    workload: Workload,
    output: Path,
    *,
    to: str | None,
    drop: tuple[str, ...],
    on_progress: Callable[[Progress], None],
) -> list[str]:
    """Write a workload as a trace, whole or not at all; return what got lost."""
    from copyback.data.destination import staged_file

    for kind in drop:
        if kind not in DROPPABLE:
            raise InputError(f"--drop {kind}: expected {' or '.join(DROPPABLE)}")
    trace_target(output, to)
    with staged_file(output) as partial:
        task = Conversion(
            workload.config,
            workload.unlimited,
            partial,
            output,
            to,
            drop_trims="trim" in drop,
            drop_flushes="flush" in drop,
        )
        pace = Pace()
        while not pace.advance(task):
            on_progress(task.progress())
        return task.finish()
