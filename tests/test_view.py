"""``copyback view`` serves a page to this machine, and ends when asked to."""

from __future__ import annotations

import contextlib
import http.client
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

import pytest

import copyback
from conftest import RunCli, tiny_config
from copyback.process import stopping
from copyback.report.view import view
from copyback.result import Result
from copyback.sweep.why import CHANGED, again
from processes import ending

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return copyback.run(tiny_config(), workload__requests=100).save(tmp_path / "out")


class Viewing(NamedTuple):
    """A folder that is served: by which process, and on which port of this machine."""

    process: subprocess.Popen[str]
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


@contextlib.contextmanager
def viewing(folder: Path, *options: str) -> Iterator[Viewing]:
    """Serve a folder, to Ctrl-C."""
    command = ["view", str(folder), "--port=0", "--no-browser", *options]
    arguments = [sys.executable, "-m", "copyback", *command]
    pipe = subprocess.PIPE
    with ending(subprocess.Popen(arguments, stdout=pipe, stderr=pipe, text=True)) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", told)
        assert found is not None, told
        yield Viewing(process, int(found[1]))
        process.send_signal(signal.SIGINT)


def test_the_page_is_served_until_ctrl_c(saved: Path) -> None:
    with viewing(saved) as served:
        with urllib.request.urlopen(served.address, timeout=10) as answer:
            assert answer.read() == (saved / "report.html").read_bytes()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(served.address + "../secret", timeout=10)
        process = served.process
        assert process.stderr is not None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 130
        assert process.stderr.read() == "copyback: error: interrupted\n"


@pytest.fixture
def port(saved: Path) -> Iterator[int]:
    """Serve what is saved."""
    with viewing(saved) as served:
        yield served.port


def ask(port: int, path: str, *, host: str | None = None, method: str = "GET") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    if host != "":
        connection.putheader("Host", host or f"127.0.0.1:{port}")
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read()


def post(port: int, path: str, form: dict[str, str], **headers: str) -> tuple[int, bytes]:
    """Send a form, as a browser does."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    given = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    connection.request("POST", path, urlencode(form), given)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_only_names_of_this_machine_are_served(port: int, saved: Path) -> None:
    page = (saved / "report.html").read_bytes()
    assert ask(port, "/") == (200, page)
    assert ask(port, "/", host=f"localhost:{port}") == (200, page)
    assert ask(port, "/", host="127.0.0.1") == (200, page)
    # A page of another site whose name was made to lead here.
    for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", ""):
        for path in ("/", "/summary.json"):
            status, answer = ask(port, path, host=host)
            assert status == 403, host
            assert b"write_amplification" not in answer


def test_nothing_outside_of_the_directory_is_served_and_nothing_is_listed(
    port: int, saved: Path
) -> None:
    (saved.parent / "secret").write_text("secret")
    (saved / "link").symlink_to("../secret")
    (saved / "within").symlink_to("summary.json")
    (saved / "up").symlink_to("..")
    (saved / "below").mkdir()
    for path in ("/link", "/up/secret", "/up", "/up/", "/below", "/below/", "/%2e%2e/secret"):
        for method in ("GET", "HEAD"):
            status, answer = ask(port, path, method=method)
            assert (status, b"secret" in answer) == (404, False), path
    page = (saved / "report.html").read_bytes()
    for path in ("//", "/?x", "/?", "/#x", "/report.html?x=/link"):
        assert ask(port, path) == (200, page), path
    assert ask(port, "/within") == (200, (saved / "summary.json").read_bytes())


def test_a_port_that_is_taken_is_told_in_a_line(saved: Path, cli: RunCli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = cli("view", saved, f"--port={port}", "--no-browser", status=2)
    assert (
        done.stderr == f"copyback: error: --port {port}: cannot be used: Address already in use\n"
    )


def test_a_directory_without_a_page_is_told_in_a_line(saved: Path, cli: RunCli) -> None:
    (saved / "report.html").unlink()
    done = cli("view", saved, "--no-browser", status=2)
    assert done.stderr.endswith(f"has no report.html; `copyback report {saved}` writes it\n")
    done = cli("view", saved.parent / "absent", "--no-browser", status=2)
    assert done.stderr.endswith("absent: no such directory\n")
    done = cli("view", saved.parent, "--no-browser", status=2)
    assert done.stderr.endswith("not a Copyback result: it has no summary.json\n")


def test_the_page_of_a_run_of_a_comparison_is_shown_when_asked_for(
    tmp_path: Path, cli: RunCli
) -> None:
    home = tmp_path / "study"
    found = copyback.compare(
        tiny_config(), over={"ssd.gc.victim": ["greedy", "fifo"]}, out=home, workload__requests=100
    )
    runs = found.frame["run"].to_list()
    with viewing(home) as served:
        place = f"runs/{runs[0]}/report.html"
        assert not (home / place).exists()
        with urllib.request.urlopen(served.address + place, timeout=20) as answer:
            shown = answer.read()
        assert b"Copyback report" in shown
        assert not (home / place).exists()
        for stranger in (f"runs/{runs[0]}0/report.html", f"runs/../{runs[1]}/report.html"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(served.address + stranger, timeout=10)
    told = cli("report", home, "--runs").stdout.splitlines()
    assert told == [str(home / "runs" / run / "report.html") for run in runs] + [
        str(home / "report.html")
    ]
    assert all((home / "runs" / run / "report.html").is_file() for run in runs)
    assert (home / place).read_bytes() == shown
    refused = cli("report", home / "runs" / runs[0], "--runs", status=2)
    assert "--runs is for a comparison" in refused.stderr


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sweep") / "out"
    over = {"ssd.gc.victim": ["greedy", "fifo"]}
    compared = copyback.compare(tiny_config(), over=over, seeds=2, out=home, jobs=1)
    compared.report()
    return home


def do_again(port: int, address: str) -> None:
    """Press the button of the page that says that a run has to be done again."""
    token = re.search(rb'name="token" value="([^"]+)"', ask(port, address)[1])
    assert token is not None
    assert post(port, address, {"token": token[1].decode()}) == (303, b"")


@pytest.fixture
def asked(sweep: Path) -> Iterator[tuple[int, Path]]:
    """Serve a comparison; return the port and a run's directory."""
    with viewing(sweep) as served:
        yield served.port, sorted((sweep / "runs").iterdir())[0]


