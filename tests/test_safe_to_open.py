"""A result of a stranger is safe to open: what SECURITY.md promises, one test a promise.

The stranger's folder names a policy in Python that lies in it and, once imported, writes a file.
"""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

import copyback
from conftest import RunCli, tiny_config
from copyback.calibration.result import CALIBRATION
from copyback.calibration.search.kept import EVALUATIONS
from copyback.data import SUMMARY
from copyback.inputs import policy_names
from copyback.result import Result
from copyback.sweep import store
from nbd import serving
from test_view import ask, post, viewing

if TYPE_CHECKING:
    from pathlib import Path

#: What a page of this server sends with its button.
TOKEN = re.compile(rb'name="token" value="([^"]+)"')

ORIGIN = "http://127.0.0.1:{port}"

POLICY = """
from pathlib import Path
import copyback

Path({ran!r}).touch()


class P(copyback.VictimPolicy):
    def choose(self, plane):
        return plane.valid_pages.argmin()
"""


class Evil:
    """Folders of a stranger, and what their policy writes."""

    def __init__(self, home: Path) -> None:
        self.ran = home / "ran"
        self._source = POLICY.format(ran=str(self.ran))
        over = {"ssd.gc.victim": ["greedy", "fifo"]}
        config = tiny_config() | {"workload": {"type": "synthetic", "requests": 300}}
        self.sweep = home / "study"
        copyback.compare(config, over=over, out=self.sweep, jobs=1).report()
        self.single = copyback.run(config).save(home / "single")
        for run in (self.single, *(self.sweep / "runs").iterdir()):
            self._spoil(run)
        assert not self.ran.exists()

    def _spoil(self, run: Path) -> None:
        (run / "p.py").write_text(self._source)
        config = run / "config.toml"
        text = re.sub(
            r"(?m)^victim = .*$",
            'victim = { type = "python", policy = "p.py:P" }',
            config.read_text(),
        )
        assert "p.py:P" in text
        config.write_text(text)

    @property
    def run(self) -> Path:
        """A run of the comparison."""
        return min((self.sweep / "runs").iterdir())

    @property
    def why(self) -> str:
        """Where the page lies that says why requests of the run were late."""
        return f"/runs/{self.run.name}/why/report.html"

    def has_run(self) -> bool:
        """Whether its policy was imported; once it was, a file of the same text would not be."""
        return self.ran.exists()


@pytest.fixture
def evil(tmp_path: Path) -> Evil:
    return Evil(tmp_path)


def files(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}


def token(port: int, path: str) -> str:
    found = TOKEN.search(ask(port, path)[1])
    assert found is not None
    return found[1].decode()


def settled(port: int, path: str) -> bytes:
    """Return the page once nothing is under way."""
    deadline = time.monotonic() + 240
    while b'http-equiv="refresh"' in (page := ask(port, path)[1]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return page


def test_to_view_runs_and_writes_nothing(evil: Evil) -> None:
    for home in (evil.single, evil.sweep):
        before = files(home)
        with viewing(home) as served:
            for path in ("/", f"/runs/{evil.run.name}/report.html", evil.why, "/config.toml"):
                for method in ("GET", "HEAD", "GET"):
                    ask(served.port, path, method=method)
            time.sleep(0.5)
            if home == evil.sweep:
                assert ask(served.port, f"/runs/{evil.run.name}/report.html")[0] == 200
                assert TOKEN.search(ask(served.port, evil.why)[1])
        assert files(home) == before
    assert not evil.has_run()


def test_why_is_asked_with_the_token_of_the_server(evil: Evil) -> None:
    before = files(evil.sweep)
    with viewing(evil.sweep) as served, viewing(evil.sweep) as other:
        port = served.port
        origin, mine = ORIGIN.format(port=port), token(port, evil.why)
        assert len(mine) >= 32
        theirs = token(other.port, evil.why)
        assert theirs != mine
        for form in ({}, {"token": ""}, {"token": theirs}, {"token": mine[:-1]}, {"token": "ä"}):
            assert post(port, evil.why, form, Origin=origin)[0] == 403, form
        good = {"token": mine}
        for headers in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": ORIGIN.format(port=other.port)},
            {"Host": "evil.example"},
            {"Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"},
        ):
            assert post(port, evil.why, good, **headers)[0] == 403, headers
        for path in ("/", "/report.html", f"/runs/{evil.run.name}/report.html", "/runs/x/why/"):
            assert post(port, path, good, Origin=origin)[0] in (404, 405), path
        time.sleep(0.5)
        # Nothing is under way: the page still offers to begin.
        assert TOKEN.search(ask(port, evil.why)[1])
    assert files(evil.sweep) == before
    assert not evil.has_run()


