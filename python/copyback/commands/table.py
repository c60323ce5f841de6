"""The commands, and the module of each: it is imported when its command is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

#: Modules and functions of the commands, in the order of the help.
COMMANDS = {
    "run": "copyback.commands.run:run",
    "compare": "copyback.commands.compare:compare",
    "search": "copyback.commands.search:search",
    "tournament": "copyback.commands.compare:tournament",
    "calibrate": "copyback.commands.calibrate:calibrate",
    "precondition": "copyback.commands.run:precondition",
    "serve": "copyback.commands.serve:serve",
    "report": "copyback.commands.report:report",
    "view": "copyback.commands.report:view",
    "import": "copyback.commands.import_:import_",
    "validate": "copyback.commands.validate:validate",
    "completion": "copyback.commands.completion:completion",
}

#: Modules and applications of commands that have commands of their own.
GROUPS = {
    "cache": "copyback.commands.cache:app",
    "show": "copyback.commands.show:app",
    "trace": "copyback.trace.cli:app",
    "paper": "copyback.papers.app:app",
}

#: Groups that do something without a command of theirs.
_SPEAKS_ALONE = {"cache"}


def add_commands(app: typer.Typer, asked: str | None) -> None:
    """Add the command that is asked for; all of them if it is none of these."""
    is_known = asked in COMMANDS or asked in GROUPS
    for name, place in COMMANDS.items():
        if not is_known or name == asked:
            app.command(name)(_found(place))
    for name, place in GROUPS.items():
        if not is_known or name == asked:
            app.add_typer(_found(place), name=name, no_args_is_help=name not in _SPEAKS_ALONE)


def _found(place: str) -> Any:
    """Return a function or an application."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
