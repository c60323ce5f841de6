"""State of a policy, as bytes of a file.

The same values have the same bytes, and to read them executes nothing.
"""

from __future__ import annotations

import io
from typing import Any

import msgspec
import numpy as np

_ARRAY, _TUPLE, _BIG = 1, 2, 3
_PLAIN = (bool, float, str, bytes, type(None))
#: Whole numbers that MessagePack has.
_SMALL = range(-(1 << 63), 1 << 64)


def packed(value: Any) -> bytes:
    """Return the bytes of a value.

    Raises
    ------
    TypeError
        If it is of a type that has none; says where.
    """
    return msgspec.msgpack.encode(_as_plain(value, "state"))


def unpacked(data: bytes) -> Any:
    """Return the value of bytes.

    Raises
    ------
    ValueError
        If they are of none.
    """
    return msgspec.msgpack.decode(data, ext_hook=_extension, strict=True)


def _as_plain(value: Any, where: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, int):
        big = msgspec.msgpack.Ext(_BIG, str(int(value)).encode())
        return int(value) if value in _SMALL else big
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        file = io.BytesIO()
        np.save(file, value, allow_pickle=False)
        return msgspec.msgpack.Ext(_ARRAY, file.getvalue())
    if isinstance(value, list):
        return [_as_plain(item, f"{where}[{place}]") for place, item in enumerate(value)]
    if type(value) is tuple:
        return msgspec.msgpack.Ext(_TUPLE, packed(list(value)))
    if type(value) is dict and all(isinstance(key, str | int) for key in value):
        return {key: _as_plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    raise TypeError(
        f"found {type(value).__name__} at {where}, which no file can hold; allowed: numbers, "
        "texts, bytes, lists, tuples, dicts and NumPy arrays of numbers, or state() and restore() "
        "of your own"
    )


def _extension(code: int, data: memoryview) -> Any:
    if code == _ARRAY:
        return np.load(io.BytesIO(data), allow_pickle=False)
    if code == _TUPLE:
        return tuple(unpacked(bytes(data)))
    if code == _BIG:
        return int(bytes(data))
    raise ValueError(f"found an extension {code} of no meaning")
