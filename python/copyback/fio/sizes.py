"""Sizes of requests: ``bs=4k``, ``bs=4k,8k``, ``bssplit=4k/60:64k/40,8k``."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.fio import values

if TYPE_CHECKING:
    from collections.abc import Callable


#: Where ``bs`` says nothing of an operation.
DEFAULT = "4096B"


def request_size(text: str) -> Any:
    """Return the value of ``bs`` or ``bssplit`` as a configuration has it.

    Parts are those of reads, writes and trims; a part that is missing is that before it, and one
    that is empty is the default. Trims have the sizes of writes here.

    >>> request_size("4k"), request_size("4k/90:64k/")["weights"], request_size(",8k")["read"]
    ('4096B', [0.9, 0.1], '4096B')
    """
    if not text:
        raise InputError("found nothing; a size such as 4k is needed")
    return _by_operation(text, lambda part: _one(part) if part.strip() else DEFAULT)


def _by_operation(text: str, read: Callable[[str], Any]) -> Any:
    parts = [read(part) for part in text.split(",")]
    if len(parts) > 3:
        raise InputError(f"found {text}; allowed: sizes of reads, writes and trims")
    if len(parts) > 2 and parts[2] != parts[1]:
        raise InputError(f"found {text}; trims must have the sizes of writes")
    if len(parts) == 1 or parts[0] == parts[1]:
        return parts[0]
    return {"type": "by_operation", "read": parts[0], "write": parts[1]}


def _one(text: str) -> Any:
    if "/" not in text and ":" not in text:
        return f"{_positive(text)}B"
    parts = [part.partition("/") for part in text.split(":")]
    sizes = [_positive(size) for size, _, _ in parts]
    # fio cuts each to a multiple of the smallest.
    return {
        "type": "histogram",
        "sizes": [f"{size - size % min(sizes)}B" for size in sizes],
        "weights": values.shares([share for _, _, share in parts], text),
    }


#: More sizes than these in a range are not told apart.
_MOST_SIZES = 65_536


def of_range(text: str) -> Any:
    """Return the value of ``bsrange``: each multiple of the smallest size is as likely as the next.

    >>> of_range("4k-12k")["sizes"], of_range("4k-4k")
    (['4096B', '8192B', '12288B'], '4096B')
    """
    return _by_operation(text, _range)


def _range(text: str) -> Any:
    # fio takes a colon, too.
    first, dash, last = text.replace(":", "-").partition("-")
    least, most = _positive(first), _positive(last if dash else first)
    if most < least:
        raise InputError(f"found {text}; allowed: the smallest size, a dash and the largest")
    if least == most:
        return f"{least}B"
    if most % least:
        problem = "the largest size a multiple of the smallest"
        raise InputError(f"found {text}; allowed: {problem}")
    sizes = range(least, most + 1, least)
    if len(sizes) > _MOST_SIZES:
        raise InputError(f"found {text}, {len(sizes)} sizes; allowed: at most {_MOST_SIZES}")
    return {"type": "histogram", "sizes": [f"{s}B" for s in sizes], "weights": [1.0] * len(sizes)}


def _positive(text: str) -> int:
    size = values.size(text)
    if size == 0:
        raise InputError(f"found {text}; allowed: more than 0 bytes")
    return size


def in_sectors(sizes: Any, sector: int) -> Any:
    """Return a request size with each size rounded up to whole sectors, of so many bytes.

    >>> in_sectors("2300B", 512)
    '2560B'
    """
    if isinstance(sizes, str):
        return f"{-(-int(sizes.removesuffix('B')) // sector) * sector}B"
    if sizes["type"] == "by_operation":
        return sizes | {kind: in_sectors(sizes[kind], sector) for kind in ("read", "write")}
    return sizes | {"sizes": [in_sectors(size, sector) for size in sizes["sizes"]]}


def of_those_used(sizes: Any, read_share: float) -> Any:
    """Return a request size without that of an operation which is not asked for.

    >>> of_those_used({"type": "by_operation", "read": "4096B", "write": "8192B"}, 0.0)
    '8192B'
    """
    if isinstance(sizes, str) or sizes["type"] != "by_operation" or 0 < read_share < 1:
        return sizes
    return sizes["read" if read_share else "write"]


def mean_size(sizes: Any, read_share: float) -> float:
    """Return the mean of a request size in bytes.

    >>> mean_size({"type": "by_operation", "read": "4096B", "write": "8192B"}, 0.25)
    7168.0
    """
    if isinstance(sizes, str):
        return float(sizes.removesuffix("B"))
    if sizes["type"] == "by_operation":
        read, write = (mean_size(sizes[kind], read_share) for kind in ("read", "write"))
        return float(read_share * read + (1 - read_share) * write)
    pairs = zip(sizes["sizes"], sizes["weights"], strict=True)
    total = float(sum(sizes["weights"]))
    return float(sum(float(size.removesuffix("B")) * weight for size, weight in pairs)) / total


def least_size(sizes: Any) -> int:
    """Return the smallest size of a request in bytes.

    >>> least_size({"type": "by_operation", "read": "8192B", "write": "4096B"})
    4096
    """
    return min(_all_sizes(sizes))


def common_size(sizes: Any) -> int:
    """Return the largest size in bytes that all sizes of a request are multiples of.

    >>> common_size({"type": "by_operation", "read": "8192B", "write": "12288B"})
    4096
    """
    return gcd(*_all_sizes(sizes))


def _all_sizes(sizes: Any) -> list[int]:
    if isinstance(sizes, str):
        return [int(sizes.removesuffix("B"))]
    if sizes["type"] == "by_operation":
        return [size for kind in ("read", "write") for size in _all_sizes(sizes[kind])]
    pairs = zip(sizes["sizes"], sizes["weights"], strict=True)
    return [int(size.removesuffix("B")) for size, weight in pairs if weight > 0]
