"""Runs a simulation: :func:`run`, and prepares drives: :func:`precondition`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback._core import Config, InputError, Preparation, Progress, time_ns
from copyback.inputs import configuration
from copyback.inputs.arguments import CONFIG, COUNT, PATH, SWITCH, TEXT, WHOLE, check
from copyback.inputs.layers import Layer, plain
from copyback.process import cores
from copyback.simulation.beforehand import check_memory
from copyback.simulation.checkpoint import Checkpoint, seconds
from copyback.simulation.driver import Driver, Pace, suppliers_of
from copyback.simulation.prepared import Start
from copyback.words.units import time_us

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from copyback.result import Result


def settings_of(
    *,
    workload: str | None = None,
    trace: str | os.PathLike[str] | None,
    format_: str | None,
    lenient: bool = False,
    seed: int | None = None,
    audit: bool = False,
    requests: bool = False,
    timeline: str | None = None,
    overrides: list[tuple[str, str]],
) -> list[tuple[str, str]]:
    """Return overrides and the dedicated arguments as settings.

    A trace or a preset replaces the workload, so it comes before the overrides, which may tell more
    of it; the other arguments come last.
    """
    if workload is not None and trace is not None:
        raise InputError(f"a trace ({trace}) and a workload ({workload}): give one")
    settings = []
    if trace is not None:
        settings = configuration.trace_settings(trace, format_)
        asked = configuration.trace_settings(trace, None)
        _check_kept(f"the trace {os.fspath(trace)}", asked, overrides)
    if workload is not None:
        settings = configuration.workload_settings(workload)
        _check_kept(f"the workload {workload}", settings, overrides)
    settings += overrides
    if trace is None and format_ is not None:
        settings.append(("workload.format", configuration.to_toml(format_)))
    if lenient:
        settings.append(("workload.lenient", "true"))
    if seed is not None:
        settings.append(("seed", str(seed)))
    if audit:
        settings.append(("audit", "true"))
    if requests:
        settings.append(("metrics.requests", "true"))
    if timeline is not None:
        settings.append(("metrics.timeline", configuration.to_toml(window(timeline))))
    return settings


def _check_kept(
    name: str, settings: list[tuple[str, str]], overrides: list[tuple[str, str]]
) -> None:
    """Refuse overrides that would leave nothing of the workload that is asked for."""
    asked = Layer(name, tuple(settings))
    for override in plain(overrides):
        if override.takes_the_place_of(asked):
            raise InputError(f"{override.name}: replaces {name}; give one of them")


def window(text: str) -> dict[str, str]:
    """Return the window of time that ``FROM:TO`` names; either may be left out.

    >>> window("1.5s:1.6s")
    {'from': '1.5s', 'to': '1.6s'}
    """
    begin, colon, end = (part.strip() for part in text.partition(":"))
    if not colon:
        raise InputError(f"--timeline {text}: FROM:TO is needed, such as 1.5s:1.6s or :20ms")
    return {key: time for key, time in (("from", begin), ("to", end)) if time}


def missed_by_run(result: Result) -> str | None:
    """Return what to do where a run ended before its timeline begins; None if it did not."""
    begin = result.config["metrics"]["timeline"].get("from")
    end_us = result.summary.throughput.simulated_s * 1e6
    if begin is None or time_ns(begin) / 1e3 < end_us:
        return None
    return (
        f"found {begin}, and the run ended at {time_us(end_us)}, so that timeline.json.gz shows "
        "nothing; allowed: a window that begins before the end"
    )


def run(
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    preset: str | None = None,
    workload: str | None = None,
    trace: str | os.PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the command line's --format
    lenient: bool = False,
    seed: int | None = None,
    state: str | os.PathLike[str] | None = None,
    requests: bool = False,
    audit: bool = False,
    bound: bool = False,
    timeline: str | None = None,
    threads: int | None = None,
    cache: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: str = "5min",
    progress: bool = False,
    **overrides: Any,
) -> Result:
    """Simulate one configuration.

    The GIL is released while the simulation runs, so several threads run several at once.

    Parameters
    ----------
    config
        A TOML file, or a dictionary of the same shape.
    preset
        Name of a preset, in place of a file or as the base of a dictionary.
    workload
        Name of a workload preset that takes the place of the configured workload.
    trace
        A block trace that takes its place.
    format
        Format of the trace; detected if not given.
    lenient
        Skip damaged rows of the trace; `Result.summary.notes` says how many and which first.
    seed
        Seed of every random stream.
    state
        A device that :func:`precondition` prepared; preconditioning is skipped.
    requests
        Keep one row for each request, in `Result.requests`.
    audit
        Check every invariant as the run goes; slower.
    bound
        Also run an oracle for placement, which knows when each page dies, with 6, 16 and as many
        classes as fit the spare: `Result.summary.bound` says how good write amplification could
        get, or why that can't be told.
    timeline
        A window of simulated time, such as ``"1.5s:1.6s"``: keep all that happens in it, in
        `Result.timeline`.
    threads
        Drives of an array that are worked on at the same time; one a core if None. The result is
        the same. They are prepared so, and run so where one has nothing to do with another: under
        an open loop on RAID-0 or JBOD, without coordination.
    cache
        Keep the prepared drive for the next run with the same, and start from one that was kept
        (``copyback cache``). The result is the same.
    checkpoint
        A file that the run is written to as it goes, and when it is interrupted (Ctrl-C). If it is
        there, the run goes on from it, and returns what a run without interruption returns. It is
        removed at the end.
    checkpoint_every
        Time from one such writing to the next.
    progress
        Show a progress bar on standard error.
    **overrides
        Configuration keys with double underscores for dots: ``ssd__gc__victim="fifo"``.

    Returns
    -------
    Result

    Raises
    ------
    InputError
        If the input is at fault: the message has one line a fault.
    SimulationError
        If the machine or the simulator is.

    Examples
    --------
    >>> import copyback
    >>> result = copyback.run(
    ...     {"workload": {"type": "synthetic", "requests": 1000}},
    ...     ssd__geometry__blocks_per_plane=64,
    ...     ssd__gc__victim={"type": "rga", "d": 10},
    ... )
    >>> result.summary.requests["count"]
    1000
    """
    check(
        "run",
        config=(config, CONFIG),
        preset=(preset, TEXT.or_none()),
        workload=(workload, TEXT.or_none()),
        trace=(trace, PATH.or_none()),
        format=(format, TEXT.or_none()),
        lenient=(lenient, SWITCH),
        seed=(seed, WHOLE.or_none()),
        state=(state, PATH.or_none()),
        requests=(requests, SWITCH),
        audit=(audit, SWITCH),
        bound=(bound, SWITCH),
        timeline=(timeline, TEXT.or_none()),
        threads=(threads, COUNT.or_none()),
        checkpoint=(checkpoint, PATH.or_none()),
        checkpoint_every=(checkpoint_every, TEXT),
        progress=(progress, SWITCH),
    )
    settings = settings_of(
        workload=workload,
        trace=trace,
        format_=format,
        lenient=lenient,
        seed=seed,
        audit=audit,
        requests=requests,
        timeline=timeline,
        overrides=configuration.keyword_settings(overrides),
    )
    loaded = configuration.load(config, preset=preset, settings=settings)
    from copyback.serve.facts import replayed

    if more := replayed(loaded):
        loaded = configuration.load(config, preset=preset, settings=[*settings, *more])
    saved = Path(state) if state is not None else None
    kept = None
    if checkpoint is not None:
        kept = Checkpoint(Path(checkpoint), every_s=seconds(checkpoint_every))
    driver = Driver(
        loaded,
        state=saved,
        threads=threads or cores(),
        checkpoint=kept,
        start=Start.of(loaded) if cache else None,
    )
    from copyback.words.console import progress_display

    with progress_display(quiet=not progress) as show:
        result = driver.run_in_memory("copyback run config.toml", on_progress=show)
    if bound:
        from copyback.simulation.bound import bound as bound_of

        result.summary.bound = bound_of(
            loaded,
            state=saved,
            threads=threads or cores(),
            display=lambda: progress_display(quiet=not progress),
        )
    if kept is not None:
        kept.remove()
    return result


def precondition(
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    save: str | os.PathLike[str],
    preset: str | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: bool = False,
    **overrides: Any,
) -> Path:
    """Prepare a device and save it, for ``run(..., state=...)``.

    Parameters
    ----------
    config
        A TOML file, or a dictionary of the same shape.
    save
        The file to write.
    preset
        Name of a preset, in place of a file or as the base of a dictionary.
    seed
        Seed of every random stream.
    threads
        Drives of an array that are prepared at the same time; one a core if None. The file is the
        same.
    progress
        Show a progress bar on standard error.
    **overrides
        Configuration keys with double underscores for dots.

    Returns
    -------
    pathlib.Path
        The file written.

    Raises
    ------
    InputError
        If the input is at fault: the message has one line a fault.
    SimulationError
        If the machine or the simulator is.
    """
    check(
        "precondition",
        config=(config, CONFIG),
        save=(save, PATH),
        preset=(preset, TEXT.or_none()),
        seed=(seed, WHOLE.or_none()),
        threads=(threads, COUNT.or_none()),
        progress=(progress, SWITCH),
    )
    settings = settings_of(
        trace=None,
        format_=None,
        seed=seed,
        overrides=configuration.keyword_settings(overrides),
    )
    loaded = configuration.load(config, preset=preset, settings=settings)
    from copyback.words.console import progress_display

    with progress_display(quiet=not progress) as show:
        return save_state(loaded, Path(save), on_progress=show, threads=threads or cores())


def save_state(
    config: Config,
    path: Path,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    threads: int = 1,
) -> Path:
    """Prepare a device and write its state to `path`, whole or not at all.

    Parameters
    ----------
    on_progress
        Told after each slice.
    threads
        Drives of an array that are prepared at the same time; the file is the same.
    """
    from copyback.data.destination import check_file, staged_file

    check_file(path)
    check_memory(config)
    suppliers = suppliers_of(config)
    preparation = Preparation(config, suppliers, 1 if suppliers else threads)
    pace = Pace()
    while not pace.advance(preparation):
        on_progress(preparation.progress())
    with staged_file(path) as partial:
        preparation.save(partial)
    return path
