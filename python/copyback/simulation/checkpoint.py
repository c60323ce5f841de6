"""Runs that are interrupted and gone on with: when a checkpoint is written, what lies beside it."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Self

from copyback._core import InputError, Simulation, time_ns
from copyback.data import ROW_TABLE_FILES, STREAM_FILES
from copyback.data.destination import check_file, is_stream, naming
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from types import FrameType

    from copyback._core import Config, Found, Progress
    from copyback.data import RowTableName, StreamName
    from copyback.policies.suppliers import Suppliers

    RowSinks = dict[RowTableName, Callable[[Any], None]]
    TextSinks = Mapping[StreamName, Callable[[bytes], object]]

#: How often a checkpoint is written unless somebody says otherwise, in seconds.
EVERY_S = 300.0

#: Bytes of a text that are handed on at a time.
_PIECE = 1 << 20

#: Bytes at the start of a prepared device that tell it from others.
_STATE_MARK = 64


def seconds(text: str) -> float:
    """Return the seconds of a time such as ``5min``.

    >>> seconds("5min")
    300.0

    Raises
    ------
    InputError
        If it is none, or no time at all.
    """
    span = time_ns(text) / 1e9
    if not span:
        raise InputError(f"--checkpoint-every: found {text!r}; expected more than no time")
    return span


class Checkpoint:
    """The checkpoint of a run, and the rows that the run had handed out when it was written.

    Rows and text leave a simulation as it goes. They gather in `rows`, a directory beside the file,
    in parts: each time a checkpoint is written, a part is finished before it and the next begins.
    At the end the parts make the files that an uninterrupted run writes.

    Parameters
    ----------
    path
        The file.
    every_s
        Seconds between one time that it is written and the next.

    Raises
    ------
    InputError
        If it cannot be a file.
    """

    def __init__(self, path: Path, every_s: float = EVERY_S) -> None:
        check_file(path)
        if is_stream(path):
            raise InputError(f"{path}: cannot be a checkpoint; a file is needed")
        self.path = path
        self.rows = path.with_name(path.name + ".rows")
        self._check_rows()
        #: Parts of rows that belong to what is written.
        self.parts = 0
        self._every_s = every_s
        self._written_at = time.monotonic()
        self._asked: int | None = None
        self._mark = ""

    def _check_rows(self) -> None:
        """Refuse a place for rows where anything else is: it is removed with them."""
        if not self.rows.exists():
            return
        if not self.rows.is_dir():
            raise InputError(f"{self.rows}: is a file, and rows of the run would lie there")
        for file in self.rows.iterdir():
            if _number(file) is None:
                raise InputError(
                    f"{self.rows}: holds something other than rows of a run ({file.name}); "
                    "give the checkpoint another name"
                )

    def begin(
        self,
        config: Config,
        state: Path | None,
        make: Callable[[], Simulation],
        suppliers: Suppliers | None,
        threads: int,
    ) -> tuple[Simulation, dict[str, float]]:
        """Return the run that the file holds, or a new one, and what the run has cost so far.

        Parameters
        ----------
        config
            The configuration.
        state
            The prepared device that a new one begins with.
        make
            Makes a new one.
        suppliers
            Make its policies in Python.
        threads
            Drives that are prepared at the same time.

        Raises
        ------
        InputError
            If the file is damaged, or of another run.
        """
        self._mark = _mark(state)
        if not self.path.exists():
            self._forget_unfinished()
            simulation = make()
            simulation.keep()
            return simulation, {}
        threads = 1 if suppliers else threads
        simulation, found = Simulation.resume(config, self.path, suppliers, threads)
        note = json.loads(found.note)
        if note["state"] != self._mark:
            raise InputError(
                f"{self.path}: of a run that began with another prepared device; "
                "expected one that began with the same --state"
            )
        self.parts = note["parts"]
        self._forget_unfinished()
        self._say(f"going on from {self.path}: {_standing(found)}")
        return simulation, note["spent"]

    def _forget_unfinished(self) -> None:
        """Remove parts that were begun after the checkpoint was written."""
        if self.rows.is_dir():
            for file in self.rows.iterdir():
                if (number := _number(file)) is not None and number >= self.parts:
                    file.unlink()

    def _part(self, name: str, number: int) -> Path:
        return self.rows / f"{name}.{number}"

    @contextlib.contextmanager
    def part(
        self, tables: Iterable[RowTableName], texts: Iterable[StreamName]
    ) -> Iterator[tuple[RowSinks, TextSinks]]:
        """Yield what takes the next part of tables and texts, whole when the context ends."""
        with naming(self.rows), contextlib.ExitStack() as stack:
            rows: RowSinks = {}
            pieces: dict[StreamName, Callable[[bytes], object]] = {}
            for table in tables:
                from copyback.data.parquet import RowWriter

                self.rows.mkdir(exist_ok=True)
                writer = RowWriter(self._part(table, self.parts))
                rows[table] = stack.enter_context(writer).add
            for text in texts:
                self.rows.mkdir(exist_ok=True)
                file = self._part(text, self.parts).open("wb")
                pieces[text] = stack.enter_context(file).write
            yield rows, pieces

    def join(self, rows: Mapping[RowTableName, Callable[[Any], None]], texts: TextSinks) -> None:
        """Hand on all parts, the last of which no checkpoint tells of."""
        for number in range(self.parts + 1):
            for table, add in rows.items():
                from copyback.data.parquet import batches

                for batch in batches(self._part(table, number)):
                    add(batch)
            for text, add_text in texts.items():
                with self._part(text, number).open("rb") as file:
                    while piece := file.read(_PIECE):
                        add_text(piece)

    @contextlib.contextmanager
    def listening(self) -> Iterator[Self]:
        """Let signals that would end the process wait until the run can be written."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        numbers = [
            number
            for number in (signal.SIGINT, signal.SIGTERM)
            if signal.getsignal(number) not in (signal.SIG_IGN, None)
        ]
        previous: dict[int, Any] = {number: signal.getsignal(number) for number in numbers}

        def asked(number: int, _frame: FrameType | None) -> None:
            if self._asked is not None:
                # Asked twice: at once.
                _as_before(previous)
                signal.raise_signal(number)
            self._asked = number

        for number in numbers:
            signal.signal(number, asked)
        try:
            yield self
        finally:
            _as_before(previous)

    @property
    def is_due(self) -> bool:
        """Whether it is to be written: it is time, or somebody wants the run to end."""
        return self._asked is not None or time.monotonic() - self._written_at >= self._every_s

    def write(self, simulation: Simulation, spent: Mapping[str, float], progress: Progress) -> None:
        """Write the run, whose rows so far are in finished parts; end it if somebody wants that.

        Parameters
        ----------
        simulation
            The run.
        spent
            What it has cost so far.
        progress
            How far it has come.
        """
        note = {"state": self._mark, "parts": self.parts + 1, "spent": spent}
        simulation.write_checkpoint(self.path, json.dumps(note))
        self.parts += 1
        self._written_at = time.monotonic()
        if self._asked is not None:
            self._say(
                f"stopped: {_standing(progress)}; "
                f"the same command with --checkpoint {self.path} goes on from there"
            )
            raise Interrupted(self._asked)

    @staticmethod
    def _say(line: str) -> None:
        print(f"copyback: {line}", file=sys.stderr, flush=True)

    def remove(self) -> None:
        """Remove the file and the rows beside it: the results of the run are written."""
        with naming(self.path):
            self.path.unlink(missing_ok=True)
            shutil.rmtree(self.rows, ignore_errors=True)


class Interrupted(Exception):  # noqa: N818 - not an error
    """A run was stopped by a signal, and its checkpoint is written."""

    def __init__(self, number: int) -> None:
        self.number = number


def _as_before(previous: Mapping[int, Any]) -> None:
    for number, handler in previous.items():
        signal.signal(number, handler)


def _standing(at: Found | Progress) -> str:
    preparing = at.is_preparing if hasattr(at, "is_preparing") else at.phase != "run"
    if preparing:
        return "its drives are being prepared"
    seconds_ = units.time_s(at.simulated_ns / 1e9)
    return f"{seconds_} simulated, {at.requests:,} requests completed"


def _number(file: Path) -> int | None:
    """Return which part of a table or text a file is; None if it is none."""
    name, _, number = file.name.rpartition(".")
    is_part = name in {*ROW_TABLE_FILES, *STREAM_FILES} and number.isdecimal()
    return int(number) if is_part else None


def _mark(state: Path | None) -> str:
    """Return what tells a prepared device from others: the start of its file has a checksum."""
    if state is None:
        return ""
    try:
        with state.open("rb") as file:
            return file.read(_STATE_MARK).hex()
    except OSError as fault:
        raise InputError(f"{state}: {fault.strerror}") from None
