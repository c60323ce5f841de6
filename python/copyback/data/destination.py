"""Destination of a single file: a new or replaced file, or a device, pipe or open stream."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from copyback._core import InputError, SimulationError
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator

#: In the names of files and directories under construction.
PARTIAL = ".partial-"

#: Errors of a disk that holds no more.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: Links that a path may go through.
_MOST_LINKS = 40

#: The directory in which a process finds what it has open.
_OPEN_FILES = re.compile(r"/proc/(self|\d+)(/task/\d+)?/fd")


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an error of the machine that names no file, such as a full disk, name this one."""
    try:
        yield
    except OSError as fault:
        if fault.filename is None and fault.errno is not None:
            raise OSError(fault.errno, os.strerror(fault.errno), os.fspath(path)) from fault
        raise


def refusal(path: str | os.PathLike[str], fault: OSError) -> Exception:
    """Return what to raise for what cannot be written: bad input, unless the disk is full."""
    if fault.errno in _FULL:
        return OSError(fault.errno, fault.strerror, os.fspath(path))
    return InputError(f"{path}: cannot be written: {fault.strerror}")


def default_mode(base: int) -> int:
    """Return the permissions that a new file or directory of this process gets."""
    mask = os.umask(0)
    os.umask(mask)
    return base & ~mask


def is_stream(path: Path) -> bool:
    """Whether a path is written to as it is: a device, a pipe, or what a process has open.

    Such a thing is never replaced, and cannot be whole or untouched: it gets all of the content at
    once, when that is ready.
    """
    if _descriptor_directory(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def check_file(path: Path) -> None:
    """Refuse a file that cannot be written, before the work that would fill it."""
    if path.is_dir():
        raise InputError(f"{path}: is a directory; a file is needed")
    if path.is_socket() or path.is_block_device():
        kind = "a socket" if path.is_socket() else "a drive, which would be overwritten"
        raise InputError(f"{path}: is {kind}; a file is needed")
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(f"{path}: Permission denied")
    if is_stream(path):
        return
    home = real_path(path).parent
    if not home.is_dir():
        raise InputError(f"{path}: no such directory: {home}")
    if not os.access(home, os.W_OK):
        raise InputError(f"{path}: Permission denied: {home}")


def check_within(path: Path, home: Path) -> None:
    """Refuse a file or directory that a link leads out of the directory it is named in."""
    if not real_path(path).is_relative_to(real_path(home)):
        raise InputError(f"{path}: leads out of {home}; nothing is written")


def written(path: Path) -> str:
    """Return a file's name and, of a regular one, its size, for people."""
    return str(path) if is_stream(path) else f"{path} ({units.size(path.stat().st_size)})"


@contextlib.contextmanager
def staged_file(path: Path) -> Iterator[Path]:
    """Yield a file whose content `path` gets when the block ends well.

    A regular file is then whole or untouched, also behind a symbolic link, which stays. A device, a
    pipe or an open stream is written to.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    check_file(path)
    if is_stream(path):
        # That there is no place for it is no fault of the path's.
        with tempfile.TemporaryDirectory(prefix="copyback-") as home, naming(path):
            partial = Path(home) / "content"
            yield partial
            _pour(partial, path)
    else:
        with naming(path):
            yield from _replacing(real_path(path), path)


def _replacing(target: Path, given: Path) -> Iterator[Path]:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}{PARTIAL}", dir=target.parent)
    except OSError as fault:
        raise refusal(given, fault) from None
    os.close(handle)
    partial = Path(name)
    try:
        with _naming_in_place_of(partial, given):
            yield partial
        there = target.exists()
        partial.chmod(stat.S_IMODE(target.stat().st_mode) if there else default_mode(0o666))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def _naming_in_place_of(partial: Path, given: Path) -> Iterator[None]:
    """Let what goes wrong with a file under construction name the one that it becomes."""
    try:
        yield
    except OSError as fault:
        if fault.filename == os.fspath(partial):
            raise OSError(fault.errno, fault.strerror, os.fspath(given)) from fault
        raise
    except (InputError, SimulationError) as fault:
        if str(partial) in str(fault):
            raise type(fault)(str(fault).replace(str(partial), str(given))) from fault
        raise


def _pour(content: Path, path: Path) -> None:
    """Write a file's content to what is no regular file."""
    # What has been printed comes before it where both go to the same place.
    if sys.stdout is not None:
        sys.stdout.flush()
    with content.open("rb") as source, _opened(path) as target:
        shutil.copyfileobj(source, target)


def _opened(path: Path) -> IO[bytes]:
    found = _descriptor_directory(path)
    own = os.path.realpath("/proc/self/fd")
    if found is not None and str(found.parent) == own and found.name.isdecimal():
        # Opened anew it would be written from its start again, over what is there.
        return os.fdopen(os.dup(int(found.name)), "wb")
    return path.open("wb")


def _descriptor_directory(path: Path) -> Path | None:
    """Return ``/proc/PID/fd/N`` if that is what a path leads to, such as ``/dev/stdout``."""
    for _ in range(_MOST_LINKS):
        path = Path(os.path.realpath(path.parent)) / path.name
        if _OPEN_FILES.fullmatch(str(path.parent)):
            return path
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None


def real_path(path: Path) -> Path:
    """Return what a path leads to through symbolic links; it need not exist.

    Raises
    ------
    InputError
        If the links lead back to themselves.
    """
    found = Path(os.path.realpath(path))
    if found.is_symlink():
        raise InputError(f"{path}: {os.strerror(errno.ELOOP)}")
    return found
