"""Sweeps that are killed at every kind of point at which they touch their directory, then go on."""

from __future__ import annotations

import hashlib
import re
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

#: The command line, which kills itself right before it does in its directory what it is told; it
#: says on standard error what it does there. Workers are new processes, and end with it.
KILLED = r"""
import os, re, signal, sys

OUT, AT = sys.argv[1:3]
DOES = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}


def watch(event, arguments):
    if event not in DOES or not isinstance(arguments[0], (str, os.PathLike)):
        return
    if event == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR):
        return
    path = os.path.abspath(os.fspath(arguments[0]))
    if not (path + "/").startswith(OUT + "/"):
        return
    name = re.sub(r"[0-9a-f]{32}", "DEVICE", os.path.relpath(path, OUT))
    name = re.sub(r"[0-9a-f]{20}", "RUN", re.sub(r"\d+(?=[.]result)", "N", name))
    name = re.sub(r"(partial-)[^/R][^/]*", r"\1X", name)
    step = f"{event} {name}"
    if step == AT:
        os.kill(os.getpid(), signal.SIGKILL)
    os.write(2, f"step: {step}\n".encode())


if __name__ == "__main__":
    from copyback.commands import cli

    sys.argv = ["copyback", *sys.argv[3:]]
    sys.addaudithook(watch)
    cli.main()
"""

OVER = ("--over", "workload.read_share=0.2,0.4", "--seeds", "2", "--jobs", "1", "--quiet")


def sweep(home: Path, out: str, at: str = "") -> subprocess.CompletedProcess[str]:
    script = home / "killed.py"
    script.write_text(KILLED, encoding="utf-8")
    command = ["compare", "tiny.toml", "--set", "workload.requests=300", *OVER, "--out", out]
    return subprocess.run(
        [sys.executable, script, home / out, at, *command],
        cwd=home,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def steps(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what a sweep did in its directory, each kind once, in order."""
    return list(dict.fromkeys(re.findall(r"^step: (.*)$", done.stderr, re.MULTILINE)))


def digests(out: Path) -> dict[str, str]:
    """Return a digest of each file that holds results and no times of the machine's."""
    files = sorted(out.rglob("*.parquet"))
    return {
        str(file.relative_to(out)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }


def assert_same(home: Path) -> None:
    """Assert that the sweep that was killed has left what the other has."""
    assert digests(home / "killed") == digests(home / "whole")
    names = [
        {str(path.relative_to(home / out)) for path in (home / out).rglob("*")}
        for out in ("whole", "killed")
    ]
    assert names[0] == names[1]


@pytest.mark.usefixtures("tiny_toml")
def test_a_sweep_that_is_killed_at_every_step_gives_the_bytes_of_one_that_is_not(
    tmp_path: Path,
) -> None:
    whole = sweep(tmp_path, "whole")
    assert whole.returncode == 0, whole.stderr
    kinds = steps(whole)
    assert len(kinds) > 12, kinds
    for kind in kinds:
        # After a renaming nothing is left to remove; one file of a run is as the next.
        if re.match(r"os.remove .*partial|open runs.*(dies|distribution|series)", kind):
            continue
        killed = sweep(tmp_path, "killed", kind)
        if killed.returncode == 0:
            # What was done before has not to be done again: from the beginning, then.
            assert kind not in steps(killed), killed.stderr
            assert_same(tmp_path)
            shutil.rmtree(tmp_path / "killed")
            killed = sweep(tmp_path, "killed", kind)
        assert killed.returncode == -signal.SIGKILL, (kind, killed.stderr)
    last = sweep(tmp_path, "killed")
    assert last.returncode == 0, last.stderr
    assert "copyback: error" not in last.stderr
    assert_same(tmp_path)
