"""Files: a result directory appears whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from copyback import data as names
from copyback._core import InputError
from copyback.data.destination import (
    PARTIAL,
    default_mode,
    naming,
    real_path,
    refusal,
    staged_file,
)

if TYPE_CHECKING:
    from copyback.frame import Frame
    from copyback.result import Result


def make_parents(parent: Path) -> list[Path]:
    """Create `parent` and return what had to be created, innermost first."""
    created: list[Path] = []
    missing = parent
    while not missing.exists():
        created.append(missing)
        missing = missing.parent
    if not missing.is_dir():
        raise InputError(f"{missing}: is a file, and a directory is needed there")
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InputError(f"{parent}: cannot be created: {fault.strerror}") from None
    return created


class Staging:
    """A directory under construction, beside the one that it becomes.

    Parameters
    ----------
    target
        The directory to write. It may be absent, empty, or hold an earlier result.
    files
        Every file that a result may hold.
    marker
        The file that every result holds.

    Raises
    ------
    InputError
        If the target cannot be written, or holds what is not a result.
    """

    def __init__(
        self,
        target: Path,
        *,
        files: frozenset[str] = names.FILES,
        marker: str = names.SUMMARY,
    ) -> None:
        # What a symbolic link leads to is replaced, and the link stays.
        self.target = real_path(target)
        self.given = target
        self._files = files
        self._marker = marker
        self._created: list[Path] = []
        self._check()

    def _check(self) -> None:
        if not self.target.exists():
            return
        if not self.target.is_dir():
            raise InputError(f"{self.given}: is a file; --out needs a directory")
        try:
            entries = {entry.name for entry in self.target.iterdir()}
        except OSError as fault:
            raise InputError(f"{self.given}: {fault.strerror}") from None
        strangers = sorted(entries - self._files)
        if strangers:
            raise InputError(
                f"{self.given}: holds something other than a Copyback result ({strangers[0]}); "
                "give a new or empty directory"
            )
        if entries and self._marker not in entries:
            raise InputError(
                f"{self.given}: holds {min(entries)} but no {self._marker}, so it is not a "
                "Copyback result; give a new or empty directory"
            )
        if not os.access(self.target, os.W_OK):
            raise InputError(f"{self.given}: Permission denied")

    def __enter__(self) -> Staging:
        parent = self.target.parent
        self._created = make_parents(parent)
        try:
            self.path = Path(tempfile.mkdtemp(prefix=f".{self.target.name}{PARTIAL}", dir=parent))
        except OSError as fault:
            self._remove_parents()
            raise refusal(parent, fault) from None
        self.path.chmod(default_mode(0o777))
        return self

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if not self.target.exists():
            self._remove_parents()
        if isinstance(error, OSError):
            with naming(self.given):
                raise error

    def _remove_parents(self) -> None:
        for directory in self._created:
            with contextlib.suppress(OSError):
                directory.rmdir()

    def publish(self) -> Path:
        """Put the finished directory in place of the target, and return it as it was given."""
        if not self.target.exists():
            self.path.rename(self.target)
            return self.given
        # Two renames: a reader sees the old result, for an instant none, or the new one.
        retired = self.path.with_name(self.path.name + ".old")
        self.target.rename(retired)
        try:
            self.path.rename(self.target)
        except OSError:
            retired.rename(self.target)
            raise
        shutil.rmtree(retired, ignore_errors=True)
        return self.given


def replace_file(path: Path, content: bytes) -> Path:
    """Write a file so that it is whole or untouched; a device or a pipe is written to.

    Raises
    ------
    InputError
        If its directory is missing or cannot be written.
    """
    with staged_file(path) as partial:
        partial.write_bytes(content)
    return path


class StreamWriter:
    """Gathers what a run writes as it goes, in a file or in memory.

    Parameters
    ----------
    target
        Where to.
    packed
        Whether to compress it, as gzip does.
    """

    def __init__(self, target: IO[bytes], *, packed: bool) -> None:
        self._target = target
        # Without name and time, the same text gives the same bytes.
        self._packed = gzip.GzipFile("", "wb", 6, target, mtime=0) if packed else None

    def add(self, text: bytes) -> None:
        """Take a piece."""
        (self._packed or self._target).write(text)

    def close(self) -> None:
        """Write what is left; the target stays open."""
        if self._packed is not None:
            self._packed.close()


def write_tables(result: Result, directory: Path) -> None:
    """Write a result's files but for the page and for tables of rows that are there already."""
    from copyback.data.parquet import write_parquet
    from copyback.words import tail

    (directory / names.SUMMARY).write_text(result.summary.to_json(), encoding="utf-8")
    (directory / names.CONFIG).write_text(result.config_toml, encoding="utf-8")
    write_parquet(result.series, directory / names.SERIES)
    write_parquet(result.distribution, directory / names.DISTRIBUTION)
    if result.dies is not None:
        write_parquet(result.dies, directory / names.DIES)
    if result.flows is not None:
        write_parquet(result.flows, directory / names.FLOWS)
    if result.summary.blame is not None:
        _write_csv(tail.csv_rows(result.summary.blame), directory / names.TAIL)
    if result.slowest is not None:
        text = json.dumps(result.slowest, separators=(",", ":")) + "\n"
        (directory / names.SLOWEST).write_text(text, encoding="utf-8")
    for stream, name in names.STREAM_FILES.items():
        file = directory / name
        if not file.exists() and (content := result.stream(stream)) is not None:
            file.write_bytes(content)
    for table, name in names.ROW_TABLE_FILES.items():
        if (directory / name).exists():
            continue
        rows: Frame | None = getattr(result, table)
        if rows is not None:
            write_parquet(rows, directory / name)


def _write_csv(rows: list[dict[str, float | int | str]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0] if rows else (), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_result(result: Result, directory: Path) -> None:
    """Write a result's files but for tables of rows that are there already."""
    from copyback.report import render

    write_tables(result, directory)
    (directory / names.REPORT).write_text(render(result), encoding="utf-8")
