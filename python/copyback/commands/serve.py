"""``copyback serve``."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from copyback._core import InputError
from copyback.commands.options import (
    ConfigFile,
    Preset,
    Quiet,
    Seed,
    Setting,
    load,
    settings_in,
    typed,
)

if TYPE_CHECKING:
    from copyback.serve.page import Load
    from copyback.serve.run import Options


def serve(
    config: ConfigFile = None,
    preset: Preset = None,
    setting: Setting = None,
    nbd: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Where clients connect: unix:PATH, tcp:PORT for this machine only, or "
            "tcp:ADDRESS:PORT.",
        ),
    ] = None,
    seed: Seed = None,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Start from a device that `precondition` saved."),
    ] = None,
    slower: Annotated[
        float,
        typer.Option(
            metavar="N",
            help="Let the drive's clock run N times slower than the host's, so that the host's "
            "noise counts N times less.",
        ),
    ] = 1.0,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep the data in this sparse file, not in memory."),
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=OFFSET+LENGTH[@HANDLE]",
            help="Offer a range of the drive under a name; its writes name the placement handle. "
            "May be repeated; else the whole drive has the empty name.",
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Log the requests: `run --trace FILE` gives the same responses."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Leave summary, tables and report at the end (needs --log)."
        ),
    ] = None,
    live: Annotated[
        int | None,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65535,
            help="Show on this machine's PORT how the drive stands while it is served; 0 takes any "
            "that is free.",
        ),
    ] = None,
    open_to_network: Annotated[
        bool,
        typer.Option(
            "--open-to-network", help="Let others than this machine in: there is no password."
        ),
    ] = False,
    status: Annotated[
        Path | None,
        typer.Option(metavar="SOCKET", help="Only tell how the drive served on SOCKET stands."),
    ] = None,
    cut: Annotated[
        Path | None,
        typer.Option(
            metavar="SOCKET",
            help="Only cut the power of the drive served on SOCKET, and of its clients; it needs "
            "ssd.power.cuts=on_command.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Serve a simulated drive, or an array, to real programs as a network block device (NBD)."""
    from copyback.serve.ask import ask

    if status is not None:
        print(ask(status, "status"))
        return
    if cut is not None:
        print(ask(cut, "cut"))
        return
    if nbd is None:
        raise InputError("--nbd: say where clients connect, such as unix:drive.sock")
    if sys.platform != "linux":
        raise InputError("copyback serve: works on Linux only")
    if out is not None and log is None:
        raise InputError(
            "--out makes its page from the log of the requests: say where with --log FILE"
        )
    from copyback.serve.address import address, control_of
    from copyback.serve.address import export as export_of
    from copyback.serve.run import Options

    where = address(nbd, open_to_network=open_to_network)
    options = Options(
        address=where,
        control=control_of(where),
        state=state,
        data=data,
        slower=slower,
        exports=[export_of(text) for text in export or []],
        log=log,
        live=live,
    )
    settings = _settings(setting, seed)
    _serve(lambda more: load(config, preset, [*settings, *more]), options, out, quiet=quiet)


def _settings(setting: list[str] | None, seed: int | None) -> list[tuple[str, str]]:
    from copyback.simulation.simulate import settings_of

    return settings_of(trace=None, format_=None, seed=seed, overrides=settings_in(setting))


def _serve(load_with: Load, options: Options, out: Path | None, *, quiet: bool) -> None:
    from copyback.data import REPORT
    from copyback.data.outputs import Staging
    from copyback.serve import page, told
    from copyback.serve.run import serve as serve_drive
    from copyback.simulation.beforehand import announce
    from copyback.words.console import overview, progress_display, show

    loaded = load_with([])
    announce(loaded)
    with contextlib.ExitStack() as stack:
        # The directory is checked before the drive is served, which may take hours.
        staging = stack.enter_context(Staging(out)) if out is not None else None
        with progress_display(quiet=quiet) as tell:

            def say(uri: str) -> None:
                print(f"Serving {uri} (Ctrl-C ends it)", flush=True)

            def show_live(address: str) -> None:
                print(f"Live page {address}", flush=True)

            found = serve_drive(loaded, options, on_progress=tell, on_open=say, on_live=show_live)
        for line in told.lateness(found["lateness"]):
            print(f"copyback: {line}", file=sys.stderr)
        if options.log is not None:
            print(f"Log          {options.log}")
        if out is not None and staging is not None and found["requests"]:
            result = page.write(load_with, options, found, staging, typed())
            if not quiet:
                show(overview(result))
            print(f"\nReport       {out / REPORT}")
