"""Result of a run: a summary with attributes, tables, and a report page."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from copyback._core import InputError
from copyback.data import (
    CONFIG,
    REPORT,
    ROW_TABLE_FILES,
    SLOWEST,
    STREAM_FILES,
    SUMMARY,
    TABLE_FILES,
)
from copyback.data.older import check_config, summary_of
from copyback.inputs.arguments import NUMBER, TEXT, check
from copyback.inputs.arguments import path as argument_path

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure

    from copyback.data import StreamName, TableName
    from copyback.frame import Frame
    from copyback.summary import Summary

ContentT = TypeVar("ContentT")
NameT = TypeVar("NameT")


#: Tables that every run writes.
ALWAYS: tuple[TableName, ...] = ("series", "distribution")


class Result:
    """A finished run.

    Attributes
    ----------
    summary : Summary
        The numbers of the run, as attributes.
    config_toml : str
        The resolved configuration: every key with the value that was used.
    slowest : list of dict or None
        The slowest requests, the slowest first, each with its ``waits`` and with what the ``dies``
        that it used did meanwhile, as in ``slowest.json``; times in microseconds of simulated time.
        None unless the run kept them (`metrics.slowest`).
    """

    def __init__(
        self,
        summary: Summary,
        config_toml: str,
        tables: Mapping[TableName, Frame | Path],
        *,
        streams: Mapping[StreamName, bytes | Path] | None = None,
        slowest: list[dict[str, Any]] | None = None,
    ) -> None:
        self.summary = summary
        self.config_toml = config_toml
        self._tables: dict[TableName, Frame | Path] = dict(tables)
        self._streams: dict[StreamName, bytes | Path] = dict(streams or {})
        self.slowest = slowest

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Result:
        """Read a result that ``copyback run --out`` or :meth:`save` wrote.

        Parameters
        ----------
        directory
            The directory that was written.

        Returns
        -------
        Result
            Its tables are read when they are first asked for.

        Raises
        ------
        InputError
            If the directory holds no result.
        """
        home = argument_path("Result.load", directory, "directory")
        if not home.is_dir():
            raise InputError(f"{home}: no such directory")
        try:
            summary = summary_of((home / SUMMARY).read_bytes())
            config_toml = (home / CONFIG).read_text(encoding="utf-8")
            check_config(config_toml, CONFIG)
        except FileNotFoundError as missing:
            name = Path(missing.filename).name
            raise InputError(f"{home}: not a Copyback result: it has no {name}") from None
        except ValueError as fault:
            raise InputError(f"{home}: not a Copyback result: {fault}") from None
        tables: dict[TableName, Frame | Path] = _files_of(home, TABLE_FILES)
        streams: dict[StreamName, bytes | Path] = _files_of(home, STREAM_FILES)
        for table in ALWAYS:
            if table not in tables:
                raise InputError(f"{home}: not a Copyback result: it has no {TABLE_FILES[table]}")
        slowest = home / SLOWEST
        try:
            requests = json.loads(slowest.read_text(encoding="utf-8")) if slowest.exists() else None
        except ValueError as fault:
            raise InputError(f"{slowest}: not what a run wrote: {fault}") from None
        return cls(summary, config_toml, tables, streams=streams, slowest=requests)

    def _table(self, name: TableName) -> Frame:
        table = self._tables[name]
        if isinstance(table, Path):
            from copyback.data.parquet import read_parquet

            table = read_parquet(table)
            self._tables[name] = table
        return table

    @property
    def config(self) -> dict[str, Any]:
        """The resolved configuration as nested dictionaries."""
        return tomllib.loads(self.config_toml)

    @property
    def series(self) -> Frame:
        """The time series: one row an interval of simulated time that starts at ``start_s``."""
        return self._table("series")

    @property
    def distribution(self) -> Frame:
        """Response times: ``operation``, ``response_us``, and the ``fraction`` at or below it.

        The operations are ``all``, ``read`` and ``write``, ``measured_all`` and so on for the
        response times that the trace itself holds, if it does, and ``excess_all`` and so on for
        what exceeds `metrics.excess_bound`, if there is one. Of several flows each has its own,
        as ``flow_0_all`` and so on.
        """
        return self._table("distribution")

    @property
    def dies(self) -> Frame | None:
        """Activity of each die over time: one row a die and bin of simulated time.

        ``collecting_us`` is the time in which the die collected, ``serving_us`` that in which it
        held page operations of the host, ``free_blocks`` counts those of its planes at the bin's
        end. A run of any length has at most 256 bins. None of a result that an earlier version
        wrote.
        """
        return self._row_table("dies")

    @property
    def flows(self) -> Frame | None:
        """Completions of each of several flows over time; None if there is one flow only.

        One row a flow and row of the series, with the columns of the series that tell of requests.
        """
        return self._row_table("flows")

    @property
    def requests(self) -> Frame | None:
        """One row a request, in order of completion; None unless the run kept its requests.

        ``measured_response_ns`` is the response time that the trace holds; null if it holds none.
        Of an array, ``device`` is the drive that ended last.
        """
        return self._row_table("requests")

    @property
    def collections(self) -> Frame | None:
        """When the drives of an array collected: one row an interval, in order of its end.

        None unless the run kept them (`metrics.collections`). An interval begins when a drive's
        first die begins to collect and ends when none does.
        """
        return self._row_table("collections")

    @property
    def commands(self) -> Frame | None:
        """Commands from an array's controller to its drives: one row each, in order of their ends.

        None unless the run kept them (`metrics.commands`). ``response_ns`` counts from the arrival
        at the drive and has the wait for its queue, ``host_queue_ns``, in it.
        """
        return self._row_table("commands")

    @property
    def messages(self) -> Frame | None:
        """Messages between the controller of an array and its drives, in order of sending.

        None unless the run kept it (`metrics.messages`). ``runs_short``, ``must_collect``, ``done``
        and ``state`` are by the drive ``device``; ``collect``, ``stop`` and ``report`` to it.
        """
        return self._row_table("messages")

    @property
    def latency_log(self) -> bytes | None:
        """The text of ``latency.hlog``; None unless the run kept `metrics.histogram_interval`."""
        return self.stream("latency_log")

    def write_hdr_log(self, path: str | os.PathLike[str]) -> Path:
        """Write histograms of the response times, in ns, as an HdrHistogram log.

        A line holds the reads or the writes (its tag) of an interval of simulated time, with three
        significant digits.

        Parameters
        ----------
        path
            The file to write, by custom a ``.hlog``.

        Returns
        -------
        pathlib.Path
            The file written.

        Raises
        ------
        InputError
            If the run kept no histograms, or the file cannot be written.
        """
        from copyback.data.outputs import replace_file

        target = argument_path("write_hdr_log", path)
        if self.latency_log is None:
            hint = "run with metrics.histogram_interval, such as 1s"
            raise InputError(f"this result has no histograms; {hint}")
        return replace_file(target, self.latency_log)

    @property
    def timeline(self) -> list[dict[str, Any]] | None:
        """Timeline of a window of time, as events of the Chrome trace event format.

        None unless the run wrote them (`metrics.timeline`). ``ts`` and ``dur`` are microseconds of
        simulated time; process 0 is the host, and the drives follow.
        """
        packed = self.stream("timeline")
        if packed is None:
            return None
        import gzip

        events: list[dict[str, Any]] = json.loads(gzip.decompress(packed))["traceEvents"]
        return events

    def stream(self, name: StreamName) -> bytes | None:
        """Return what the run wrote as it went, as in its file; None if it wrote none."""
        content = self._streams.get(name)
        return content.read_bytes() if isinstance(content, Path) else content

    def moved_to(self, home: Path) -> Result:
        """Return this result with its files in another directory, which they were moved to."""

        def there(content: ContentT | Path) -> ContentT | Path:
            return home / content.name if isinstance(content, Path) else content

        return Result(
            self.summary,
            self.config_toml,
            {name: there(table) for name, table in self._tables.items()},
            streams={name: there(stream) for name, stream in self._streams.items()},
            slowest=self.slowest,
        )

    def _row_table(self, name: TableName) -> Frame | None:
        return self._table(name) if name in self._tables else None

    @property
    def write_amplification(self) -> float | None:
        """Bytes programmed for each that the host wrote; None if it wrote nothing."""
        return self.summary.write_amplification

    def to_polars(self, table: TableName = "series") -> pl.DataFrame:
        """Return a table as a Polars data frame.

        Parameters
        ----------
        table
            ``"series"``, ``"distribution"``, ``"dies"``, ``"flows"``, ``"requests"``,
            ``"collections"``, ``"commands"`` or ``"messages"``.

        Returns
        -------
        polars.DataFrame

        Raises
        ------
        InputError
            If the result has no such table; without Polars, with the command that installs it.
        """
        return self._named_table(table).to_polars()

    def to_pandas(self, table: TableName = "series") -> pd.DataFrame:
        """Return a table as a pandas data frame.

        Parameters
        ----------
        table
            As of :meth:`to_polars`.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        InputError
            If the result has no such table; without pandas, with the command that installs it.
        """
        return self._named_table(table).to_pandas()

    def _named_table(self, table: TableName) -> Frame:
        if table in self._tables:
            return self._table(table)
        if table in ROW_TABLE_FILES:
            hint = f"; run with metrics.{table} = true"
        else:
            hint = f"; it has {', '.join(self._tables)}"
        raise InputError(f"this result has no table {table!r}{hint}")

    def plot(self, kind: str = "response", *, width: float | None = None) -> Figure:
        """Draw a figure of the run.

        Parameters
        ----------
        kind
            ``"tail"``, the distribution of response times towards the tail; ``"time"``, the mean
            and greatest over time; ``"response"``, both; ``"amplification"``, write
            amplification over time; ``"dies"``, when which die collected.
        width
            Inches; else as wide as its panels need.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it.

        Raises
        ------
        InputError
            If the run has no such figure; without matplotlib, with the command that installs it.
        """
        from copyback.figures.of_run import of_run

        check("Result.plot", kind=(kind, TEXT), width=(width, NUMBER.or_none()))
        return of_run(self, kind, width)

    def report(self, path: str | os.PathLike[str] = REPORT) -> Path:
        """Write the report: one self-contained page that opens offline.

        Parameters
        ----------
        path
            The HTML file to write.

        Returns
        -------
        pathlib.Path
            The file written.
        """
        from copyback.data.outputs import replace_file
        from copyback.report import render

        return replace_file(argument_path("report", path), render(self).encode())

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write everything to a directory, as ``copyback run --out`` does.

        Parameters
        ----------
        directory
            A new or empty directory, or one that holds an earlier result, which is replaced.

        Returns
        -------
        pathlib.Path
            The directory.

        Raises
        ------
        InputError
            If the directory cannot be written or holds anything else.
        """
        from copyback.data.outputs import Staging, write_result

        with Staging(argument_path("save", directory, "directory")) as staging:
            write_result(self, staging.path)
            return staging.publish()

    def __repr__(self) -> str:
        from copyback.words import units

        summary = self.summary
        every = summary.response_us.all
        return (
            f"Result({units.count(every.count)} requests, mean {units.time_us(every.mean)}, "
            f"p99 {units.time_us(every.p99)}, "
            f"write amplification {units.factor(summary.write_amplification)})"
        )

    def __rich__(self) -> object:
        from copyback.words.console import overview

        return overview(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return every number of the summary as an Arrow C stream of one row.

        It has the columns of a comparison's rows, but for those that say which run it is. The
        tables of a result (`series` and so on) offer streams of their own.
        """
        from copyback.data.summary_numbers import numbers_of
        from copyback.frame import Frame

        summary = msgspec.to_builtins(self.summary)
        row = {"seed": self.summary.seed, **numbers_of(summary)}
        return Frame.of_rows([row]).__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        from copyback.report import render_fragment

        return render_fragment(self)


def _files_of(home: Path, names: Mapping[NameT, str]) -> dict[NameT, Any]:
    """Return those files of a result that are there, by what they hold.

    Raises
    ------
    InputError
        If one is no file.
    """
    there = {name: home / file for name, file in names.items() if (home / file).exists()}
    for path in there.values():
        if not path.is_file():
            raise InputError(f"{home}: not a Copyback result: its {path.name} is no file")
    return there
