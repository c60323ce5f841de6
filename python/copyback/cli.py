"""The command line.

Exit status: 0 done; 2 bad input, one line a fault; 1 the machine's own trouble; 130 interrupted.
Modules that take time to import are imported where they are used, so that start-up feels instant.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from copyback import __version__
from copyback._core import InputError, SimulationError
from copyback.papers.app import app as paper_app
from copyback.trace.cli import app as trace_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback._core import Config

app = typer.Typer(
    name="copyback",
    help="Simulate garbage collection in flash SSDs.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
show_app = typer.Typer(help="Show presets, policies, the JSON schema or the reference.")
app.add_typer(show_app, name="show", no_args_is_help=True)
app.add_typer(trace_app, name="trace", no_args_is_help=True)
app.add_typer(paper_app, name="paper", no_args_is_help=True)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"copyback {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version


ConfigFile = Annotated[
    Path | None, typer.Argument(metavar="[CONFIG.toml]", help="The configuration.")
]
Preset = Annotated[
    str | None, typer.Option(metavar="NAME", help="Use a preset in place of a file.")
]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key; may be repeated."),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of every random stream.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Simulations at once; else one a core.")]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Run no more at once than fit into this, such as 4GiB."),
]
DaskAddress = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="Run on the workers of this Dask scheduler."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


@app.command()
def run(
    config: ConfigFile = None,
    preset: Preset = None,
    setting: Setting = None,
    workload: Annotated[
        str | None, typer.Option(metavar="NAME", help="Generate this preset's workload.")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Replay this trace as the workload.")
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Format of the trace; else detected."),
    ] = None,
    lenient: Annotated[
        bool,
        typer.Option("--lenient", help="Skip damaged rows of the trace, and say how many."),
    ] = False,
    job: Annotated[
        Path | None,
        typer.Option("--fio-job", metavar="FILE", help="Do what this job file of fio's asks for."),
    ] = None,
    seed: Seed = None,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Start from a device that `precondition` saved."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Leave summary, tables and report in this directory."),
    ] = None,
    requests: Annotated[
        bool, typer.Option("--requests", help="Also write one row for each request (needs --out).")
    ] = False,
    timeline: Annotated[
        str | None,
        typer.Option(
            metavar="FROM:TO",
            help="Also write what happens in this window of simulated time, such as 1.5s:1.6s, "
            "for the Perfetto or Chrome trace viewer (needs --out).",
        ),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print only the summary, as JSON.")] = False,
    fio_json: Annotated[
        Path | None,
        typer.Option(
            "--fio-json", metavar="FILE", help="Also write results as fio's JSON has them."
        ),
    ] = None,
    hdr_log: Annotated[
        Path | None,
        typer.Option(
            "--hdr-log",
            metavar="FILE",
            help="Also write a histogram of the response times of each second, or of each "
            "metrics.histogram_interval, as an HdrHistogram log.",
        ),
    ] = None,
    audit: Annotated[
        bool, typer.Option("--audit", help="Check every invariant as the run goes; slower.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Simulate a configuration, print a summary, and write a report with --out."""
    from copyback.console import overview, progress_display, show
    from copyback.outputs import Staging, check_file, write_result
    from copyback.result import REPORT
    from copyback.simulate import Driver, settings_of

    if requests and out is None:
        raise InputError("--requests writes a file: say where with --out DIR")
    if timeline is not None and out is None:
        raise InputError("--timeline writes a file: say where with --out DIR")
    overrides = _settings(setting)
    if job is not None:
        if workload is not None or trace is not None:
            raise InputError(f"a job file ({job}) and another workload: give one")
        from copyback.fio import settings_of_job

        of_device = [(key, text) for key, text in overrides if key.split(".")[0] != "workload"]
        device = _load(config, preset, of_device)
        asked, notes = settings_of_job(job, device.capacity_bytes)
        overrides = asked + overrides
        for note in notes:
            print(f"copyback: {note}", file=sys.stderr)
    settings = settings_of(
        workload=workload,
        trace=trace,
        format_=format_,
        lenient=lenient,
        seed=seed,
        audit=audit,
        requests=requests,
        timeline=timeline,
        overrides=overrides,
    )
    loaded = _load(config, preset, settings)
    if hdr_log is not None and not loaded.keeps_latency_log:
        loaded = _load(config, preset, [*settings, ("metrics.histogram_interval", '"1s"')])
    for file in (fio_json, hdr_log):
        if file is not None:
            check_file(file)
    command = _command()
    with contextlib.ExitStack() as stack:
        # The directory is checked before the simulation, which may take hours.
        staging = stack.enter_context(Staging(out)) if out is not None else None
        driver = Driver(loaded, state=state)
        with progress_display(quiet=quiet or json_) as tell:
            if staging is not None:
                result = driver.run_into(staging.path, command, on_progress=tell)
            else:
                log: list[bytes] = []
                driver.run(on_progress=tell, on_text={"latency_log": log.append})
                result = driver.result(command, streams={"latency_log": b"".join(log)})
        if staging is not None:
            write_result(result, staging.path)
            staging.publish()
    if fio_json is not None:
        from copyback.fio import write_fio_json

        write_fio_json(result, fio_json)
    if hdr_log is not None:
        result.write_hdr_log(hdr_log)
    if json_:
        sys.stdout.write(result.summary.to_json())
    else:
        show(overview(result))
        if out is not None:
            print(f"\nReport       {out / REPORT}")


