"""``copyback run`` and ``copyback precondition``."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import Annotated

import typer

from copyback._core import InputError
from copyback.commands.options import (
    ConfigFile,
    Lenient,
    Preset,
    Quiet,
    Seed,
    Setting,
    Threads,
    Trace,
    TraceFormat,
    Workload,
    load,
    settings_in,
    typed,
)


def run(
    config: ConfigFile = None,
    preset: Preset = None,
    setting: Setting = None,
    workload: Workload = None,
    trace: Trace = None,
    format_: TraceFormat = None,
    lenient: Lenient = False,
    job: Annotated[
        Path | None,
        typer.Option("--fio-job", metavar="FILE", help="Do what this job file of fio's asks for."),
    ] = None,
    fio_scale: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="The job file is for a drive so many times as large: divide its sizes, amounts "
            "and times by N.",
        ),
    ] = 1,
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
    bound: Annotated[
        bool,
        typer.Option(
            "--bound",
            help="Also run an oracle for placement, which knows when each page dies, with 6, 16 "
            "and as many classes as fit: how good write amplification could get.",
        ),
    ] = False,
    audit: Annotated[
        bool, typer.Option("--audit", help="Check every invariant as the run goes; slower.")
    ] = False,
    threads: Threads = None,
    cache: Annotated[
        bool,
        typer.Option(
            "--cache/--no-cache",
            help="Keep the prepared drive for the next run with the same, and start from one that "
            "was kept (copyback cache). Same result.",
        ),
    ] = True,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the run to this file as it goes and when it is interrupted; if the file is "
            "there, go on from it. It is removed at the end.",
        ),
    ] = None,
    checkpoint_every: Annotated[
        str | None,
        typer.Option(
            "--checkpoint-every",
            metavar="TIME",
            help="Time from one such writing to the next, such as 30s; else 5min.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Simulate a configuration, print a summary, and write a report with --out."""
    from copyback.data import REPORT
    from copyback.data.destination import check_file
    from copyback.data.outputs import Staging, write_result
    from copyback.inputs.origins import named
    from copyback.process import checkout, cores
    from copyback.serve.facts import replayed
    from copyback.simulation.beforehand import announce
    from copyback.simulation.checkpoint import EVERY_S, Checkpoint, seconds
    from copyback.simulation.driver import Driver
    from copyback.simulation.prepared import Start
    from copyback.simulation.simulate import missed_by_run, settings_of
    from copyback.words.console import overview, progress_display, show

    if requests and out is None:
        raise InputError("--requests writes a file: say where with --out DIR")
    if timeline is not None and out is None:
        raise InputError("--timeline writes a file: say where with --out DIR")
    if checkpoint_every is not None and checkpoint is None:
        raise InputError("--checkpoint-every writes a file: say which with --checkpoint FILE")
    every_s = EVERY_S if checkpoint_every is None else seconds(checkpoint_every)
    overrides = settings_in(setting)
    notes: tuple[str, ...] = ()
    if fio_scale > 1 and job is None:
        raise InputError("--fio-scale scales a job file: say which with --fio-job FILE")
    if job is not None:
        if workload is not None or trace is not None:
            raise InputError(f"a job file ({job}) and another workload: give one")
        from copyback.fio import handles_of, settings_of_job

        of_device = [(key, text) for key, text in overrides if key.split(".")[0] != "workload"]
        device = load(config, preset, of_device)
        asked, notes = settings_of_job(job, device.capacity_bytes, handles_of(device), fio_scale)
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
    options = {
        "seed": f"--seed {seed}",
        "workload.format": f"--format {format_}",
        "workload.lenient": "--lenient",
        "metrics.timeline": f"--timeline {timeline}",
    }
    files = {} if job is None else {"workload": str(job)}
    with named(options, files, [key for key, _ in settings_in(setting)]):
        loaded = load(config, preset, settings)
    more = replayed(loaded)
    if hdr_log is not None and not loaded.keeps_latency_log:
        more.append(("metrics.histogram_interval", '"1s"'))
    if more:
        loaded = load(config, preset, [*settings, *more])
    for file in (fio_json, hdr_log):
        if file is not None:
            check_file(file)
    kept = None if checkpoint is None else Checkpoint(checkpoint, every_s=every_s)
    announce(loaded)
    command = typed()
    with contextlib.ExitStack() as stack:
        # The directory is checked before the simulation, which may take hours.
        staging = stack.enter_context(Staging(out)) if out is not None else None
        driver = Driver(
            loaded,
            state=state,
            notes=notes,
            threads=threads or cores(),
            checkpoint=kept,
            start=Start.of(loaded) if cache else None,
            # To ask git takes as long as a short run; what is only printed names no commit.
            commit=checkout.commit if out or json_ or fio_json else lambda: None,
        )
        with progress_display(quiet=quiet or json_) as tell:
            if staging is not None:
                result = driver.run_into(staging.path, command, on_progress=tell)
            else:
                log: list[bytes] = []
                driver.run(on_progress=tell, on_text={"latency_log": log.append})
                result = driver.result(
                    command,
                    streams={"latency_log": b"".join(log)},
                    measured=fio_json is not None,
                )
        if bound:
            from copyback.simulation.bound import bound as bound_of

            result.summary.bound = bound_of(
                loaded,
                state=state,
                threads=threads or cores(),
                display=lambda: progress_display(quiet=quiet or json_),
            )
        if staging is not None:
            write_result(result, staging.path)
            staging.publish()
            result = result.moved_to(staging.target)
    if fio_json is not None:
        from copyback.fio import write_fio_json

        write_fio_json(result, fio_json)
    if timeline is not None and (missed := missed_by_run(result)) is not None:
        print(f"copyback: --timeline {timeline}: {missed}", file=sys.stderr)
    if hdr_log is not None:
        result.write_hdr_log(hdr_log)
    if kept is not None:
        kept.remove()
    if json_:
        sys.stdout.write(result.summary.to_json())
    else:
        show(overview(result, told=notes))
        if out is not None:
            print(f"\nReport       {out / REPORT}")


def precondition(
    save: Annotated[Path, typer.Option(metavar="FILE", help="Where to save the device.")],
    config: ConfigFile = None,
    preset: Preset = None,
    setting: Setting = None,
    workload: Workload = None,
    trace: Trace = None,
    format_: TraceFormat = None,
    lenient: Lenient = False,
    seed: Seed = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Prepare a device once and save it, for `run --state`."""
    from copyback.data.destination import written
    from copyback.process import cores
    from copyback.simulation.beforehand import announce
    from copyback.simulation.simulate import save_state, settings_of
    from copyback.words.console import progress_display

    loaded = load(
        config,
        preset,
        settings_of(
            workload=workload,
            trace=trace,
            format_=format_,
            lenient=lenient,
            seed=seed,
            overrides=settings_in(setting),
        ),
    )
    announce(loaded)
    with progress_display(quiet=quiet) as show:
        save_state(loaded, save, on_progress=show, threads=threads or cores())
    if not quiet:
        print(f"Saved {written(save)}")
