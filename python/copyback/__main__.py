"""``python -m copyback``, and what the command ``copyback`` calls.

A process that simulates for a sweep imports the program again that started it: it shall find
nothing here that takes time.
"""

from __future__ import annotations

import atexit
import gc
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    # What is imported is no garbage. A tenth of a short command's time would go into looking for
    # some in it, half of that when it ends anyway.
    gc.set_threshold(100_000, 50, 50)
    atexit.register(gc.freeze)
    from copyback.commands import cli

    cli.main()


if __name__ == "__main__":
    main()
