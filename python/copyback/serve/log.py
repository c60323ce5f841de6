"""The log of a served drive: what it was asked for, so that it can be run again.

The log is a trace in Parquet like any other (`arrival_ns`, `operation`, `offset`, `bytes`, and
`handle` if exports have handles). Further columns are the drive's response times (`response_ns`),
those that clients saw in simulated time (`measured_response_ns`), and the longest time that a
request may have waited on the host's clock before the server saw it (`unseen_ns`). Beside the table
stand the facts that a replay needs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback._core import TableWriter
from copyback.column import Column
from copyback.data.parquet import NAMES, ROW_GROUP, read_parquet
from copyback.frame import Frame
from copyback.serve.facts import KEY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

#: Rows that are written together.
_TOGETHER = 16_384


def _table(rows: Mapping[str, NDArray[Any]], *, names_handles: bool) -> Frame:
    handles = {"handle": Column(rows["handle"], rows["has_handle"])} if names_handles else {}
    return Frame(
        {
            "arrival_ns": Column(rows["arrival_ns"]),
            "operation": Column(
                rows["operation"].astype(np.uint32), names=NAMES["operation"], are_all=True
            ),
            "offset": Column(rows["offset"]),
            "bytes": Column(rows["bytes"]),
            **handles,
            "response_ns": Column(rows["response_ns"]),
            "measured_response_ns": Column(rows["measured_response_ns"], rows["was_seen"]),
            "unseen_ns": Column(rows["unseen_ns"]),
        }
    )


class LogWriter:
    """Writes a log as it grows.

    Parameters
    ----------
    names_handles
        Whether requests may come with placement handles.
    """

    def __init__(self, path: Path, *, names_handles: bool) -> None:
        self._file = TableWriter(path, ROW_GROUP)
        self._names_handles = names_handles
        self._waiting: list[Frame] = []
        self.rows = 0

    def add(self, rows: Mapping[str, NDArray[Any]]) -> None:
        """Take rows."""
        table = _table(rows, names_handles=self._names_handles)
        self.rows += len(table)
        self._waiting.append(table)
        if sum(map(len, self._waiting)) >= _TOGETHER:
            self._write()

    def _write(self) -> None:
        if self._waiting:
            self._file.write(list(Frame.joined(self._waiting).items()))
            self._waiting = []

    def close(self, facts: Mapping[str, Any]) -> None:
        """Make the file whole, with what a replay has to know."""
        self._write()
        self._file.note(KEY, json.dumps(facts))
        self._file.close()


def read(path: Path) -> Frame:
    """Return the log."""
    return read_parquet(path)
