"""The standard streams of the command line: they take any text, and a failed write says where."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TextIO

#: How an encoder asks for what it cannot write.
_HANDLER = "copyback"

#: What our tables are drawn and written with, for terminals that know ASCII only.
_PLAIN = {
    "─": "-",
    "━": "=",
    "│": "|",
    "·": "|",
    "×": "x",
    "±": "+-",
    "–": "-",
    "−": "-",
    "µ": "u",
    "…": "...",
}


def shown(text: str | os.PathLike[str]) -> str:
    r"""Return a name as any file or terminal takes it: bytes that are not UTF-8 as ``\xff``.

    >>> shown("r\udcff.csv")
    'r\\xff.csv'
    """
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def is_utf_8(name: str | os.PathLike[str]) -> bool:
    r"""Whether the name of a file is text in UTF-8.

    >>> is_utf_8("größe.csv"), is_utf_8("r\udcff.csv")
    (True, False)
    """
    return shown(name) == os.fspath(name)


def _in_its_place(fault: UnicodeError) -> tuple[str, int]:
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    found = fault.object[fault.start : fault.end]
    return "".join(map(_plain, found)), fault.end


def _plain(character: str) -> str:
    is_stray_byte = "\udc80" <= character <= "\udcff"
    if is_stray_byte:
        return f"\\x{ord(character) - 0xDC00:02x}"
    return _PLAIN.get(character) or character.encode("ascii", "backslashreplace").decode("ascii")


class _Named(io.FileIO):
    """A stream whose failed writes say which stream it is."""

    label = "standard output"

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as fault:
            raise OSError(fault.errno, fault.strerror, self.label) from None


def set_up() -> None:
    """Make the standard streams take any text; where one is closed, what is said goes nowhere."""
    codecs.register_error(_HANDLER, _in_its_place)
    # Python has none where the descriptor is closed, whatever its types say.
    given: list[TextIO | None] = [sys.stdout, sys.stderr]
    sys.stdout = _nowhere() if given[0] is None else _named(given[0])
    sys.stderr = given[1] or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def _named(stream: TextIO) -> TextIO:
    """Return a stream of the process as one that names itself; any other as it is."""
    if stream is not sys.__stdout__:
        return stream
    stream.flush()
    raw = _Named(stream.fileno(), "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=stream.encoding, line_buffering=stream.isatty()
    )


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - lasts as long as we


def close_stdout() -> None:
    """Point standard output at nothing, so that flushing it at exit cannot fail again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """Print what is wrong on standard error, a line a fault."""
    lines = [line for line in text.splitlines() if line.strip()] or ["unknown trouble"]
    with contextlib.suppress(OSError, ValueError):
        for line in lines:
            print(f"copyback: error: {line}", file=sys.stderr)
