"""Tables of a run: as frames in memory, and as Parquet in files."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from copyback._core import InputError, TableReader, TableWriter
from copyback.column import Column
from copyback.frame import Frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

T = TypeVar("T")

#: Rows of a row group of a Parquet file. Fixed, so that the same run gives the same bytes.
ROW_GROUP = 131_072

#: What the numbers in some columns stand for.
NAMES = {
    "operation": ("read", "write", "trim", "flush"),
    "message": ("runs_short", "must_collect", "done", "state", "collect", "stop", "report"),
}

#: Batches that may wait to be written.
_WAITING = 2


def rows_table(columns: Mapping[str, NDArray[Any]]) -> Frame:
    """Return a batch of requests, collections or commands."""
    table: dict[str, Column] = {}
    for name, values in columns.items():
        if name == "is_unmeasured":
            continue
        if name == "measured_response_ns":
            table[name] = Column(values, ~columns["is_unmeasured"])
        elif name in NAMES:
            table[name] = _named(NAMES[name], values)
        else:
            table[name] = Column(values)
    return Frame(table)


def _named(names: tuple[str, ...], places: NDArray[Any]) -> Column:
    return Column(places.astype(np.uint32), names=names, are_all=True)


#: Columns of the series that count in fractions.
FRACTIONS = frozenset({"gc_steps_charged"})


def series_table(columns: Mapping[str, NDArray[Any]]) -> Frame:
    """Return the time series: counts are integers, a mean of no request is null."""
    return Frame(
        {
            name: _without_nan(values)
            if name.endswith(("_s", "_us")) or name in FRACTIONS
            else Column(values.astype(np.int64))
            for name, values in columns.items()
        }
    )


def _without_nan(values: NDArray[Any]) -> Column:
    absent = np.isnan(values)
    return Column(values, ~absent if absent.any() else None)


def distribution_table(
    curves: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> Frame:
    """Return the distributions one under the other, named in the column ``operation``."""
    sizes = [len(values) for values, _ in curves.values()]
    index = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
    empty = np.empty(0)
    return Frame(
        {
            "operation": _named(tuple(curves), index),
            "response_us": np.concatenate([empty, *(v for v, _ in curves.values())]),
            "fraction": np.concatenate([empty, *(f for _, f in curves.values())]),
        }
    )


def write_parquet(table: Frame, path: Path) -> None:
    """Write a table with the project's settings."""
    file = TableWriter(path, ROW_GROUP)
    for first in range(0, max(len(table), 1), ROW_GROUP):
        file.write(list(table[first : first + ROW_GROUP].items()))
    file.close()


def read_parquet(path: Path, columns: list[str] | None = None) -> Frame:
    """Return some columns, or all, of a table in a Parquet file.

    Raises
    ------
    InputError
        If it is damaged, or does not have them.
    """
    table = Frame.joined(list(batches(path, columns)))
    if absent := [name for name in columns or () if name not in table]:
        raise InputError(f"{path}: has no column {absent[0]}")
    return table


def batches(path: Path, columns: list[str] | None = None) -> Iterator[Frame]:
    """Yield a table in a Parquet file piece by piece; one that has no rows is one piece.

    Raises
    ------
    InputError
        If it is not there, or damaged.
    """
    try:
        reader = TableReader(path, ROW_GROUP, columns)
        if not reader.height:
            yield _taken(reader.empty())
        for found in reader:
            yield _taken(found)
    except InputError as fault:
        raise InputError(f"{path}: not a table that can be read: {fault}") from None
    except OSError as fault:
        raise InputError(f"{path}: {fault.strerror}") from None


def _taken(found: Mapping[str, Any]) -> Frame:
    return Frame({name: Column(*parts) for name, parts in found.items()})


def _batch(rows: Mapping[str, NDArray[Any]] | Frame) -> Frame:
    return rows if isinstance(rows, Frame) else rows_table(rows)


class RowKeeper:
    """Gathers rows in memory."""

    def __init__(self) -> None:
        self._batches: list[Frame] = []

    def add(self, rows: Mapping[str, NDArray[Any]] | Frame) -> None:
        """Take a batch: columns, or a table of a file."""
        table = _batch(rows)
        if len(table) or not self._batches:
            self._batches.append(table)

    def table(self) -> Frame:
        """Return all rows."""
        return Frame.joined(self._batches)


class RowWriter:
    """Streams rows into a Parquet file, in row groups of a fixed size; a context.

    Parameters
    ----------
    path
        The file to write; it is created by the first batch, and whole at the end of the context.
    """

    def __init__(self, path: Path) -> None:
        self._file = TableWriter(path, ROW_GROUP)
        self._batches: queue.Queue[Frame | None] = queue.Queue(_WAITING)
        self._worker: threading.Thread | None = None
        self._fault: Exception | None = None

    def add(self, rows: Mapping[str, NDArray[Any]] | Frame) -> None:
        """Take a batch, columns or a table of a file; it is written meanwhile.

        Raises
        ------
        OSError
            If what came before could not be written.
        """
        if self._worker is None:
            self._worker = threading.Thread(target=self._write, daemon=True)
            self._worker.start()
        self._raise()
        self._batches.put(_batch(rows))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, fault: type[BaseException] | None, *_: object) -> None:
        if self._worker is None:
            return
        self._batches.put(None)
        self._worker.join()
        if fault is None:
            self._raise()

    def _raise(self) -> None:
        if self._fault is not None:
            raise self._fault

    def _write(self) -> None:
        """Write batches until there are no more; after a fault they are let go."""
        waiting: list[Frame] = []
        while (batch := self._batches.get()) is not None:
            if self._fault is None:
                waiting.append(batch)
                waiting = self._attempt(self._whole_groups, waiting) or []
        if self._fault is None:
            self._attempt(self._end, waiting)

    def _whole_groups(self, waiting: list[Frame]) -> list[Frame]:
        """Write all groups of rows that are complete; return what is left."""
        if sum(map(len, waiting)) < ROW_GROUP:
            return waiting
        table = Frame.joined(waiting)
        whole = len(table) // ROW_GROUP * ROW_GROUP
        for first in range(0, whole, ROW_GROUP):
            # As one batch: where pages of a file end depends on it.
            self._file.write(list(table[first : first + ROW_GROUP].items()))
        return [table[whole:]]

    def _end(self, waiting: list[Frame]) -> None:
        self._file.write(list(Frame.joined(waiting).items()))
        self._file.close()

    def _attempt(self, work: Callable[[list[Frame]], T], given: list[Frame]) -> T | None:
        try:
            return work(given)
        except Exception as fault:
            # Raised where rows are added: who adds must not wait for ever.
            self._fault = fault
            return None
