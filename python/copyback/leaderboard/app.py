"""The commands below ``copyback leaderboard``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from copyback import __version__
from copyback._core import InputError
from copyback.designer.study_file import read_study
from copyback.inputs import configuration
from copyback.leaderboard import check
from copyback.leaderboard.board import (
    Board,
    BoardLoad,
    BoardObjective,
    Entry,
    read_board,
    write_board,
)
from copyback.leaderboard.entries import settings_of_entry, tables_of
from copyback.leaderboard.runs import results
from copyback.leaderboard.terminal import table
from copyback.process.streams import complain
from copyback.sweep.bounds import measure_named
from copyback.words import units
from copyback.words.console import show

if TYPE_CHECKING:
    from pathlib import Path

    from copyback.designer.study import Objective
    from copyback.sweep.where import Where

#: Columns of the table where the output is no terminal.
WIDTH = 80


@dataclass(frozen=True)
class Runs:
    """Way in which simulations are run."""

    where: Where
    command: str

    def of(self, board: Board, entry: Entry) -> Entry:
        """Return an entry with the results of its runs."""
        found = results(
            board, entry.settings, self.where, self.command, lambda text, _: complain(text)
        )
        return replace(entry, runs=found, copyback=__version__)


def begin(study_file: Path, path: Path, open_keys: tuple[str, ...], runs: Runs) -> None:
    """Write a board of a study's workloads, seeds and objectives, with its base as an entry."""
    if path.exists():
        raise InputError(f"{path}: is there already; allowed: a new file")
    study = read_study(study_file)
    base = configuration.load(study.base, preset=study.preset, settings=list(study.settings))
    board = Board(
        schema=1,
        base=tables_of(base),
        loads={
            load.name: BoardLoad(settings=dict(load.settings), weight=load.weight)
            for load in study.loads
        },
        seeds=study.seeds,
        objectives=tuple(_objective(one) for one in study.objectives),
        open_keys=open_keys or tuple(key.key for key in study.space.keys),
    )
    base_entry = runs.of(board, Entry(name="base", settings={}, runs=(), copyback=""))
    write_board(replace(board, entries=(base_entry,)), path)
    show(table(read_board(path)), width_in_files=WIDTH)


def add(path: Path, config: Path, name: str, about: str, runs: Runs) -> None:
    """Run a design, and add it to a board."""
    board = read_board(path)
    if any(one.name == name for one in board.entries):
        raise InputError(f"--name {name}: {path} has an entry of this name; allowed: another one")
    settings = settings_of_entry(board, config)
    for one in board.entries:
        if one.settings == settings:
            raise InputError(f"{config}: is the same design as the entry {one.name}")
    entry = runs.of(board, Entry(name=name, settings=settings, runs=(), copyback="", about=about))
    write_board(replace(board, entries=(*board.entries, entry)), path)
    show(table(read_board(path)), width_in_files=WIDTH)


def check_and_show(path: Path, name: str | None, runs: Runs) -> bool:
    """Run entries again; return whether all numbers are those of the board."""
    board = read_board(path)
    entries = board.entries if name is None else (board.entry(name),)
    if not entries:
        raise InputError(f"{path}: has no entry to check")
    faults = [
        fault for entry in entries for fault in check.differences(entry, runs.of(board, entry).runs)
    ]
    count = sum(len(entry.runs) for entry in entries)
    others = sorted({entry.copyback for entry in entries} - {__version__})
    if others:
        print(f"Stored by Copyback {', '.join(others)}; this is {__version__}.")
    if not faults:
        noun = "entry" if len(entries) == 1 else "entries"
        print(f"{units.count(len(entries))} {noun}, {units.count(count)} runs: all as stored.")
    for fault in faults:
        print(fault)
    return not faults


def show_board(path: Path) -> None:
    """Print the entries of a board in their order."""
    board = read_board(path)
    if not board.entries:
        raise InputError(f"{path}: has no entry")
    show(table(board), width_in_files=WIDTH)


def _objective(one: Objective) -> BoardObjective:
    """Return an objective by the shortest name that means the same without the study."""
    label, column = one.measure.label, one.measure.column
    try:
        is_same = measure_named(label, "").column == column
    except InputError:
        is_same = False
    return BoardObjective(measure=label if is_same else column, goal=one.goal)
