"""Numbers and texts as instances of the classes that describe them."""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

#: msgspec learns a class when it first meets it. Two threads that do so at once crash the
#: interpreter.
_LEARNING = threading.Lock()


def convert(found: Any, kind: type[T]) -> T:
    """Return dictionaries and lists as an instance of `kind`, from any thread.

    Raises
    ------
    msgspec.ValidationError
        If they are none.
    """
    with _LEARNING:
        return msgspec.convert(found, kind)


def decode(text: bytes | str, kind: type[T]) -> T:
    """Return JSON as an instance of `kind`, from any thread.

    Raises
    ------
    msgspec.DecodeError
        If it is none, or no JSON.
    """
    with _LEARNING:
        return msgspec.json.decode(text, type=kind)
