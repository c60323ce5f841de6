"""A mount namespace of a test's own, in which file systems are small, read-only or missing.

User namespaces give it to anybody where the kernel lets them; root has it anyway.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from mounts import Mounts, mounting

if TYPE_CHECKING:
    from pathlib import Path

#: Mounts what the test asks for, does what it wants done, and notes what is left in the room.
SCRIPT = """
set -e
room=$1 notes=$2 mounts=$3
shift 3
# Where notes go may become read-only.
exec 8> "$notes/status" 9> "$notes/left"
eval "$mounts"
cd "$room"
set +e
"$@" 8>&- 9>&-
echo $? >&8
find . -mindepth 1 -printf '%P\\0%s\\0' >&9
"""

WAYS = (("unshare", "--user", "--map-root-user", "--mount"), ("unshare", "--mount"))


@functools.cache
def way() -> tuple[str, ...] | None:
    """Return the command that gives a namespace in which one may mount, if one does."""
    if shutil.which("unshare") is None:
        return None
    for command in WAYS:
        trial = (*command, "sh", "-c", "mount -t tmpfs -o size=4k trial /mnt")
        with mounting(Mounts.COPIED):
            tried = subprocess.run(trial, capture_output=True, timeout=30)
        if tried.returncode == 0:
            return command
    return None


@dataclass(frozen=True)
class Done:
    """What a command has left.

    Attributes
    ----------
    status
        Its exit status.
    stdout, stderr
        What it said.
    left
        The files, links and directories in the room, with the bytes of each.
    """

    status: int
    stdout: str
    stderr: str
    left: dict[str, int]

    @property
    def fault(self) -> str:
        """Return the one line in which the command has said what is wrong."""
        start = "copyback: error: "
        assert self.stderr.startswith(start), self.stderr
        assert self.stderr.count("\n") == 1, self.stderr
        return self.stderr.removeprefix(start).rstrip("\n")


class Sandbox:
    """Runs commands in a namespace.

    Parameters
    ----------
    home
        A directory of the test's. The commands work in ``home/room``, on which a file system of
        their own is mounted.
    """

    def __init__(self, home: Path) -> None:
        found = way()
        if found is None:
            pytest.skip("may not mount: neither root nor in a user namespace (unshare)")
        self._way = found
        self.home = home
        self.room = home / "room"
        self.room.mkdir()
        self._notes = home / "notes"
        self._notes.mkdir()

    def run(
        self,
        *command: str | Path,
        pages: int | None = None,
        then: str = "",
        env: dict[str, str] | None = None,
    ) -> Done:
        """Run `command` in an empty room of so many pages of memory, in which `then` is done first.

        Parameters
        ----------
        command
            What to run, and its arguments.
        pages
            How much the room holds; else as much as there is.
        then
            Lines of a shell, in the room: what else is mounted, or there. A failure ends the test.
        env
            What of the environment differs.
        """
        size = f"size={pages * os.sysconf('SC_PAGE_SIZE')}" if pages is not None else "size=64m"
        mounts = f'mount -t tmpfs -o {size} room "$room"\ncd "$room"\n{then}'
        words = [*self._way, "sh", "-c", SCRIPT, "sh", self.room, self._notes, mounts, *command]
        with mounting(Mounts.COPIED):
            found = subprocess.run(
                [os.fspath(word) for word in words],
                capture_output=True,
                encoding="utf-8",
                env={**os.environ, **(env or {})},
                timeout=120,
            )
        assert found.returncode == 0, (found.stdout, found.stderr)
        noted = (self._notes / "left").read_text(errors="surrogateescape").split("\0")
        left = {name: int(size) for name, size in zip(noted[::2], noted[1::2], strict=False)}
        return Done(int((self._notes / "status").read_text()), found.stdout, found.stderr, left)
