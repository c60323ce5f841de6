"""Serves the page of a run, a comparison or a study on this machine, for a browser on it."""

from __future__ import annotations

import webbrowser
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import parse_qs, quote, urlsplit

from copyback._core import InputError
from copyback.data import REPORT, SUMMARY
from copyback.designer.left import is_study, left
from copyback.inputs import policy_names
from copyback.process import stopping
from copyback.report import render
from copyback.report.again import Again
from copyback.report.guard import HOST, REFUSED, Token, is_own_name
from copyback.report.try_design import ADDRESS, TryDesign
from copyback.result import Result
from copyback.sweep.store import RUNS, described, is_sweep
from copyback.sweep.why import WHY, keeps_slowest

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Sequence

#: Most bytes of a form; ours have a token.
_MOST_FORM = 1024

#: Most settings of a design that is asked for.
_MOST_SETTINGS = 200

#: Pages of the folder have an origin of their own: their scripts run, but read nothing from here.
SANDBOX = "sandbox allow-scripts allow-downloads"

#: No other page may show ours and lead a click to its button.
UNFRAMED = "frame-ancestors 'none'"

#: One page is made at a time.
_making = Lock()


class _Handler(SimpleHTTPRequestHandler):
    """Serves the files of a directory to this machine's browser, its page first; lists nothing.

    GET and HEAD change nothing and begin nothing. A POST lets a run of a sweep be done again, or a
    design of a study be run.
    """

    token: Token
    again: Again
    tries: TryDesign
    #: What a browser lets the answer do. Only the page with the token is not of the folder.
    policy = SANDBOX

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", self.policy)
        super().end_headers()

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        if not is_own_name(self.headers["Host"]):
            self.send_error(HTTPStatus.FORBIDDEN, REFUSED)
            return None
        if self.path.partition("?")[0].partition("#")[0] in {"", "/"}:
            self.path = f"/{REPORT}"
        path = Path(self.translate_path(self.path))
        if (design := self._design()) is not None:
            self.policy = UNFRAMED
            self._answer(self.tries.page(design))
            return None
        if self._is_ours(path):
            return super().send_head()
        if (run := self._late_run(path)) is not None:
            self._say_why(run)
        elif (run := self._run(path)) is not None:
            self._show(run)
        else:
            self.send_error(HTTPStatus.NOT_FOUND)
        return None

    def do_POST(self) -> None:
        run = self._late_run(Path(self.translate_path(self.path)))
        design = self._design()
        if run is None and design is None:
            self.send_error(HTTPStatus.NOT_FOUND)
        elif not (is_own_name(self.headers["Host"]) and self._is_allowed()):
            self.send_error(HTTPStatus.FORBIDDEN, "Only a page of this server may begin work")
        elif run is not None:
            self.again.begin(run)
            self._lead_to(f"/{RUNS}/{quote(run.name)}/{WHY}/{REPORT}#late")
        elif design is not None:
            self.tries.begin(design)
            self._lead_to(self.path)

    def _is_allowed(self) -> bool:
        """Whether a form has the token of this server, and comes from a page of it."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal() and int(length) <= _MOST_FORM):
            return False
        form = parse_qs(self.rfile.read(int(length)).decode("ascii", "replace"))
        given = form.get("token", [""])[-1]
        port = self.connection.getsockname()[1]
        return self.token.allows(given, self.headers["Origin"], port)

    def _design(self) -> list[str] | None:
        """Return the settings of the design of this study that is asked for; None if none is."""
        asked = urlsplit(self.path)
        if asked.path != ADDRESS or not is_study(Path(self.directory)):
            return None
        if asked.query.count("&") >= _MOST_SETTINGS:
            return None
        return parse_qs(asked.query).get("set", [])

    def _run(self, page: Path) -> Path | None:
        """Return the run of this sweep whose page that is; None if there is none."""
        home, run = Path(self.directory), page.parent
        is_page = page.name == REPORT and run.parent == home / RUNS
        return run if is_page and is_sweep(home) and self._is_ours(run / SUMMARY) else None

    def _late_run(self, page: Path) -> Path | None:
        """Return the run of this sweep of which a page says why its requests were late."""
        is_asked = page.name == REPORT and page.parent.name == WHY
        return self._run(page.parents[1] / REPORT) if is_asked else None

    def _show(self, run: Path) -> None:
        """Answer with the page of a run, made of what the run has left."""
        try:
            with _making:
                page = render(Result.load(run))
        except InputError as fault:
            self.send_error(HTTPStatus.NOT_FOUND, explain=str(fault))
        else:
            self._answer(page)

    def _say_why(self, run: Path) -> None:
        """Answer who asks why requests of a run were late, which no page tells yet."""
        if keeps_slowest(run):
            self._lead_to(f"/{RUNS}/{quote(run.name)}/{REPORT}#late")
        else:
            self.policy = UNFRAMED
            self._answer(self.again.page(run))

    def _lead_to(self, address: str) -> None:
        asked = self.command == "POST"
        self.send_response(HTTPStatus.SEE_OTHER if asked else HTTPStatus.FOUND)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _answer(self, page: str) -> None:
        content = page.encode()
        self.send_response(HTTPStatus.OK)
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(content))),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _is_ours(self, path: Path) -> bool:
        """Whether a path is a file of the directory, also once links are followed."""
        return path.is_file() and path.resolve().is_relative_to(Path(self.directory).resolve())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        del format, args


class _Server(ThreadingHTTPServer):
    """Server that ends when a signal asks for it, even if the signal's exception was lost."""

    def service_actions(self) -> None:
        stopping.check()


def view(
    directory: Path,
    *,
    port: int,
    browser: bool,
    policies: Sequence[str] = (),
    tell: Callable[[str], None] = print,
) -> None:
    """Serve the page of a directory until interrupted.

    Parameters
    ----------
    directory
        What `run --out`, `compare --out` or `design --out` wrote.
    port
        Where to listen; 0 takes any that is free.
    browser
        Whether to open the page in a browser.
    policies
        Policies in Python that runs may have that are done again; no others are run.
    tell
        Told the address.

    Raises
    ------
    InputError
        If the directory holds no page, or the port cannot be used.
    """
    check(directory)
    trusted = {*policies, *map(policy_names.absolute, policies)}

    class Handler(_Handler):
        token = Token()
        again = Again(token.text, trusted)
        tries = TryDesign(directory, token.text, trusted)

    try:
        server = _Server((HOST, port), partial(Handler, directory=str(directory)))
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
    if is_study(directory):
        left(directory)
    elif is_sweep(directory):
        described(directory)
    else:
        Result.load(directory)
    if not (directory / REPORT).is_file():
        raise InputError(f"{directory}: has no {REPORT}; `copyback report {directory}` writes it")
