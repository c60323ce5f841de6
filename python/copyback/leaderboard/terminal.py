"""Output of ``copyback leaderboard``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.inputs.configuration import setting_value
from copyback.leaderboard.ranking import mean, ranked, ratio
from copyback.sweep.answer import number
from copyback.sweep.contest_table import empty_table

if TYPE_CHECKING:
    from rich.table import Table

    from copyback.leaderboard.board import Board, Entry

#: Mark of an entry whose drive did not keep up with a workload.
OVERLOADED = "†"


def table(board: Board) -> Table:
    """Return the entries in their order: their numbers, and the ratios to the first one added."""
    made = empty_table("")
    made.add_column("", style="bold")
    made.add_column("entry", overflow="fold")
    for one in board.objectives:
        made.add_column(one.found().label, justify="right", no_wrap=True)
    made.add_column("in place of the base", overflow="fold")
    first = board.entries[0]
    for place, entry in enumerate(ranked(board), 1):
        cells = [_cell(board, entry, first, i) for i in range(len(board.objectives))]
        settings = ", ".join(_setting(key, value) for key, value in entry.settings.items())
        made.add_row(str(place), _name(entry), *cells, settings or "nothing")
    made.caption = _caption(board)
    made.caption_justify = "left"
    return made


def _setting(key: str, text: str) -> str:
    """Return a setting in short: the key's last part; of a choice with parameters its name."""
    value = setting_value(text)
    named = value["type"] if isinstance(value, dict) and "type" in value else value
    return f"{key.rpartition('.')[2]} {named}"


def _name(entry: Entry) -> str:
    return entry.name + (f" {OVERLOADED}" if any(run.overloaded for run in entry.runs) else "")


def _cell(board: Board, entry: Entry, first: Entry, place: int) -> str:
    value = number(board.objectives[place].found(), mean(board, entry, place))
    return value if entry is first else f"{value}\n{ratio(board, entry, first, place).marked}"


def _caption(board: Board) -> str:
    parts = [
        f"Geometric means over {len(board.loads)} workloads and {len(board.seeds)} seeds. "
        f"Below: ratio to {board.entries[0].name}; ? = not distinguishable."
    ]
    if any(run.overloaded for entry in board.entries for run in entry.runs):
        parts.append(
            f"{OVERLOADED} = did not keep up with a workload: times depend on the run's length."
        )
    return " ".join(parts)
