"""``copyback view`` serves a page to this machine, and ends when asked to."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest

import copyback
from conftest import RunCli, tiny_config

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return copyback.run(tiny_config(), workload__requests=100).save(tmp_path / "out")


def test_the_page_is_served_until_ctrl_c(saved: Path) -> None:
    arguments = [sys.executable, "-m", "copyback", "view", str(saved), "--port=0", "--no-browser"]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        told = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", told)
        assert found is not None, told
        with urllib.request.urlopen(found[0], timeout=10) as answer:
            assert answer.read() == (saved / "report.html").read_bytes()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(found[0] + "../secret", timeout=10)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 130
        assert process.stderr.read() == "copyback: error: interrupted\n"


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
