"""The commands, and the module of each: it is imported when its command is asked for."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

#: Modules and functions of the commands, in the order of the help.
COMMANDS = {
    "run": "copyback.commands.run:run",
    "compare": "copyback.commands.compare:compare",
    "search": "copyback.commands.search:search",
    "design": "copyback.commands.design:design",
    "tournament": "copyback.commands.tournament:tournament",
    "calibrate": "copyback.commands.calibrate:calibrate",
    "precondition": "copyback.commands.run:precondition",
    "serve": "copyback.commands.serve:serve",
    "report": "copyback.commands.report:report",
    "view": "copyback.commands.report:view",
    "init": "copyback.commands.init:init",
    "import": "copyback.commands.import_:import_",
    "validate": "copyback_papers.validation.command:validate",
    "completion": "copyback.commands.completion:completion",
}

#: Modules and applications of commands that have commands of their own.
GROUPS = {
    "cache": "copyback.commands.cache:app",
    "leaderboard": "copyback.commands.leaderboard:app",
    "show": "copyback.commands.show:app",
    "trace": "copyback.trace.cli:app",
    "paper": "copyback_papers.app:app",
}

#: Groups that do something without a command of theirs.
_SPEAKS_ALONE = {"cache"}


def add_commands(app: typer.Typer, asked: str | None) -> None:
    """Add the command that is asked for; all of them if it is none of these."""
    is_known = asked in COMMANDS or asked in GROUPS
    for name, place in (COMMANDS | GROUPS).items():
        if is_known and name != asked:
            continue
        if not _is_installed(place):
            _add_absent(app, name)
        elif name in COMMANDS:
            app.command(name)(_found(place))
        else:
            app.add_typer(_found(place), name=name, no_args_is_help=name not in _SPEAKS_ALONE)


def _is_installed(place: str) -> bool:
    package = place.partition(".")[0]
    return package == "copyback" or find_spec(package) is not None


def _add_absent(app: typer.Typer, name: str) -> None:
    """Add a command whose package is absent: whatever its arguments, it says what installs it."""

    def absent() -> None:
        from copyback.process.extras import need

        need("papers", f"copyback {name}")

    app.command(
        name,
        help="Comes with copyback[papers].",
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(absent)


def _found(place: str) -> Any:
    """Return a function or an application."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
