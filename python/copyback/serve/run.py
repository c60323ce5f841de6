"""Serves a drive until it is told to end, and says how that went."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from copyback import __version__
from copyback.data.destination import check_file, staged_file
from copyback.inputs.configuration import resolved
from copyback.serve.log import LogWriter
from copyback.simulation.beforehand import check_memory
from copyback.simulation.driver import Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from copyback._core import Config, Progress, Server
    from copyback.serve.live import Seen

#: How often, in seconds, what the server leaves is taken.
_TAKES_EVERY = 0.2

#: Signals that end a server.
_ENDS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Options:
    """Options of a served drive."""

    address: str
    control: str | None = None
    state: Path | None = None
    data: Path | None = None
    slower: float = 1.0
    exports: list[tuple[str, int, int, int | None]] = field(default_factory=list)
    log: Path | None = None
    live: int | None = None


def serve(
    config: Config,
    options: Options,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_open: Callable[[str], None] = lambda _: None,
    on_live: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Serve a drive until SIGINT or SIGTERM; return how it stood at the end.

    Parameters
    ----------
    on_progress
        Told how far the drive is prepared.
    on_open
        Told the address, once clients may come.
    on_live
        Told the address of the live page, if there is one.
    """
    check_memory(config)
    if options.log is not None:
        check_file(options.log)
    # There is none on other systems.
    from copyback._core import Server

    server = Server(config, options.state)
    pace = Pace()
    while not pace.advance(server):
        on_progress(server.progress())
    uri = server.open(
        options.address,
        options.control,
        options.data,
        options.slower,
        options.exports,
        options.log is not None,
        options.live is not None,
    )
    with (
        _log(options) as writer,
        _shown(config, options, uri) as shown,
        _ended_by_signals() as wants_end,
    ):
        on_open(uri)
        seen = None
        if shown is not None:
            seen, address = shown
            on_live(address)
        fault = _attend(server, wants_end, writer, seen)
        status: dict[str, Any] = json.loads(server.status())
        if writer is not None:
            cuts = json.loads(server.cuts())
            writer.close(_facts(config, options, status, cuts))
    if fault is not None:
        raise fault
    return status


def _facts(
    config: Config, options: Options, status: dict[str, Any], cuts: list[dict[str, int]]
) -> dict[str, Any]:
    """Return what a replay has to know."""
    return {
        "version": __version__,
        "drive": config.drive_digest,
        "state": config.state_digest,
        "seed": config.seed,
        "slower": options.slower,
        "begun_unix_ns": status["begun_unix_ns"],
        "cuts": cuts,
        "lateness": status["lateness"],
    }


@contextlib.contextmanager
def _shown(config: Config, options: Options, uri: str) -> Iterator[tuple[Seen, str] | None]:
    """Yield what the live page shows and its address, if there is one."""
    if options.live is None:
        yield None
        return
    from copyback.serve.live import Seen, page, shown

    seen = Seen()
    text = page(resolved(config), uri, options.slower)
    with shown(seen, text, options.live) as address:
        yield seen, address


def _attend(
    server: Server, wants_end: threading.Event, writer: LogWriter | None, seen: Seen | None
) -> Exception | None:
    """Let a thread serve, and take what it leaves; return why it failed, if it did."""
    faults: list[Exception] = []

    def work() -> None:
        try:
            server.serve()
        except Exception as fault:
            faults.append(fault)

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        if wants_end.wait(_TAKES_EVERY):
            server.end()
            thread.join()
        try:
            _take(server, writer, seen)
        except Exception as fault:
            faults.append(fault)
            server.end()
            thread.join()
    if not faults:
        _take(server, writer, seen)
    return faults[0] if faults else None


def _take(server: Server, writer: LogWriter | None, seen: Seen | None) -> None:
    for line in server.take_lines():
        print(f"copyback: {line}", file=sys.stderr, flush=True)
    for rows in server.take_log():
        if writer is not None:
            writer.add(rows)
    if seen is not None:
        seen.add(json.loads(server.take_watched()), json.loads(server.status()))


@contextlib.contextmanager
def _log(options: Options) -> Iterator[LogWriter | None]:
    if options.log is None:
        yield None
        return
    names_handles = any(handle is not None for *_, handle in options.exports)
    with staged_file(options.log) as partial:
        yield LogWriter(partial, names_handles=names_handles)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[threading.Event]:
    """Yield what is set by a signal that ends a server."""
    wants_end = threading.Event()
    previous = {
        number: signal.signal(number, lambda *_: wants_end.set())
        for number in _ENDS
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield wants_end
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
