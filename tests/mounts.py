"""Whose mounts may be there at a time.

A new mount namespace copies all of them and holds on to them, so that what another test unmounts
meanwhile stays in use.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Mounts(IntEnum):
    """What a test needs: to mount beside others that do, or a namespace while nobody does."""

    BESIDE_OTHERS = fcntl.LOCK_SH
    COPIED = fcntl.LOCK_EX


@contextlib.contextmanager
def mounting(how: Mounts) -> Iterator[None]:
    """Wait until it may, in whatever process the others are."""
    path = Path(tempfile.gettempdir()) / f"copyback-mounts-{os.getuid()}"
    with path.open("w") as file:
        fcntl.flock(file, how)
        yield
