"""``copyback leaderboard``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from copyback.commands.options import DaskAddress, Jobs, Memory, typed

if TYPE_CHECKING:
    from copyback.leaderboard.app import Runs

app = typer.Typer(help="Keep designs with their results in one file that anybody can run again.")

BoardFile = Annotated[Path, typer.Argument(metavar="BOARD.json", help="The leaderboard.")]


@app.command()
def new(
    study: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY.toml", help="Study whose base, workloads, seeds and objectives it has."
        ),
    ],
    board: BoardFile,
    open_: Annotated[
        list[str] | None,
        typer.Option(
            "--open",
            metavar="KEY",
            help="Entries may differ from the base in this key, or in all below it; else in the "
            "keys of the study's space. May be repeated.",
        ),
    ] = None,
    jobs: Jobs = None,
    memory: Memory = None,
    dask: DaskAddress = None,
) -> None:
    """Begin a leaderboard: run the base of a study under its workloads with its seeds."""
    from copyback.leaderboard.app import begin

    begin(study, board, tuple(open_ or ()), _runs(jobs, memory, dask))


@app.command()
def add(
    board: BoardFile,
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG.toml",
            help="The design. Its workload and seed do not count: the board has its own.",
        ),
    ],
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the entry.")],
    about: Annotated[
        str, typer.Option(metavar="TEXT", help="Whose it is, where it was published.")
    ] = "",
    jobs: Jobs = None,
    memory: Memory = None,
    dask: DaskAddress = None,
) -> None:
    """Run a design under the workloads of a leaderboard, and add it with its results."""
    from copyback.leaderboard.app import add as add_entry

    add_entry(board, config, name, about, _runs(jobs, memory, dask))


@app.command()
def check(
    board: BoardFile,
    entry: Annotated[
        str | None, typer.Option(metavar="NAME", help="This entry alone; else all.")
    ] = None,
    jobs: Jobs = None,
    memory: Memory = None,
    dask: DaskAddress = None,
) -> None:
    """Run entries again: exit status 1 if a number is not the stored one."""
    from copyback.leaderboard.app import check_and_show

    if not check_and_show(board, entry, _runs(jobs, memory, dask)):
        raise typer.Exit(1)


@app.command()
def show(board: BoardFile) -> None:
    """Print the entries, the best in the first objective first. Runs nothing."""
    from copyback.leaderboard.app import show_board

    show_board(board)


def _runs(jobs: int | None, memory: str | None, dask: str | None) -> Runs:
    from copyback.leaderboard.app import Runs
    from copyback.sweep.memory import memory_of
    from copyback.sweep.where import Where

    return Runs(Where(jobs, dask, memory_of(memory)), typed())
