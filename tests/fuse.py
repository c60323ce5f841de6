"""Served drives as files and file systems, by programs that need not be installed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mounts import Mounts, mounting
from processes import ending

if TYPE_CHECKING:
    from collections.abc import Iterator


#: Seconds that commands may take.
PATIENCE = 240

#: Programs that distributions do not put into everybody's search path.
BESIDE = ["/usr/sbin", "/sbin", *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]

needs_fuse = pytest.mark.skipif(
    shutil.which("nbdfuse") is None or not os.access("/dev/fuse", os.R_OK | os.W_OK),
    reason="nbdfuse is not installed here, or /dev/fuse cannot be used",
)


@contextlib.contextmanager
def as_file(socket: Path, file: Path, export: str = "") -> Iterator[Path]:
    """Put a served drive, or an export of it, over the regular file `file`."""
    file.touch()
    uri = f"nbd+unix:///{export}?socket={socket}"
    with (
        mounting(Mounts.BESIDE_OTHERS),
        ending(
            subprocess.Popen(["nbdfuse", str(file), uri], stderr=subprocess.PIPE, text=True)
        ) as process,
    ):
        try:
            until = time.monotonic() + 20
            while not os.path.ismount(file):
                if process.poll() is not None or time.monotonic() > until:
                    process.kill()
                    raise AssertionError(process.communicate()[1])
                time.sleep(0.005)
            yield file
        finally:
            unmount(file, "fusermount3", "-u")


def unmount(where: Path, *command: str) -> None:
    """Unmount, as soon as nobody uses it any more."""
    until = time.monotonic() + 30
    while (
        done := subprocess.run([*command, str(where)], capture_output=True, text=True, check=False)
    ).returncode != 0:
        assert time.monotonic() < until, done.stderr
        time.sleep(0.02)


def missing(needs: list[str]) -> list[str]:
    path = os.pathsep.join([os.environ["PATH"], *BESIDE])
    lacks = [need for need in needs if need != "root" and shutil.which(need, path=path) is None]
    if "root" in needs and not may_mount():
        lacks.append("root, who may mount")
    if "nbdfuse" in needs and not os.access("/dev/fuse", os.R_OK | os.W_OK):
        lacks.append("/dev/fuse")
    return lacks


def may_mount() -> bool:
    """Say whether loop devices can be mounted: root of a container often may not."""
    if os.geteuid() != 0 or shutil.which("losetup") is None:
        return False
    return subprocess.run(["losetup", "-f"], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def home_of_all() -> Iterator[Path]:
    """Make a directory that others may enter; unmount what is mounted in it afterwards."""
    with (
        mounting(Mounts.BESIDE_OTHERS),
        tempfile.TemporaryDirectory(prefix="copyback-guide-") as name,
    ):
        path = Path(name)
        path.chmod(0o755)
        try:
            yield path
        finally:
            mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
            for where in (line.split()[1] for line in reversed(mounts)):
                if where.startswith(f"{path}/"):
                    subprocess.run(["umount", "-l", where], check=False)


def run(text: str, home: Path) -> str:
    """Run commands; return what they print. What they leave in the background may go on."""
    output = home / "output"
    with output.open("w") as out:
        done = subprocess.run(
            ["sh", "-e", "-c", text],
            cwd=home,
            env=environment(),
            stdout=out,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            check=False,
        )
    told = output.read_text(errors="replace")
    assert done.returncode == 0, told
    return told


def environment() -> dict[str, str]:
    path = [str(Path(sys.executable).parent), os.environ["PATH"], *BESIDE]
    return {**os.environ, "PATH": os.pathsep.join(path)}
