"""Which commit of its source Copyback is run from."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]


@cache
def commit() -> str | None:
    """Return the commit of the checkout, with ``-dirty`` if it was changed; None elsewhere."""
    if not (HOME / ".git").exists():
        return None
    asked = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    # To look is no reason to lock the index.
    unlocked = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        said = subprocess.run(asked, cwd=HOME, env=unlocked, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.decode().strip()
