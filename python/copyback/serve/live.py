"""The page of a drive while it is served: on this machine only, without a framework, offline."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from copyback import __version__, report
from copyback._core import InputError
from copyback.report.guard import HOST, REFUSED, is_own_name
from copyback.summary import TailSummary
from copyback.words import describe, tail

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Rows that are kept: ten minutes of five a second.
KEPT = 3000

#: Rows that are sent at once.
_TOGETHER = 500


class Seen:
    """Record of a drive's numbers, to be asked for from a row on."""

    def __init__(self) -> None:
        self._rows: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._count = 0
        self._served = 0
        self._status: dict[str, Any] = {}
        self._lock = Lock()

    def add(self, rows: list[dict[str, Any]], status: dict[str, Any]) -> None:
        """Take rows, and how the drive stands; say what its tail waits for."""
        slowest = status["tail"]
        self._served += sum(row[kind]["count"] for row in rows for kind in ("read", "write"))
        said = slowest and self._of_tail(msgspec.convert(slowest, TailSummary))
        with self._lock:
            self._rows.extend(rows)
            self._count += len(rows)
            self._status = {**status, "tail_says": said}

    def _of_tail(self, slowest: TailSummary) -> str:
        """Return what the slowest requests wait for.

        Rows may lack requests that the tail has: those of the last interval, and zeroes that were
        written. The percentile that comes of them is too low then, never too high.
        """
        served = max(self._served, slowest.count)
        above = max(slowest.above, tail.true_percentile(slowest.count, served))
        return tail.statement(slowest, above)

    def since(self, first: int) -> dict[str, Any]:
        """Return the rows from number `first` on that are still there, some at a time."""
        with self._lock:
            oldest = self._count - len(self._rows)
            begin = max(first, oldest)
            rows = [self._rows[index - oldest] for index in range(begin, self._count)][:_TOGETHER]
            return {"next": begin + len(rows), "rows": rows, "status": self._status}


def page(config: Mapping[str, Any], address: str, slower: float) -> str:
    """Return the page; its script asks for the rest."""
    return (
        report.environment()
        .get_template("live.html.j2")
        .render(
            title="A served drive",
            version=__version__,
            facts=[
                ("Drive", describe.device(config)),
                ("Collector", describe.collector(config)),
                ("Served at", address),
                ("Clock", "real time" if slower == 1 else f"{slower:g} times slower than real"),
            ],
            data=report.script_json({"kept": KEPT}),
            asset=report.asset,
        )
    )


@contextlib.contextmanager
def shown(seen: Seen, text: str, port: int) -> Iterator[str]:
    """Show a page on this machine; yield its address.

    Raises
    ------
    InputError
        If the port cannot be used.
    """

    class Handler(_Handler):
        shows, page = seen, text.encode()

    try:
        server = ThreadingHTTPServer((HOST, port), Handler)
    except OSError as fault:
        raise InputError(f"--live {port}: cannot be used: {fault.strerror}") from None
    with server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://{HOST}:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Answers with the page, or with what was seen since."""

    shows: Seen
    page: bytes

    def do_GET(self) -> None:
        if not is_own_name(self.headers["Host"]):
            self.send_error(HTTPStatus.FORBIDDEN, REFUSED)
            return
        asked = urlsplit(self.path)
        if asked.path == "/":
            self._answer(self.page, "text/html; charset=utf-8")
        elif asked.path == "/seen":
            first = parse_qs(asked.query).get("from", ["0"])[-1]
            number = int(first) if first.isascii() and first.isdecimal() else 0
            self._answer(json.dumps(self.shows.since(number)).encode(), "application/json")
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _answer(self, content: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        del format, args