def test_a_comparison_leads_to_why_requests_were_late(asked: tuple[int, Path]) -> None:
    port, run = asked
    address = f"/runs/{run.name}/why/report.html"
    status, waiting = ask(port, address)
    assert status == 200
    assert b"Why were requests late?" in waiting
    assert b"Do it again" in waiting
    do_again(port, address)
    deadline = time.monotonic() + 60
    while b'id="late-0"' not in (page := ask(port, address)[1]):
        assert b"cannot be done again" not in page, page
        assert time.monotonic() < deadline
        time.sleep(0.1)
    mine, theirs = Result.load(run / "why"), Result.load(run)
    assert mine.slowest is not None
    assert len(mine.slowest) == 16
    assert theirs.slowest is None
    assert mine.summary.response_us == theirs.summary.response_us
    assert mine.slowest[0]["response_us"] == theirs.summary.response_us.all.max
    assert CHANGED not in mine.summary.notes
    # The comparison goes on with its runs as before.
    assert copyback.Comparison.load(run.parents[1]).frame.height == 4
    # A run that has kept them is asked itself.
    (run / "slowest.json").write_bytes((run / "why" / "slowest.json").read_bytes())
    shutil.rmtree(run / "why")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", address)
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("Location")) == (
        302,
        f"/runs/{run.name}/report.html#late",
    )
    (run / "slowest.json").unlink()


def test_a_run_that_cannot_be_done_again_is_told(asked: tuple[int, Path]) -> None:
    port, run = asked
    for path in (
        f"/runs/{run.name}x/why/report.html",
        "/runs/../why/report.html",
        "/why/report.html",
    ):
        assert ask(port, path)[0] == 404, path
    config = run / "config.toml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text + "\n[ssd.nothing]\nof = 1\n", encoding="utf-8")
    address = f"/runs/{run.name}/why/report.html"
    do_again(port, address)
    deadline = time.monotonic() + 60
    while b"cannot be done again" not in (page := ask(port, address)[1]):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert b"ssd.nothing" in page
    assert b"http-equiv" not in page
    config.write_text(text, encoding="utf-8")
    assert b"Try once more" in page
    do_again(port, address)
    assert b"cannot be done again" not in ask(port, address)[1]


def test_a_run_that_has_changed_says_so(sweep: Path) -> None:
    run = sorted((sweep / "runs").iterdir())[1]
    config = run / "config.toml"
    text = config.read_text(encoding="utf-8")
    config.write_text(re.sub(r"(?m)^requests = \d+", "requests = 500", text), encoding="utf-8")
    again(run)
    assert CHANGED in Result.load(run / "why").summary.notes
    config.write_text(text, encoding="utf-8")


def test_a_scheme_s_row_leads_there(sweep: Path) -> None:
    page = (sweep / "report.html").read_text(encoding="utf-8")
    assert "why late?" in page
    assert "runs/${data.runs[slowestRun(scheme)]}/why/" in page


def test_a_signal_whose_exception_was_lost_ends_it_all_the_same(saved: Path) -> None:
    """Python drops what a handler raises in a finalizer, as at the start of a thread."""

    def tell(_: str) -> None:
        with contextlib.suppress(stopping.Stopped):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(stopping.Stopped), stopping.cleanly():
        view(saved, port=0, browser=False, tell=tell)
