"""Serves the page of a run or of a comparison on this machine, for a browser on it."""

from __future__ import annotations

import contextlib
import webbrowser
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO

from copyback._core import InputError
from copyback.again import Again
from copyback.result import REPORT, SUMMARY, Result
from copyback.sweep.store import RUNS, described, is_sweep
from copyback.sweep.why import WHY, keeps_slowest

if TYPE_CHECKING:
    import io
    from collections.abc import Callable

#: Nobody but this machine may look.
HOST = "127.0.0.1"

#: What a browser on this machine calls it.
NAMES = (HOST, "localhost")


#: One page is made at a time.
_making = Lock()

_again = Again()


class _Handler(SimpleHTTPRequestHandler):
    """Serves the files of a directory to this machine's browser, its page first; lists nothing."""

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        # A name that leads here is not enough: a page of another site may have made it do so.
        if self.headers.get("Host", "").partition(":")[0] not in NAMES:
            self.send_error(HTTPStatus.FORBIDDEN, f"Only {' and '.join(NAMES)} are served")
            return None
        if self.path.partition("?")[0].partition("#")[0] in {"", "/"}:
            self.path = f"/{REPORT}"
        if self._leads_to_why():
            return None
        self._make_page_of_run()
        if not self._is_ours(Path(self.translate_path(self.path))):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def _make_page_of_run(self) -> None:
        """Write the page of a sweep's run that is asked for, if it has none yet."""
        home = Path(self.directory)
        path = Path(self.translate_path(self.path))
        run = path.parent
        if path.name != REPORT or path.exists() or not is_sweep(home) or run.parent != home / RUNS:
            return
        with _making, contextlib.suppress(InputError):
            Result.load(run).report(path)

    def _leads_to_why(self) -> bool:
        """Answer who asks why requests of a sweep's run were late, unless that page is there."""
        home = Path(self.directory)
        path = Path(self.translate_path(self.path))
        run = path.parent.parent
        is_asked = path.name == REPORT and path.parent.name == WHY and run.parent == home / RUNS
        if not is_asked or path.exists() or not (is_sweep(home) and self._is_ours(run / SUMMARY)):
            return False
        if keeps_slowest(run):
            self.send_response(HTTPStatus.FOUND)
            self.send_header("Location", f"/{RUNS}/{run.name}/{REPORT}#late")
            self.end_headers()
            return True
        page = _again.page(run).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(page)
        return True

    def _is_ours(self, path: Path) -> bool:
        """Whether a path is a file of the directory, also once links are followed."""
        return path.is_file() and path.resolve().is_relative_to(Path(self.directory).resolve())

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
