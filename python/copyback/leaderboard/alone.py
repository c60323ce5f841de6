"""Whether a board stands alone: it is run by people who do not know its authors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.inputs.configuration import setting_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from copyback.leaderboard.board import Board

_NO_PYTHON = "found a policy in Python; allowed on a board: policies that are built in"
_NO_FILE = "found a file that a run reads; allowed on a board: configurations that stand alone"

#: Last parts of keys, and what is refused there.
_REFUSED = {"policy": _NO_PYTHON, "path": _NO_FILE, "trace": _NO_FILE}


def check_alone(board: Board, settings: Mapping[str, str]) -> None:
    """Refuse policies in Python and files of a board's base, its workloads, or a design.

    Nothing is read or loaded for it.

    Parameters
    ----------
    settings
        What the design has in place of the base.

    Raises
    ------
    InputError
        With the key.
    """
    texts = [settings, *(load.settings for load in board.loads.values())]
    given = [(key, setting_value(text)) for one in texts for key, text in one.items()]
    for key, value in (*board.base.items(), *given):
        for fault in _faults(value, key):
            raise InputError(fault)


def _faults(value: Any, key: str) -> Iterator[str]:
    if refused := _REFUSED.get(key.rpartition(".")[2]):
        yield f"{key}: {refused}"
    elif isinstance(value, list):
        for one in value:
            yield from _faults(one, key)
    elif isinstance(value, dict):
        if value.get("type") == "python":
            yield f"{key}: {_NO_PYTHON}"
        for name, own in value.items():
            yield from _faults(own, f"{key}.{name}")
