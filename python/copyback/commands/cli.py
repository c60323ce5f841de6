"""The command line.

Exit status: 0 done; 2 bad input, one line a fault; 1 the machine's own trouble; 130 interrupted.
Modules that take time to import are imported where they are used, so that start-up feels instant.
"""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import BrokenExecutor
from typing import Annotated, NoReturn

import typer

from copyback import __model__, __version__, process
from copyback._core import InputError, SimulationError
from copyback.commands import add_commands
from copyback.commands.completing import answering
from copyback.process import stopping
from copyback.process.streams import close_stdout, complain, set_up, shown

_VERSION = "--version"


def application(asked: str | None = None) -> typer.Typer:
    """Return the command line: with the command that is asked for, or with all if it is none."""
    made = typer.Typer(
        name="copyback",
        help="Simulate garbage collection in flash SSDs and in arrays of them.",
        no_args_is_help=True,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_root)
    if asked != _VERSION:  # which needs none of them
        add_commands(made, asked)
    return made


def _version(wanted: bool) -> None:
    if wanted:
        print(f"copyback {__version__} (model {__model__})")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option(_VERSION, callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version


def _status(arguments: list[str]) -> int:
    """Run the command line and return its exit status."""
    command = typer.main.get_command(application(arguments[0] if arguments else None))
    try:
        with stopping.cleanly():
            status = command.main(arguments, prog_name="copyback", standalone_mode=False)
            sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except InputError as fault:
        complain(str(fault))
        return 2
    except stopping.Stopped as stopped:
        complain("interrupted" if stopped.number == signal.SIGINT else "terminated")
        return 128 + stopped.number
    except MemoryError:
        complain("memory: used up; allowed: a smaller device, or more memory")
        return 2
    except BrokenPipeError:
        # Whoever read our output has seen enough (`copyback ... | head`).
        close_stdout()
        return 0
    except SystemExit as leave:
        if isinstance(leave.__context__, BrokenPipeError):  # Typer turns it into status 1
            close_stdout()
            return 0
        return leave.code if isinstance(leave.code, int) else 1
    except Exception as trouble:
        usage = getattr(trouble, "format_message", None)
        if usage is not None:
            text = usage()
            if not text:  # no arguments at all: the help has been printed
                return 2
            complain(" ".join(text.split()))
            return 2
        if os.environ.get("COPYBACK_DEBUG"):
            raise
        complain(_machine_trouble(trouble))
        return 1


def _machine_trouble(trouble: Exception) -> str:
    if isinstance(trouble, SimulationError | BrokenExecutor):
        return str(trouble)
    if isinstance(trouble, OSError) and trouble.strerror:
        where = f"{shown(trouble.filename)}: " if trouble.filename else ""
        return f"{where}{trouble.strerror}"
    first = (str(trouble).splitlines() or [""])[0]
    return f"internal error: {type(trouble).__name__}: {first} (COPYBACK_DEBUG=1 shows where)"


def main() -> NoReturn:
    """Run the command line."""
    process.take()
    # What NumPy multiplies matrices with starts a thread for each core as it is loaded, which costs
    # every command a tenth of a second of CPU time; and its sums could depend on their number.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    set_up()
    with answering():
        status = _status(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        # It has been told, or whoever read it has seen enough.
        close_stdout()
    sys.exit(status)
