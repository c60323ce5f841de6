"""What the program prints, for tests to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rich.console import RenderableType


def printed(what: RenderableType) -> str:
    """Return what a wide terminal shows."""
    terminal = Console(width=200)
    with terminal.capture() as capture:
        terminal.print(what)
    return capture.get()