@app.command()
def compare(
    config: ConfigFile = None,
    preset: Preset = None,
    setting: Setting = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=A,B,C",
            help="Run with each of these values; may be repeated for every combination. "
            "trace=FILE,FILE and workload=NAME,NAME replace the workload.",
        ),
    ] = None,
    sweep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What varies: a grid, a list, random draws, named schemes, seeds."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="The quick version that the sweep file describes.")
    ] = False,
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where the sweep file's traces are; else they are relative to it."
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Run each combination with so many seeds.")
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="What the others are compared with; else the first scheme."
        ),
    ] = None,
    skip_refused: Annotated[
        bool,
        typer.Option("--skip-refused", help="Leave out combinations that make no sense."),
    ] = False,
    jobs: Jobs = None,
    memory: Memory = None,
    dask: DaskAddress = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep runs and results here; a sweep that was stopped goes on from here.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run every combination of some settings, and compare the schemes among them."""
    from copyback.sweep.app import Request, compare_and_show
    from copyback.sweep.memory import memory_of
    from copyback.sweep.where import Where

    compare_and_show(
        Request(
            config=config,
            preset=preset,
            settings=_settings(setting),
            over=tuple(over or ()),
            sweep=sweep,
            quick=quick,
            traces=traces,
            seeds=seeds,
            baseline=_settings(baseline),
            skip_refused=skip_refused,
            where=Where(jobs, dask, memory_of(memory)),
            out=out,
            quiet=quiet,
            command=_command(),
        )
    )


@app.command()
def tournament(
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Keep runs and results here; a tournament that was stopped goes on from here.",
        ),
    ],
    part: Annotated[
        list[str] | None, typer.Argument(metavar="[PART]...", help="drives, mappings, arrays.")
    ] = None,
    scale: Annotated[
        Literal["quick", "full"],
        typer.Option(help="quick: small drives, some minutes; full: every choice, for a cluster."),
    ] = "quick",
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            envvar="COPYBACK_TRACES",
            help="Directory of real traces; loads whose trace is not there are left out.",
        ),
    ] = None,
    jobs: Jobs = None,
    memory: Memory = None,
    dask: DaskAddress = None,
    quiet: Quiet = False,
) -> None:
    """Run every sensible combination of schemes, and say which wins where."""
    from copyback import tournament
    from copyback.console import counting_display
    from copyback.sweep.memory import memory_of
    from copyback.sweep.store import REPORT
    from copyback.sweep.where import Where

    where = Where(jobs, dask, memory_of(memory))
    parts = tournament.plans(part or [], quick=scale == "quick", traces=traces)
    page = tournament.run(
        parts,
        out,
        where,
        command=_command(),
        progress=lambda one: counting_display(one.name, len(one.plan.runs), quiet=quiet),
    )
    for one in parts:
        for load in one.absent:
            print(f"Left out     {one.name}: {load}, whose trace is not there (--traces DIR)")
        print(f"Report       {out / one.name / REPORT} ({len(one.plan.runs)} runs)")
    print(f"Winners      {page}")


@app.command()
def precondition(
    save: Annotated[Path, typer.Option(metavar="FILE", help="Where to save the device.")],
    config: ConfigFile = None,
    preset: Preset = None,
    setting: Setting = None,
    seed: Seed = None,
    quiet: Quiet = False,
) -> None:
    """Prepare a device once and save it, for `run --state`."""
    from copyback import units
    from copyback.console import progress_display
    from copyback.simulate import save_state, settings_of

    loaded = _load(
        config,
        preset,
        settings_of(trace=None, format_=None, seed=seed, overrides=_settings(setting)),
    )
    with progress_display(quiet=quiet) as show:
        save_state(loaded, save, on_progress=show)
    if not quiet:
        print(f"Saved {save} ({units.size(save.stat().st_size)})")


@app.command()
def report(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `run --out` or `compare --out` wrote.")
    ],
) -> None:
    """Render the report page of a finished run, or of a comparison, again."""
    from copyback.result import REPORT, Result
    from copyback.sweep.store import is_sweep

    if is_sweep(directory):
        from copyback.sweep import Comparison

        print(Comparison.load(directory).report())
    else:
        print(Result.load(directory).report(directory / REPORT))


@app.command()
def view(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `run --out` or `compare --out` wrote.")
    ],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where to listen; 0 takes any that is free.")
    ] = 8000,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Serve the page of a run, or of a comparison, on this machine until Ctrl-C."""
    from copyback.view import view as serve

    def tell(address: str) -> None:
        print(f"{directory} at {address} (Ctrl-C ends it)", flush=True)

    serve(directory, port=port, browser=browser, tell=tell)


