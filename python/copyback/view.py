"""Serves the page of a run or of a comparison on this machine, for a browser on it."""

from __future__ import annotations

import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.result import REPORT, Result
from copyback.sweep.store import described, is_sweep

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Nobody but this machine may look.
HOST = "127.0.0.1"


class _Handler(SimpleHTTPRequestHandler):
    """Serves a directory, its page first, and keeps quiet."""

    def do_GET(self) -> None:
        if self.path in {"", "/"}:
            self.path = f"/{REPORT}"
        super().do_GET()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        del format, args


def view(directory: Path, *, port: int, browser: bool, tell: Callable[[str], None] = print) -> None:
    """Serve the page of a directory until interrupted.

    Parameters
    ----------
    directory
        What `run --out` or `compare --out` wrote.
    port
        Where to listen; 0 takes any that is free.
    browser
        Whether to open the page in a browser.
    tell
        Told the address.

    Raises
    ------
    InputError
        If the directory holds no page, or the port cannot be used.
    """
    check(directory)
    try:
        server = ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(directory)))
    except OSError as fault:
        raise InputError(f"--port {port}: cannot be used: {fault.strerror}") from None
    with server:
        address = f"http://{HOST}:{server.server_port}/"
        tell(address)
        if browser:
            webbrowser.open(address)
        server.serve_forever()


def check(directory: Path) -> None:
    """Refuse a directory that holds no page of ours."""
    if is_sweep(directory):
        described(directory)
    else:
        Result.load(directory)
    if not (directory / REPORT).is_file():
        raise InputError(f"{directory}: has no {REPORT}; `copyback report {directory}` writes it")
