"""A leaderboard, as its file has it.

A board has a base configuration, workloads, seeds and objectives. An entry is a design: what it has
in place of the base, in the keys that the board leaves open, and its numbers under each workload
with each seed. A configuration is data: a board holds no policy in Python and names no file.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from copyback._core import InputError
from copyback.data.outputs import replace_file
from copyback.designer.study import Goal
from copyback.inputs.tables import Table, read_json
from copyback.sweep.bounds import measure_named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from copyback.sweep.schemes import Measure


class BoardLoad(Table, frozen=True):
    """Workload of a board: what is laid over a design for it, as ``--set`` takes it."""

    settings: dict[str, str]
    weight: float = 1.0


class BoardObjective(Table, frozen=True):
    """Number that is to be small, or large."""

    measure: str
    goal: Goal

    def found(self) -> Measure:
        """Return the measure."""
        return measure_named(self.measure, "objectives")


class BoardRun(Table, frozen=True):
    """Result of one run of an entry.

    Attributes
    ----------
    digest
        Of the resolved configuration.
    numbers
        Of the objectives, by their measures.
    overloaded
        Whether the drive did not keep up, so that its times depend on the length of the run.
    """

    load: str
    seed: int
    digest: str
    numbers: dict[str, float]
    overloaded: bool = False


class Entry(Table, frozen=True):
    """Design on a board.

    Attributes
    ----------
    settings
        What it has in place of the base, as ``--set`` takes it.
    copyback
        Version of the program that ran it.
    """

    name: Annotated[str, Meta(min_length=1)]
    settings: dict[str, str]
    runs: tuple[BoardRun, ...]
    copyback: str
    about: str = ""


class Board(Table, frozen=True):
    """Content of a leaderboard's file.

    Attributes
    ----------
    schema
        Version of the form of the file.
    base
        A complete configuration.
    open_keys
        Keys that entries may set, with all below them.
    """

    schema: Literal[1]
    base: dict[str, Any]
    loads: Annotated[dict[str, BoardLoad], Meta(min_length=1)]
    seeds: Annotated[tuple[int, ...], Meta(min_length=1)]
    objectives: Annotated[tuple[BoardObjective, ...], Meta(min_length=1)]
    open_keys: tuple[str, ...] = field(default=(), name="open")
    entries: tuple[Entry, ...] = ()

    def is_open(self, key: str) -> bool:
        """Whether entries may set a key."""
        return any(f"{key}.".startswith(f"{one}.") for one in self.open_keys)

    def entry(self, name: str) -> Entry:
        """Return the entry of a name.

        Raises
        ------
        InputError
            If there is none.
        """
        for one in self.entries:
            if one.name == name:
                return one
        known = ", ".join(one.name for one in self.entries) or "none, as the board is empty"
        raise InputError(f"--entry {name}: no such entry; allowed: {known}")


def read_board(path: Path) -> Board:
    """Read the file of a board.

    Raises
    ------
    InputError
        With the file, the key, what was found and what is allowed.
    """
    board = read_json(path, Board)
    for wrong in _faults(board):
        raise InputError(f"{path}: {wrong}")
    return board


def write_board(board: Board, path: Path) -> None:
    """Write the file of a board, whole or not at all."""
    text = json.dumps(msgspec.to_builtins(board), indent=1, ensure_ascii=False) + "\n"
    replace_file(path, text.encode())


def _faults(board: Board) -> Iterator[str]:
    for place, one in enumerate(board.objectives):
        try:
            one.found()
        except InputError as fault:
            yield f"objectives[{place}]: {str(fault).partition(': ')[2]}"
    names = Counter(one.name for one in board.entries)
    wanted = sorted((load, seed) for load in board.loads for seed in board.seeds)
    measures = {one.measure for one in board.objectives}
    for place, entry in enumerate(board.entries):
        where = f"entries[{place}]"
        if names[entry.name] > 1:
            yield f"{where}.name: found {entry.name} twice; allowed: a name of its own"
        for key in entry.settings:
            if not board.is_open(key):
                yield f"{where}.settings: found {key}; allowed: {', '.join(board.open_keys)}"
        if sorted((run.load, run.seed) for run in entry.runs) != wanted:
            yield (
                f"{where}.runs: found other runs than the board's; allowed: one for each of "
                f"{len(board.loads)} workloads and {len(board.seeds)} seeds"
            )
        for run in entry.runs:
            if run.numbers.keys() != measures:
                yield (
                    f"{where}.runs: numbers: found {', '.join(run.numbers)}; allowed: "
                    f"{', '.join(sorted(measures))}"
                )