@show_app.command()
def presets(
    names: Annotated[bool, typer.Option("--names", help="Print only the names.")] = False,
) -> None:
    """List the presets: drives, and workloads."""
    from copyback import _core

    drives, workloads = _core.presets(), _core.workload_presets()
    if names:
        print("\n".join(name for name, _, _ in drives + workloads))
        return
    print("Drives (--preset NAME, or preset at the top of a configuration)")
    _print_pairs([(f"  {name}", about) for name, about, _ in drives])
    print("\nWorkloads (--workload NAME, or preset in [workload])")
    _print_pairs([(f"  {name}", about) for name, about, _ in workloads])


@show_app.command()
def preset(name: Annotated[str, typer.Argument(metavar="NAME")]) -> None:
    """Print a preset, a drive or a workload, as TOML."""
    from copyback import _core

    found = {known: toml for known, _, toml in _core.presets() + _core.workload_presets()}
    if name not in found:
        import difflib

        close = difflib.get_close_matches(name, found, n=1)
        hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(found)}"
        raise InputError(f"no preset {name!r}{hint}")
    print(found[name].rstrip("\n"))


@show_app.command()
def policies() -> None:
    """List the choices of every key that has any, and the policies that packages register."""
    from itertools import groupby

    from copyback import _core
    from copyback.policies.load import all_registered

    for index, (key, choices) in enumerate(groupby(_core.policies(), key=lambda policy: policy[0])):
        print(key if index == 0 else f"\n{key}")
        _print_pairs([(f"  {name}", meaning) for _, name, meaning in choices])
    for kind, found in all_registered().items():
        print(f"\n{kind.key} of type python, registered under {kind.group}")
        _print_pairs([(f"  {name}", meaning) for name, meaning in found])


@show_app.command()
def schema() -> None:
    """Print the JSON schema of a configuration."""
    from copyback import _core

    print(_core.json_schema().rstrip("\n"))


@show_app.command()
def reference() -> None:
    """Print the reference of every configuration key, in Markdown."""
    from copyback import _core

    print(_core.reference_markdown().rstrip("\n"))


def _print_pairs(pairs: list[tuple[str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from copyback.console import show

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, meaning in pairs:
        grid.add_row(Text(name), Text(meaning))
    show(grid)


def _settings(texts: list[str] | None) -> list[tuple[str, str]]:
    from copyback.configuration import parse_setting

    return [parse_setting(text) for text in texts or []]


def _load(config: Path | None, preset_name: str | None, settings: list[tuple[str, str]]) -> Config:
    from copyback.configuration import load

    return load(config, preset=preset_name, settings=settings)


def _command() -> str:
    """Return this command as one can type it again."""
    return shlex.join(["copyback", *sys.argv[1:]])


class _Stopped(BaseException):
    """A signal asked us to stop: unwind, so that nothing half-written stays."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextlib.contextmanager
def _stop_cleanly() -> Iterator[None]:
    def stop(number: int, _frame: Any) -> NoReturn:
        raise _Stopped(number)

    # A signal that our parent told us to ignore (nohup, a background job) stays ignored.
    previous = {
        number: signal.signal(number, stop)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _complain(text: str) -> None:
    lines = [line for line in text.splitlines() if line.strip()] or ["unknown trouble"]
    with contextlib.suppress(OSError, ValueError):
        for line in lines:
            print(f"copyback: error: {line}", file=sys.stderr)


def _close_stdout() -> None:
    """Point standard output at nothing, so that flushing it at exit cannot fail again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _status(arguments: list[str]) -> int:
    """Run the command line and return its exit status."""
    command = typer.main.get_command(app)
    try:
        with _stop_cleanly():
            status = command.main(arguments, prog_name="copyback", standalone_mode=False)
            sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except InputError as fault:
        _complain(str(fault))
        return 2
    except _Stopped as stopped:
        _complain("interrupted" if stopped.number == signal.SIGINT else "terminated")
        return 128 + stopped.number
    except BrokenPipeError:
        # Whoever read our output has seen enough (`copyback ... | head`).
        _close_stdout()
        return 0
    except SystemExit as leave:
        if isinstance(leave.__context__, BrokenPipeError):  # Typer turns it into status 1
            _close_stdout()
            return 0
        return leave.code if isinstance(leave.code, int) else 1
    except Exception as trouble:
        usage = getattr(trouble, "format_message", None)
        if usage is not None:
            text = usage()
            if not text:  # no arguments at all: the help has been printed
                return 2
            _complain(" ".join(text.split()))
            return 2
        if os.environ.get("COPYBACK_DEBUG"):
            raise
        _complain(_machine_trouble(trouble))
        return 1


def _machine_trouble(trouble: Exception) -> str:
    if isinstance(trouble, SimulationError):
        return str(trouble)
    if isinstance(trouble, MemoryError):
        return "out of memory"
    if isinstance(trouble, OSError) and trouble.strerror:
        where = f"{trouble.filename}: " if trouble.filename else ""
        return f"{where}{trouble.strerror}"
    first = (str(trouble).splitlines() or [""])[0]
    return f"internal error: {type(trouble).__name__}: {first} (COPYBACK_DEBUG=1 shows where)"


def main() -> NoReturn:
    """Run the command line."""
    status = _status(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _close_stdout()
    sys.exit(status)
