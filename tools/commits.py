"""Which commit of the checkout a stored result is of, for programs that run without the package."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@cache
def commit(digits: int = 8, below: str = ".") -> str:
    """Return the commit, as it was when a program first asked: what it stores changes the checkout.

    Parameters
    ----------
    digits
        Of the commit, at least.
    below
        A folder of the checkout: ``-dirty`` says that a file there which git knows was changed.
    """
    head = told("rev-parse", f"--short={digits}", "HEAD")
    changed = told("--no-optional-locks", "status", "--porcelain", "--untracked-files=no", below)
    return f"{head}-dirty" if changed else head


def told(*command: str) -> str:
    """Return what git says to a command."""
    done = subprocess.run(["git", *command], check=True, cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()
