"""Commit of the source that Copyback is run from."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

HOME = Path(__file__).resolve().parents[3]


@cache
def commit() -> str | None:
    """Return the commit of the checkout, with ``-dirty`` if it was changed; None elsewhere."""
    if not (HOME / ".git").exists():
        return None
    # `git describe --dirty` locks the index whatever it is told, and, killed, leaves the lock.
    asked = ["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch"]
    try:
        said = subprocess.run(
            [*asked, "--untracked-files=no"], cwd=HOME, capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit_of(said.stdout.decode())


def commit_of(status: str) -> str | None:
    """Return the commit that a status of ``git`` names; None before the first one."""
    heads = re.findall(r"^# branch\.oid ([0-9a-f]+)$", status, re.MULTILINE)
    if not heads:
        return None
    is_clean = all(line.startswith("# ") for line in status.splitlines())
    return heads[0] if is_clean else f"{heads[0]}-dirty"
