"""Advances a simulation to its end, and measures what that costs."""

from __future__ import annotations

import io
import json
import signal
import sys
import time
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, Any

from copyback._core import Config, Preparation, Progress, Simulation
from copyback.data import ROW_TABLE_FILES, STREAM_FILES, RowTableName, StreamName
from copyback.inputs import policy_names, typed
from copyback.process import checkout, stopping
from copyback.result import Result
from copyback.simulation.beforehand import check_memory
from copyback.simulation.checkpoint import Interrupted
from copyback.summary import Summary
from copyback.words import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from copyback._core import Conversion, InputCheck, Server, Survey
    from copyback.data import TableName
    from copyback.frame import Frame
    from copyback.policies.suppliers import Suppliers
    from copyback.simulation.checkpoint import Checkpoint
    from copyback.simulation.prepared import Start

    Columns = dict[str, NDArray[np.generic]]

#: The phase of a run that has not begun to serve requests.
PRECONDITION = "precondition"

#: How often, in seconds, a running simulation comes back to Python.
SLICE_S = 0.05

#: Work asked for first: a short run is done in one slice, a slow one comes back within a second.
FIRST_EVENTS = 100_000

#: Most work asked for at a time: many small drives are prepared one after the other, each at once.
MOST_EVENTS = 1 << 40


class Pace:
    """Advances a simulation or other task by about `SLICE_S` seconds at a time."""

    def __init__(self) -> None:
        self.events = FIRST_EVENTS

    def advance(
        self, simulation: Simulation | Preparation | Survey | Conversion | InputCheck | Server
    ) -> bool:
        """Advance once; return whether there is no more to do."""
        stopping.check()
        begun = time.perf_counter()
        done = simulation.advance(self.events)
        spent = max(time.perf_counter() - begun, 1e-6)
        wanted = max(self.events * SLICE_S / spent, 1_000)
        self.events = int(min(wanted, self.events * 4, MOST_EVENTS))
        return done


