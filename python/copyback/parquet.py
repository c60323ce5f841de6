"""Tables of a run: as data frames in memory, and as Parquet in files."""

from __future__ import annotations

import io
import queue
import threading
from typing import IO, TYPE_CHECKING, Any, Self, cast

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from copyback.streams import is_utf_8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

#: Rows of a row group of a Parquet file. Fixed, so that the same run gives the same bytes.
ROW_GROUP = 131_072

#: What the numbers in some columns stand for.
NAMES = {
    "operation": ["read", "write", "trim", "flush"],
    "message": ["runs_short", "must_collect", "done", "state", "collect", "stop", "report"],
}

#: Batches that may wait to be written.
_WAITING = 2


def _named(names: list[str], numbers: NDArray[Any]) -> pl.Series:
    """Return names in place of their numbers."""
    return pl.Series(names, dtype=pl.Enum(names)).gather(numbers)


def rows_table(columns: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
    """Return a batch of requests, collections or commands."""
    table: dict[str, pl.Series] = {}
    for name, values in columns.items():
        if name == "is_unmeasured":
            continue
        series = pl.Series(name, values)
        if name == "measured_response_ns":
            unmeasured = pl.Series(columns["is_unmeasured"])
            series = pl.select(pl.when(~unmeasured).then(series)).to_series().alias(name)
        elif name in NAMES:
            series = _named(NAMES[name], values).alias(name)
        table[name] = series
    return pl.DataFrame(table)


#: Columns of the series that count in fractions.
FRACTIONS = frozenset({"gc_steps_charged"})


def series_table(columns: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
    """Return the time series: counts are integers, a mean of no request is null."""
    # Not by expressions of Polars: each would cost more than a short run does.
    return pl.DataFrame(
        {
            name: pl.Series(values, nan_to_null=True)
            if name.endswith(("_s", "_us")) or name in FRACTIONS
            else pl.Series(values.astype(np.int64))
            for name, values in columns.items()
        }
    )


def distribution_table(
    curves: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> pl.DataFrame:
    """Return the distributions one under the other, named in the column ``operation``."""
    sizes = [len(values) for values, _ in curves.values()]
    index = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
    empty = np.empty(0)
    return pl.DataFrame(
        {
            "operation": _named(list(curves), index),
            "response_us": np.concatenate([empty, *(v for v, _ in curves.values())]),
            "fraction": np.concatenate([empty, *(f for _, f in curves.values())]),
        }
    )


def write_parquet(table: pl.DataFrame, path: Path) -> None:
    """Write a table with the project's settings."""
    # Opened here: Polars takes no name that is not UTF-8.
    with _File(path) as file:
        table.write_parquet(cast("IO[bytes]", file), compression="zstd", row_group_size=ROW_GROUP)


def read_parquet(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Return some columns, or all, of a table that :func:`write_parquet` wrote."""
    # Polars takes no name that is not UTF-8.
    source = path if is_utf_8(path) else io.BytesIO(path.read_bytes())
    return pl.read_parquet(source, columns=columns, glob=False)


class _File(io.RawIOBase):
    """A file that remembers what the system said to a write: Polars tells something of its own."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._fault: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        try:
            return self._file.write(data)
        except OSError as fault:
            self._fault = fault
            raise

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> None:
        try:
            self._file.close()
        except OSError as last:
            self._fault = self._fault or last
        if self._fault is not None:
            raise self._fault from fault


def batches(path: Path) -> Iterator[pl.DataFrame]:
    """Yield a table that :func:`write_parquet` or `RowWriter` wrote, piece by piece."""
    # Polars takes no name that is not UTF-8.
    source = path if is_utf_8(path) else io.BytesIO(path.read_bytes())
    lazy = pl.scan_parquet(source, glob=False)
    rows = lazy.select(pl.len()).collect().item()
    for first in range(0, max(rows, 1), ROW_GROUP):
        yield lazy.slice(first, ROW_GROUP).collect()


def _batch(rows: Mapping[str, NDArray[Any]] | pl.DataFrame) -> pl.DataFrame:
    return rows if isinstance(rows, pl.DataFrame) else rows_table(rows)


class RowKeeper:
    """Gathers rows in memory."""

    def __init__(self) -> None:
        self._batches: list[pl.DataFrame] = []

    def add(self, rows: Mapping[str, NDArray[Any]] | pl.DataFrame) -> None:
        """Take a batch: columns, or a table of a file."""
        table = _batch(rows)
        if len(table) or not self._batches:
            self._batches.append(table)

    def table(self) -> pl.DataFrame:
        """Return all rows."""
        return pl.concat(self._batches)


class RowWriter:
    """Streams rows into a Parquet file, in row groups of a fixed size; a context.

    Parameters
    ----------
    path
        The file to write; it is created by the first batch, and whole at the end of the context.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._batches: queue.Queue[pl.DataFrame | None] = queue.Queue(_WAITING)
        self._worker: threading.Thread | None = None
        self._fault: Exception | None = None
        self._has_ended = False

    def add(self, rows: Mapping[str, NDArray[Any]] | pl.DataFrame) -> None:
        """Take a batch, columns or a table of a file; it is written meanwhile.

        Raises
        ------
        OSError
            If what came before could not be written.
        """
        table = _batch(rows)
        if self._worker is None:
            self._worker = threading.Thread(target=self._write, args=(table.schema,), daemon=True)
            self._worker.start()
        self._raise()
        self._batches.put(table)

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

    def _write(self, schema: pl.Schema) -> None:
        """Have Polars pull the batches, which is how it writes a file piece by piece."""
        lazy = register_io_source(self._pull, schema=schema)
        try:
            # Opened here: Polars takes no name that is not UTF-8.
            with _File(self.path) as file:
                lazy.sink_parquet(
                    cast("IO[bytes]", file), compression="zstd", row_group_size=ROW_GROUP
                )
        except Exception as fault:
            self._fault = fault
            # Who adds must not wait for ever.
            for _ in self._pull():
                pass

    def _pull(self, *_: object) -> Iterator[pl.DataFrame]:
        while not self._has_ended:
            batch = self._batches.get()
            if batch is not None:
                yield batch
            self._has_ended = batch is None