def policy_of(port: int, path: str, method: str) -> set[str]:
    """Return what the `Content-Security-Policy` of an answer holds, word by word."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request(method, path)
    answer = connection.getresponse()
    answer.read()
    told = answer.getheader("Content-Security-Policy")
    connection.close()
    assert answer.status == 200, path
    assert told is not None, path
    return set(told.split())


def test_a_script_of_the_folder_has_an_origin_of_its_own(evil: Evil) -> None:
    steals = f"<script>fetch({evil.why!r}).then(page => page.text())</script>"
    picture = f'<svg xmlns="http://www.w3.org/2000/svg">{steals}</svg>'
    (evil.sweep / "report.html").write_text(steals)
    for name in ("picture.svg", "page.xhtml", "no-suffix"):
        (evil.sweep / name).write_text(picture)
    made = f"/runs/{evil.run.name}/report.html"
    with viewing(evil.sweep) as served:
        for path in ("/", "/report.html", "/picture.svg", "/page.xhtml", "/no-suffix", made):
            for method in ("GET", "HEAD"):
                allowed = policy_of(served.port, path, method)
                # Its charts and its buttons that save; not the origin, forms, windows of its own.
                assert allowed == {"sandbox", "allow-scripts", "allow-downloads"}, path
        # A button needs the origin, and the page that has it holds nothing of the folder's scripts.
        assert "sandbox" not in policy_of(served.port, evil.why, "GET")


def test_why_runs_no_policy_that_nobody_named(evil: Evil) -> None:
    before = files(evil.sweep)
    with viewing(evil.sweep) as served:
        port = served.port
        form = {"token": token(port, evil.why)}
        assert post(port, evil.why, form, Origin=ORIGIN.format(port=port))[0] == 303
        page = settled(port, evil.why)
    assert b"cannot be done again" in page
    assert b"--policy" in page
    assert f"{evil.run}/p.py:P".encode() in page
    assert files(evil.sweep) == before
    assert not evil.has_run()


def test_why_runs_the_policy_that_the_command_line_names(evil: Evil) -> None:
    with viewing(evil.sweep, f"--policy={evil.run}/p.py:P") as served:
        port = served.port
        ask(port, evil.why)
        assert not evil.has_run()
        assert post(port, evil.why, {"token": token(port, evil.why)})[0] == 303
        page = settled(port, evil.why)
    assert b'id="late-0"' in page
    assert evil.has_run()


def test_what_starts_work_is_never_a_get(tmp_path: Path) -> None:
    home = tmp_path / "study"
    over = {"ssd.gc.victim": ["greedy", "fifo"]}
    copyback.compare(tiny_config(), over=over, out=home, jobs=1, workload__requests=300).report()
    run = min((home / "runs").iterdir())
    before, why = files(home), f"/runs/{run.name}/why/report.html"
    with viewing(home) as served:
        for method in ("GET", "HEAD", "GET", "PUT", "DELETE", "OPTIONS"):
            for path in (why, f"{why}?token={token(served.port, why)}"):
                ask(served.port, path, method=method)
        time.sleep(0.5)
        assert TOKEN.search(ask(served.port, why)[1])
        assert files(home) == before


def test_to_render_runs_nothing_and_writes_the_page_alone(evil: Evil, cli: RunCli) -> None:
    before = files(evil.single) | files(evil.sweep)
    cli("report", evil.single)
    cli("report", evil.sweep, "--runs")
    after = files(evil.single) | files(evil.sweep)
    changed = {name for name, content in after.items() if before.get(name) != content}
    assert {name.rpartition("/")[2] for name in changed} <= {"report.html", "winners.md"}
    assert not evil.has_run()


@pytest.mark.parametrize("link", ["report.html", "runs"])
def test_a_page_is_written_into_its_folder_only(evil: Evil, cli: RunCli, link: str) -> None:
    mine = evil.ran.parent / "mine.html"
    mine.write_text("mine")
    page = evil.single / link if link == "report.html" else evil.run / "report.html"
    page.unlink(missing_ok=True)
    page.symlink_to(mine)
    arguments = (evil.single,) if link == "report.html" else (evil.sweep, "--runs")
    told = cli("report", *arguments, status=2).stderr
    assert told == f"copyback: error: {page}: leads out of {arguments[0]}; nothing is written\n"
    assert mine.read_text() == "mine"


def test_why_writes_into_its_folder_only(evil: Evil) -> None:
    outside = evil.ran.parent / "outside"
    outside.mkdir()
    (evil.run / "why").symlink_to(outside)
    with viewing(evil.sweep, f"--policy={evil.run}/p.py:P") as served:
        port = served.port
        post(port, evil.why, {"token": token(port, evil.why)})
        page = settled(port, evil.why)
    assert b"leads out of" in page
    assert not list(outside.iterdir())


#: Commands that run a configuration, before and behind it.
RUNS: dict[str, tuple[list[str], list[str]]] = {
    "run": (["run"], []),
    "run into its folder": (["run"], ["--out", "out"]),
    "run with other settings": (
        ["run"],
        ["--set=ssd.gc.victim.parameters={}", "--set=seed=3", "--set=metrics.slowest=16"],
    ),
    "run with a type": (["run"], ['--set=ssd.gc.victim={ type = "python" }']),
    "precondition": (["precondition"], ["--save", "drive.state"]),
    "compare": (["compare"], ["--over", "seed=1,2"]),
    "compare kept": (["compare"], ["--over", "host.queue_depth=8,16", "--out", "again"]),
    "search": (["search"], ["--least=ssd.ftl.over_provisioning=0.1..0.4", "--where=p99<1s"]),
    "serve": (["serve"], ["--nbd=unix:drive.sock", "--live=0"]),
}


@pytest.mark.parametrize("command", RUNS)
def test_to_do_a_result_again_runs_no_policy_that_nobody_named(
    evil: Evil, cli: RunCli, command: str
) -> None:
    before, behind = RUNS[command]
    for folder in (evil.single, evil.run):
        told = cli(*before, folder / "config.toml", *behind, status=2).stderr
        assert f"{folder / 'config.toml'}: of a result" in told
        assert f"--set 'ssd.gc.victim.policy={folder}/p.py:P'" in told
    assert not evil.has_run()


def test_links_and_other_spellings_change_nothing(evil: Evil, cli: RunCli, tmp_path: Path) -> None:
    link = tmp_path / "link.toml"
    link.symlink_to(evil.single / "config.toml")
    config = evil.single / "config.toml"
    text = config.read_text()
    for policy in (f"{evil.single}/p.py:P", "../single/p.py:P", "p:P", "os:P", "registered"):
        config.write_text(text.replace("p.py:P", policy))
        for path in (config, link):
            told = cli("run", path, status=2, env={"PYTHONPATH": str(evil.single)}).stderr
            assert "of a result" in told, policy
    assert not evil.has_run()


def test_whoever_names_the_policy_runs_it(evil: Evil, cli: RunCli) -> None:
    config = evil.single / "config.toml"
    cli("run", config, f"--set=ssd.gc.victim.policy={evil.single}/p.py:P")
    assert evil.has_run()
    evil.ran.unlink()
    over = f'ssd.gc.victim=greedy,{{ type = "python", policy = "{evil.single}/p.py:P" }}'
    cli("compare", config, "--over", over, "--jobs=1")
    assert evil.has_run()


def test_whoever_takes_another_policy_runs_that(evil: Evil, cli: RunCli) -> None:
    cli("run", evil.single / "config.toml", "--set=ssd.gc.victim=greedy")
    cli("compare", evil.single / "config.toml", "--over=ssd.gc.victim=greedy,fifo", "--jobs=1")
    assert not evil.has_run()


def test_a_configuration_of_one_s_own_needs_no_more(evil: Evil, cli: RunCli) -> None:
    mine = evil.ran.parent / "mine"
    mine.mkdir()
    for name in ("config.toml", "p.py"):
        (mine / name).write_bytes((evil.single / name).read_bytes())
    cli("run", mine / "config.toml")
    assert evil.has_run()


def test_the_names_of_results_are_those_that_are_written() -> None:
    assert (SUMMARY, store.MARKER, CALIBRATION, EVALUATIONS) == policy_names.MARKERS
    assert (store.MARKER, store.RUNS) == (policy_names.SWEEP, policy_names.RUNS)


@pytest.mark.parametrize("marker", policy_names.MARKERS)
def test_every_kind_of_result_is_known(
    evil: Evil, cli: RunCli, tmp_path: Path, marker: str
) -> None:
    home = tmp_path / "theirs"
    home.mkdir()
    (home / "p.py").write_bytes((evil.single / "p.py").read_bytes())
    (home / "fitted.toml").write_bytes((evil.single / "config.toml").read_bytes())
    (home / marker).write_text("{}")
    assert "of a result" in cli("run", home / "fitted.toml", status=2).stderr
    # What a run needs beside its configuration is no matter in a comparison.
    (evil.run / "summary.json").unlink()
    assert "of a result" in cli("run", evil.run / "config.toml", status=2).stderr
    assert not evil.has_run()


def test_a_directory_is_no_configuration(evil: Evil, cli: RunCli) -> None:
    for folder in (evil.single, evil.sweep):
        assert cli("run", folder, status=2).stderr.endswith(": Is a directory\n")
        # Two and more are finished runs to `compare`, which runs nothing of theirs.
        told = cli("compare", folder, "--over=seed=1,2", status=2).stderr
        assert "found one directory; allowed: two or more finished runs" in told
    assert not evil.has_run()


def test_the_library_runs_nothing_that_it_loads(evil: Evil) -> None:
    result = Result.load(evil.single)
    assert "p.py:P" in result.config_toml
    compared = copyback.Comparison.load(evil.sweep)
    for found in (result, compared, compared.result(evil.run.name), result.series, compared.frame):
        assert "<" in found._repr_html_()
        assert repr(found)
    result.to_polars()
    result.report(evil.ran.parent / "page.html")
    compared.report()
    with pytest.raises(copyback.InputError, match="of a result"):
        copyback.run(evil.single / "config.toml")
    with pytest.raises(copyback.InputError, match="of a result"):
        copyback.compare(evil.single / "config.toml", over={"seed": [1, 2]})
    assert not evil.has_run()


def test_what_a_result_says_is_text_on_pages_and_in_notebooks(evil: Evil) -> None:
    script = "<script>alert(1)</script>"
    config, summary = evil.single / "config.toml", evil.single / "summary.json"
    text = config.read_text()
    begin = text.index("[workload]")
    end = text.find("\n[", begin)
    workload = f"[workload]\ntype = 'trace'\npath = '/x/{script[:-10]}'\n"
    config.write_text(text[:begin] + workload + (text[end:] if end > 0 else ""))
    told = json.loads(summary.read_text())
    told["notes"], told["simulator"]["command"] = [script], script
    summary.write_text(json.dumps(told))
    facts = json.loads((evil.sweep / "sweep.json").read_text())
    facts |= {"command": script, "refused": [script]}
    (evil.sweep / "sweep.json").write_text(json.dumps(facts))
    result, compared = Result.load(evil.single), copyback.Comparison.load(evil.sweep)
    pages = [result.report(evil.single / "report.html"), compared.report()]
    shown = [result._repr_html_(), compared._repr_html_(), *(page.read_text() for page in pages)]
    assert "alert(1)" in shown[0] + shown[2]
    assert all("alert(1)" in page for page in shown[2:])
    assert not any("<script>alert" in page for page in shown)


@pytest.mark.parametrize("option", ["--state", "--checkpoint"])
def test_a_saved_drive_or_run_brings_no_policy(
    evil: Evil, cli: RunCli, tmp_path: Path, option: str
) -> None:
    config, mine = evil.single / "config.toml", tmp_path / "mine.toml"
    named = f"--set=ssd.gc.victim.policy={evil.single}/p.py:P"
    saved = tmp_path / "saved"
    if option == "--state":
        cli("precondition", config, named, "--save", saved)
    else:
        long = "--set=workload.requests=100000000"
        with subprocess.Popen(
            [
                sys.executable,
                "-m",
                "copyback",
                "run",
                config,
                named,
                long,
                "--checkpoint",
                saved,
                "--checkpoint-every=0.2s",
            ],
            stderr=subprocess.DEVNULL,
        ) as running:
            deadline = time.monotonic() + 240
            while not saved.exists():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
    evil.ran.unlink()
    mine.write_text(config.read_text().replace("p.py:P", str(evil.single / "p.py:P")))
    cli("run", mine, "--set=ssd.gc.victim=greedy", option, saved, status=2)
    cli("run", config, option, saved, status=2)
    assert not evil.has_run()


def test_the_live_page_starts_nothing(evil: Evil, fast: Path, tmp_path: Path) -> None:
    with serving(fast, tmp_path / "drive.sock", "--live=0") as served:
        assert served.process.stdout is not None
        told = re.search(r":(\d+)/", served.process.stdout.readline())
        assert told is not None
        port = int(told[1])
        for method in ("POST", "PUT", "DELETE", "HEAD"):
            assert ask(port, "/", method=method)[0] == 501
        assert ask(port, "/", host="evil.example")[0] == 403
        assert b"<form" not in ask(port, "/")[1]
    assert not evil.has_run()