class Driver:
    """Advances a simulation in short slices and measures what that costs.

    Slices let Ctrl-C through and feed a progress bar; where they fall decides no result.

    Parameters
    ----------
    config
        The configuration.
    state
        A prepared device to start from.
    notes
        What the user should know of the workload beside what the simulator tells.
    commit
        Tells the commit of Copyback that runs it.
    threads
        Drives of an array that are worked on at the same time: while they are prepared, and in the
        run where they have nothing to do with each other; the result is the same. Policies in
        Python are asked by one thread.
    checkpoint
        Where the run is written to as it goes, to go on from there. What it holds is gone on with.
    start
        Takes prepared drives from those that are kept, and keeps them. Not asked if there is a
        `state`, or a policy in Python.
    """

    def __init__(
        self,
        config: Config,
        *,
        state: Path | None = None,
        notes: Sequence[str] = (),
        commit: Callable[[], str | None] = checkout.commit,
        threads: int = 1,
        checkpoint: Checkpoint | None = None,
        start: Start | None = None,
    ) -> None:
        self.config = config
        self.notes = notes
        self.commit = commit
        self.wall_s = 0.0
        self.cpu_s = 0.0
        self.precondition_cpu_s = 0.0
        check_memory(config)
        begun = self._clocks()
        suppliers = suppliers_of(config)

        def on(prepared: Path | None) -> Simulation:
            return Simulation(config, prepared, suppliers, 1 if suppliers else threads)

        self.start = start if state is None and suppliers is None else None

        def make() -> Simulation:
            return on(state) if self.start is None else self.start.simulation(on)

        self.checkpoint = checkpoint
        if checkpoint is None:
            self.simulation = make()
        else:
            self.simulation, spent = checkpoint.begin(config, state, make, suppliers, threads)
            self.wall_s = spent.get("wall_s", 0.0)
            self.cpu_s = spent.get("cpu_s", 0.0)
            self.precondition_cpu_s = spent.get("precondition_cpu_s", 0.0)
        self._charge(begun)

    def run(
        self,
        *,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_rows: Mapping[RowTableName, Callable[[Columns], None]] | None = None,
        on_text: Mapping[StreamName, Callable[[bytes], object]] | None = None,
    ) -> None:
        """Advance to the end.

        Parameters
        ----------
        on_progress
            Told after each slice.
        on_rows
            For tables that the run keeps: given the rows that each slice added.
        on_text
            For streams that the run writes: given the text that each slice added.
        """
        sinks, listeners = on_rows or {}, on_text or {}
        if self.checkpoint is None:
            self._advance(on_progress, sinks, listeners)
            return
        try:
            with self.checkpoint.listening() as checkpoint:
                self._advance_in_parts(checkpoint, on_progress, sinks, listeners)
        except Interrupted as stopped:
            # Whoever called decides what a signal does.
            signal.raise_signal(stopped.number)
            raise
        self.checkpoint.join(
            {table: sinks[table] for table in self.row_tables if table in sinks},
            {stream: listeners[stream] for stream in self._streams() if stream in listeners},
        )

    def _advance_in_parts(
        self,
        checkpoint: Checkpoint,
        on_progress: Callable[[Progress], None],
        sinks: Mapping[RowTableName, Callable[[Columns], None]],
        listeners: Mapping[StreamName, Callable[[bytes], object]],
    ) -> None:
        """Advance to the end; what is handed out gathers beside the checkpoint."""
        tables = [table for table in self.row_tables if table in sinks]
        streams = [stream for stream in self._streams() if stream in listeners]
        done = False
        while not done:
            with checkpoint.part(tables, streams) as (rows, texts):
                done = self._advance(on_progress, rows, texts, until=lambda: checkpoint.is_due)
            if not done:
                spent = {
                    "wall_s": self.wall_s,
                    "cpu_s": self.cpu_s,
                    "precondition_cpu_s": self.precondition_cpu_s,
                }
                checkpoint.write(self.simulation, spent, self.simulation.progress())

    def _advance(
        self,
        on_progress: Callable[[Progress], None],
        sinks: Mapping[RowTableName, Callable[[Columns], None]],
        listeners: Mapping[StreamName, Callable[[bytes], object]],
        *,
        until: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Advance to the end, or `until` something holds; return whether that is the end."""
        pace = Pace()
        takers = self._takers()
        streams = self._streams()
        preparing = self.simulation.progress().phase == PRECONDITION
        while True:
            begun = self._clocks()
            done = pace.advance(self.simulation)
            if preparing and self.start is not None:
                self.start.note(self.simulation)
            self._charge(begun)
            if preparing:
                self.precondition_cpu_s = self.cpu_s
            progress = self.simulation.progress()
            if preparing and progress.phase != PRECONDITION:
                # How fast the drive was prepared, or the run set up, says nothing of the run.
                preparing, pace = False, Pace()
            on_progress(progress)
            for table, take in takers.items():
                rows = take()
                if table in sinks:
                    sinks[table](rows)
            for stream, take_text in streams.items():
                text = take_text()
                if stream in listeners:
                    listeners[stream](text)
            if done or until():
                return done

    def run_in_memory(
        self, command: str, *, on_progress: Callable[[Progress], None] = lambda _: None
    ) -> Result:
        """Advance to the end and return the result, with the tables of rows in memory."""
        from copyback.data.parquet import RowKeeper

        kept = {table: RowKeeper() for table in self.row_tables}
        on_rows = {table: rows.add for table, rows in kept.items()}
        memory = {stream: io.BytesIO() for stream in self._streams()}
        with _writing(memory) as on_text:
            self.run(on_progress=on_progress, on_rows=on_rows, on_text=on_text)
        tables = {table: rows.table() for table, rows in kept.items()}
        return self.result(command, tables, {name: to.getvalue() for name, to in memory.items()})

    def run_into(
        self,
        directory: Path,
        command: str,
        *,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> Result:
        """Advance to the end and return the result, with the tables of rows in files."""
        from copyback.data.parquet import RowWriter

        files = {table: directory / ROW_TABLE_FILES[table] for table in self.row_tables}
        texts = {stream: directory / STREAM_FILES[stream] for stream in self._streams()}
        with ExitStack() as stack:
            opened = {name: stack.enter_context(path.open("wb")) for name, path in texts.items()}
            on_text = stack.enter_context(_writing(opened))
            on_rows = {
                table: stack.enter_context(RowWriter(path)).add for table, path in files.items()
            }
            self.run(on_progress=on_progress, on_rows=on_rows, on_text=on_text)
        return self.result(command, files, texts)

    @property
    def row_tables(self) -> list[RowTableName]:
        """The tables of rows that the run keeps."""
        return list(self._takers())

    def _takers(self) -> dict[RowTableName, Callable[[], Columns]]:
        config, simulation = self.config, self.simulation
        takers: dict[RowTableName, tuple[bool, Callable[[], Columns]]] = {
            "requests": (config.keeps_requests, simulation.take_requests),
            "collections": (config.keeps_collections, simulation.take_collections),
            "commands": (config.keeps_commands, simulation.take_commands),
            "messages": (config.keeps_messages, simulation.take_messages),
        }
        return {table: take for table, (keeps, take) in takers.items() if keeps}

    def _streams(self) -> dict[StreamName, Callable[[], bytes]]:
        config, simulation = self.config, self.simulation
        streams: dict[StreamName, tuple[bool, Callable[[], bytes]]] = {
            "latency_log": (config.keeps_latency_log, simulation.take_latency_log),
            "timeline": (config.writes_timeline, simulation.take_timeline),
        }
        return {stream: take for stream, (keeps, take) in streams.items() if keeps}

    @staticmethod
    def _clocks() -> tuple[float, float]:
        return time.perf_counter(), time.process_time()

    def _charge(self, begun: tuple[float, float]) -> None:
        wall, cpu = (now - then for now, then in zip(self._clocks(), begun, strict=True))
        self.wall_s += wall
        self.cpu_s += cpu

    def summary(self, command: str) -> Summary:
        """Return the summary, with what the run cost on this machine.

        Parameters
        ----------
        command
            How the run was started.
        """
        text = self.simulation.summary()
        assert text is not None, "the run has ended"
        numbers: dict[str, Any] = json.loads(text)
        numbers["notes"] = [*self.notes, *numbers["notes"]]
        operations = numbers["simulator"]["page_operations"]
        run_cpu_s = self.cpu_s - self.precondition_cpu_s
        numbers["simulator"] |= {
            "wall_s": round(self.wall_s, 6),
            "cpu_s": round(self.cpu_s, 6),
            "precondition_cpu_s": round(self.precondition_cpu_s, 6),
            "page_operations_per_cpu_s": round(operations / run_cpu_s) if run_cpu_s else None,
            "peak_rss_mib": peak_rss_mib(),
            "command": command,
            "commit": self.commit(),
        }
        numbers["verdict"]["says"] = []
        summary = typed.convert(numbers, Summary)
        summary.verdict.says = [finding.sentence for finding in verdict.findings(summary)]
        return summary

    def result(
        self,
        command: str,
        rows: Mapping[RowTableName, Any] | None = None,
        streams: Mapping[StreamName, bytes | Path] | None = None,
        *,
        measured: bool = True,
    ) -> Result:
        """Return the result of a run that has ended.

        Parameters
        ----------
        command
            How the run was started.
        rows
            The tables of rows, or the files that hold them.
        streams
            What it wrote as it went, as in the files, or these files.
        measured
            Whether the result has the tables of what was measured, too. They need NumPy and Polars,
            whose import takes longer and holds more memory than a small run.
        """
        slowest = self.simulation.slowest()
        tables: dict[Any, Any] = self._measured_tables() if measured else {}
        tables.update(rows or {})
        return Result(
            self.summary(command),
            self.config.to_toml(),
            tables,
            streams=streams,
            slowest=json.loads(slowest) if slowest is not None else None,
        )

    def _measured_tables(self) -> dict[TableName, Frame]:
        from copyback.data.parquet import distribution_table, rows_table, series_table

        tables: dict[TableName, Frame] = {
            "series": series_table(self.simulation.series()),
            "distribution": distribution_table(self.simulation.distributions()),
            "dies": rows_table(self.simulation.dies()),
        }
        flows = self.simulation.flow_series()
        if flows["flow"].size:
            tables["flows"] = series_table(flows)
        return tables


@contextmanager
def _writing(
    targets: Mapping[StreamName, IO[bytes]],
) -> Iterator[dict[StreamName, Callable[[bytes], None]]]:
    """Yield what takes the text of each stream on its way to its target."""
    from copyback.data.outputs import StreamWriter

    writers = {
        stream: StreamWriter(target, packed=STREAM_FILES[stream].endswith(".gz"))
        for stream, target in targets.items()
    }
    yield {stream: writer.add for stream, writer in writers.items()}
    for writer in writers.values():
        writer.close()


def suppliers_of(config: Config) -> Suppliers | None:
    """Return what makes the policies in Python of a configuration; None if it names none."""
    if not policy_names.named_by(config):
        return None
    from copyback.policies.suppliers import suppliers

    return suppliers(config)


def peak_rss_mib() -> float | None:
    """Return the most memory that this process has held, in MiB; None where nobody knows."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
