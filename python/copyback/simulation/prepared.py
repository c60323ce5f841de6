"""Prepared drives, kept in a folder for the next run that starts from the same."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from copyback._core import InputError, Simulation, SimulationError, size_bytes
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback._core import Config

#: Names the folder, or says "off".
FOLDER = "COPYBACK_CACHE"
#: Says how large it may grow.
SIZE = "COPYBACK_CACHE_SIZE"
#: How large it may grow, if nobody says.
MOST_BYTES = 4 << 30
#: A file that is being written this long was left by a process that was killed.
ABANDONED_S = 3600.0

_SUFFIX = ".state"
_KEEPING = threading.Lock()


@dataclass(frozen=True)
class Folder:
    """Prepared drives in files, of which those used last stay.

    Several processes may use it at a time: each file is written beside its place and renamed, and
    one that vanishes is prepared again.

    Parameters
    ----------
    path
        Where it is; made when the first drive is kept.
    most_bytes
        What all files may take together.
    """

    path: Path
    most_bytes: int = MOST_BYTES

    def find(self, name: str) -> Path | None:
        """Return the file of a drive, which counts as used now; None if there is none."""
        file = self._file(name)
        try:
            os.utime(file)
        except OSError:
            return None
        return file

    def keep(self, name: str, save: Callable[[Path], object]) -> None:
        """Let `save` write a drive's file, and remove those used longest ago where it is too much.

        Raises
        ------
        OSError
            If the folder cannot be made.
        """
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Threads that prepare the same drive would write the same unfinished file.
        with _KEEPING:
            save(self._file(name))
        self._trim()

    def forget(self, name: str) -> None:
        """Remove a drive."""
        with suppress(OSError):
            self._file(name).unlink()

    def clear(self) -> None:
        """Remove all drives, and what killed processes left."""
        for file in self._all():
            with suppress(OSError):
                file.unlink()

    def sizes(self) -> list[int]:
        """Return the bytes of each drive."""
        return [size for _, size, _ in self._by_use()]

    def _file(self, name: str) -> Path:
        return self.path / f"{name}{_SUFFIX}"

    def _all(self) -> list[Path]:
        with suppress(OSError):
            return [file for file in self.path.iterdir() if _SUFFIX in file.name]
        return []

    def _by_use(self) -> list[tuple[float, int, Path]]:
        """Return when each drive was used, its bytes and its file; first the one used last."""
        found = []
        for file in self._all():
            with suppress(OSError):
                status = file.stat()
                if file.suffix == _SUFFIX:
                    found.append((status.st_mtime, status.st_size, file))
                elif time.time() - status.st_mtime > ABANDONED_S:
                    file.unlink()
        return sorted(found, reverse=True)

    def _trim(self) -> None:
        left = self.most_bytes
        for _, size, file in self._by_use():
            left -= size
            if left < 0:
                with suppress(OSError):
                    file.unlink()


def users() -> Folder | None:
    """Return the user's folder, as the environment names it; None if it says "off".

    Raises
    ------
    InputError
        If it names no size.
    """
    named = os.environ.get(FOLDER, "")
    if named == "off":
        return None
    return Folder(Path(named) if named else _standard(), _most_bytes())


def _standard() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("copyback", appauthor=False)


def _most_bytes() -> int:
    text = os.environ.get(SIZE)
    if text is None:
        return MOST_BYTES
    try:
        return size_bytes(text)
    except (InputError, ValueError) as fault:
        raise InputError(
            f"{SIZE}: found {text!r}; allowed: a size such as {units.size(MOST_BYTES)!r}"
        ) from fault


@dataclass
class Start:
    """A source of the prepared drives of a run.

    Parameters
    ----------
    folder
        Where drives are kept.
    name
        What the drives of this run are kept as.
    """

    folder: Folder
    name: str
    _is_kept: bool = False

    @classmethod
    def of(cls, config: Config) -> Start | None:
        """Return the start of a run with the user's folder; None if its drive is not to be kept."""
        name = config.prepared_name
        folder = None if name is None else users()
        return None if name is None or folder is None else cls(folder, name)

    def simulation(self, make: Callable[[Path | None], Simulation]) -> Simulation:
        """Make the simulation, from the kept drive if there is one."""
        kept = self.folder.find(self.name)
        if kept is not None:
            try:
                simulation = make(kept)
            except InputError:
                # Damaged, or gone by now. What else is at fault is told again below.
                self.folder.forget(self.name)
            else:
                self._is_kept = True
                return simulation
        return make(None)

    def note(self, simulation: Simulation) -> None:
        """Keep the drive once it is prepared. A disk that is full costs a line, not the run."""
        if self._is_kept or not simulation.is_prepared():
            return
        self._is_kept = True
        try:
            self.folder.keep(self.name, simulation.save_prepared)
        except (OSError, SimulationError) as trouble:
            print(
                f"copyback: the prepared drive is not kept for other runs: {trouble}",
                file=sys.stderr,
            )
