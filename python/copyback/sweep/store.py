"""Finished runs on disk, each whole or not at all.

::

    DIR/sweep.json          what the last sweep was; says that a sweep may go on here
    DIR/results.parquet     one row a run of that sweep
    DIR/report.html         its page
    DIR/winners.md          which schemes win where
    DIR/runs/KEY/           what `copyback run --out` leaves, but for the page
    DIR/states/             prepared devices while a sweep runs

A run is written beside its place and renamed, so that whatever ends a sweep leaves finished runs
and nothing else; the next sweep into the directory takes those that it shares.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from typing import TYPE_CHECKING, Any, Self

from filelock import FileLock, Timeout

from copyback import __version__
from copyback import data as names
from copyback._core import InputError
from copyback.data.destination import PARTIAL, refusal
from copyback.data.older import PRESENT
from copyback.data.outputs import make_parents, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCHEMA = 1
MARKER = "sweep.json"
RESULTS = "results.parquet"
REPORT = "report.html"
WINNERS = "winners.md"
RUNS = "runs"
_STATES = "states"
_LOCK = ".lock"
_PARQUET = b"PAR1"

_FILES = (MARKER, RESULTS, REPORT, WINNERS)
_ENTRIES = {*_FILES, RUNS, _STATES}


class Store:
    """The directory of a sweep, held by one process at a time.

    Parameters
    ----------
    directory
        May be absent, empty, or hold an earlier sweep, whose runs are used again.

    Raises
    ------
    InputError
        If it cannot be written, holds something else, or another sweep is running in it.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._lock = FileLock(directory / _LOCK)
        _check(directory)

    def __enter__(self) -> Self:
        make_parents(self.directory)
        try:
            self._lock.acquire(timeout=0)
            # What says whose the directory is comes first.
            if not (self.directory / MARKER).exists():
                self.describe({})
            for name in (RUNS, _STATES):
                (self.directory / name).mkdir(exist_ok=True)
        except Timeout:
            raise InputError(
                f"{self.directory}: another sweep is running in this directory"
            ) from None
        except OSError as fault:
            raise refusal(self.directory, fault) from None
        for left in (self.directory / RUNS).glob(f"{PARTIAL}*"):
            shutil.rmtree(left)
        for left in self.directory.iterdir():
            if _is_under_construction(left.name):
                left.unlink()
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.directory / _STATES, ignore_errors=True)
        # Before it is given back: the next sweep's lock must not be removed.
        with contextlib.suppress(OSError):
            (self.directory / _LOCK).unlink()
        self._lock.release()

    def describe(self, facts: Mapping[str, Any]) -> None:
        """Write down what the sweep was."""
        marker = {"schema": SCHEMA, "copyback": __version__, **facts}
        text = json.dumps(marker, indent=2, ensure_ascii=False) + "\n"
        replace_file(self.directory / MARKER, text.encode())

    @property
    def states(self) -> Path:
        """The directory for prepared devices."""
        return self.directory / _STATES

    def holds(self, key: str, config_toml: str) -> bool:
        """Whether a run has been done and its files are whole.

        A run appears at once, but a machine that loses power may keep a file's name without its
        content: such a run is done again.

        Parameters
        ----------
        config_toml
            Its resolved configuration.
        """
        run = self.run(key)
        try:
            summary = json.loads((run / names.SUMMARY).read_text(encoding="utf-8"))
            is_same = (run / names.CONFIG).read_text(encoding="utf-8") == config_toml
            # In a summary of another schema numbers mean something else.
            is_read = summary["schema"] == PRESENT
            return (is_same and is_read) and all(
                map(_is_whole_table, {run / names.DISTRIBUTION, *run.glob("*.parquet")})
            )
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def run(self, key: str) -> Path:
        """Return the directory of a run, which may not have been done."""
        return run_directory(self.directory, key)

    def add(self, key: str, files: Mapping[str, bytes]) -> None:
        """Keep what a run gave."""
        partial = self.directory / RUNS / f"{PARTIAL}{key}"
        try:
            partial.mkdir()
            for name, content in files.items():
                (partial / name).write_bytes(content)
            if self.run(key).exists():  # damaged
                shutil.rmtree(self.run(key))
            partial.rename(self.run(key))
        except OSError as fault:
            shutil.rmtree(partial, ignore_errors=True)
            raise OSError(fault.errno, fault.strerror, str(self.directory)) from None


def _is_whole_table(path: Path) -> bool:
    """Whether a Parquet file begins and ends as one does."""
    with path.open("rb") as file:
        begins = file.read(len(_PARQUET))
        file.seek(-len(_PARQUET), os.SEEK_END)
        return begins == file.read() == _PARQUET


def _check(directory: Path) -> None:
    if not directory.exists():
        return
    if not directory.is_dir():
        raise InputError(f"{directory}: is a file; --out needs a directory")
    try:
        entries = {entry.name for entry in directory.iterdir()}
    except OSError as fault:
        raise InputError(f"{directory}: {fault.strerror}") from None
    if names.SUMMARY in entries:
        raise InputError(f"{directory}: holds a single run; give a new or empty directory")
    # A sweep that was killed may have left its lock and files under construction.
    entries = {name for name in entries if name != _LOCK and not _is_under_construction(name)}
    strangers = sorted(entries - _ENTRIES)
    if strangers or (entries and MARKER not in entries):
        found = strangers[0] if strangers else min(entries)
        raise InputError(
            f"{directory}: holds something other than a sweep ({found}); "
            "give a new or empty directory"
        )


def _is_under_construction(name: str) -> bool:
    return any(name.startswith(f".{file}{PARTIAL}") for file in _FILES)


def run_directory(directory: Path, key: str) -> Path:
    """Return where a sweep keeps a run."""
    return directory / RUNS / key


def is_sweep(directory: Path) -> bool:
    """Whether a directory holds a sweep."""
    return (directory / MARKER).is_file()


def add_fact(directory: Path, name: str, fact: Any) -> None:
    """Write down something more of a finished sweep; the next sweep forgets it."""
    text = json.dumps({**described(directory), name: fact}, indent=2, ensure_ascii=False) + "\n"
    replace_file(directory / MARKER, text.encode())


def described(directory: Path) -> dict[str, Any]:
    """Return what a finished sweep has written down.

    Raises
    ------
    InputError
        If the directory holds none.
    """
    try:
        facts = json.loads((directory / MARKER).read_text(encoding="utf-8"))
    except OSError as fault:
        raise InputError(f"{directory / MARKER}: {fault.strerror}") from None
    except ValueError as fault:
        raise InputError(f"{directory / MARKER}: not JSON: {fault}") from None
    if not isinstance(facts, dict) or facts.get("schema") != SCHEMA:
        raise InputError(f"{directory / MARKER}: not a sweep of schema {SCHEMA}")
    if "keys" not in facts or not (directory / RESULTS).is_file():
        raise InputError(f"{directory}: no sweep has been finished here: run it again to go on")
    return facts
