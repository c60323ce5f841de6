"""Dependencies of a run: whatever changes its result is here, so that a change is noticed.

The key of a stored run is a digest of these; a run whose dependencies change while it is under way
is not kept.
"""

from __future__ import annotations

import hashlib
import time
from functools import cache
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import copyback._core
from copyback._core import InputError
from copyback.policies.load import named_in

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from copyback._core import Config

#: What a run depends on, by what people call it, and its digest.
Dependencies = dict[str, str]

SIMULATOR, CONFIGURATION = "the build of Copyback", "the configuration"

#: Parts of the package in Python that decide what is in the files of a run.
_WRITES_RUNS = (
    "data/outputs.py",
    "data/parquet.py",
    "inputs/typed.py",
    "simulation/driver.py",
    "summary.py",
    "words/verdict.py",
)
_ASKS_POLICIES = "policies"

#: What stands before the number of a processor in the names of the files of one trace.
_OF_A_PROCESSOR = ".blktrace."

#: A file that was changed so lately, in ns, may be changed again without another time.
_TOO_LATELY = 2_000_000_000

_Stamp = tuple[int, ...]

_known: dict[tuple[Path, _Stamp], str] = {}


def dependencies(config: Config, workload: Mapping[str, Any]) -> Dependencies:
    """Return what the run of a configuration depends on.

    Parameters
    ----------
    workload
        The section of the resolved configuration.

    Raises
    ------
    InputError
        If a policy cannot be loaded, or what should be a file is none.
    """
    found = {SIMULATOR: _simulator(), CONFIGURATION: config.digest}
    policies = {named.about: named.digest() for named in named_in(config)}
    if policies:
        found[f"{SIMULATOR}, where it asks policies"] = _asks_policies()
    files = (part for path in _named_files(workload) for part in _parts(path))
    return found | policies | {str(path): _of_file(path) for path in files}


def key_of(found: Dependencies, digits: int = 20) -> str:
    """Return the key of the run that depends on these.

    Of files the order counts, and not the folder: a sweep goes on where its traces have been moved.
    """
    digest = hashlib.sha256()
    for name, own in found.items():
        digest.update(f"{Path(name).name} {own}\n".encode())
    return digest.hexdigest()[:digits]


def check_unchanged(before: Dependencies, now: Dependencies) -> None:
    """Refuse a run whose dependencies are not those that it began with.

    Raises
    ------
    InputError
        With those that differ.
    """
    names = [name for name in before | now if before.get(name) != now.get(name)]
    if names:
        raise InputError(
            f"{', '.join(names)}: changed while the run was under way, so that nobody knows which "
            "of the two it has; run the same command again"
        )


def _named_files(node: Any) -> Iterator[Path]:
    """Yield the files that a workload names, in the order of the configuration."""
    if isinstance(node, list):
        for item in node:
            yield from _named_files(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "path" and isinstance(value, str):
                yield _regular(Path(value))
            else:
                yield from _named_files(value)


def _regular(path: Path) -> Path:
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: a file is needed, as a sweep reads it more than once")
    return path


def _parts(path: Path) -> list[Path]:
    """Return the files that a name stands for: of a blktrace those of every processor.

    A file that is not there is told with all other inputs that cannot be read.
    """
    stem, infix, _ = path.name.rpartition(_OF_A_PROCESSOR)
    if not infix and path.exists():
        return [path]
    if not infix:
        stem = path.name.removesuffix(_OF_A_PROCESSOR.removesuffix("."))
    return sorted(path.parent.glob(f"{escape(stem + _OF_A_PROCESSOR)}*"))


def _of_file(path: Path) -> str:
    """Return the digest of a file; of one that has not been touched since, as it was."""
    try:
        stamp = _stamp(path.stat())
        if (path, stamp) not in _known:
            digest = _read(path)
            if time.time_ns() - max(stamp[:2]) < _TOO_LATELY:
                return digest
            _known[path, stamp] = digest
    except OSError as fault:
        raise InputError(f"{path}: {fault.strerror}") from None
    return _known[path, stamp]


def _stamp(of: os.stat_result) -> _Stamp:
    return of.st_mtime_ns, of.st_ctime_ns, of.st_size, of.st_ino, of.st_dev


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def _simulator() -> str:
    """Return a digest of what simulates and writes runs: another build may give other results."""
    home = Path(copyback.__file__).parent
    compiled = Path(copyback._core.__file__)
    return _of_all([compiled, *(home / name for name in _WRITES_RUNS)])


@cache
def _asks_policies() -> str:
    return _of_all(sorted((Path(copyback.__file__).parent / _ASKS_POLICIES).glob("*.py")))


def _of_all(paths: list[Path]) -> str:
    return hashlib.sha256("".join(map(_read, paths)).encode()).hexdigest()
