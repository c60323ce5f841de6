"""Served drives as files and file systems, by programs that need not be installed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip a test where a program is missing, and say which."""
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)}: not installed here")


needs_fuse = pytest.mark.skipif(
    shutil.which("nbdfuse") is None or not os.access("/dev/fuse", os.R_OK | os.W_OK),
    reason="nbdfuse is not installed here, or /dev/fuse cannot be used",
)


@contextlib.contextmanager
def as_file(socket: Path, file: Path, export: str = "") -> Iterator[Path]:
    """Put a served drive, or an export of it, over the regular file `file`."""
    file.touch()
    uri = f"nbd+unix:///{export}?socket={socket}"
    with subprocess.Popen(
        ["nbdfuse", str(file), uri], stderr=subprocess.PIPE, text=True
    ) as process:
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
            process.wait(timeout=30)


def unmount(where: Path, *command: str) -> None:
    """Unmount, as soon as nobody uses it any more."""
    for _ in range(200):
        done = subprocess.run([*command, str(where)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        time.sleep(0.02)
    raise AssertionError(done.stderr)
