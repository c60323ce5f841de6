"""Sizes of requests: ``bs=4k``, ``bs=4k,8k``, ``bssplit=4k/60:64k/40,8k``."""

from __future__ import annotations

from typing import Any

from copyback._core import InputError
from copyback.fio import values


def request_size(text: str) -> Any:
    """Return the value of ``bs`` or ``bssplit`` as a configuration has it.

    Parts are those of reads, writes and trims; a part that is missing is that before it. Trims have
    the sizes of writes here.

    >>> request_size("4k"), request_size("4k/90:64k/")["weights"]
    ('4096B', [0.9, 0.1])
    """
    if not text:
        raise InputError("found nothing; a size such as 4k is needed")
    parts = [_one(part) for part in text.split(",")]
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
    sizes, shares = [], []
    for part in text.split(":"):
        size, _, share = part.partition("/")
        sizes.append(_positive(size))
        shares.append(values.per_cent(share) if share else None)
    return {
        "type": "histogram",
        "sizes": [f"{s}B" for s in sizes],
        "weights": _filled(shares, text),
    }


def _filled(shares: list[float | None], text: str) -> list[float]:
    """Give parts without a share equal parts of what is left."""
    said = sum(share for share in shares if share is not None)
    open_ = sum(share is None for share in shares)
    if said > 1 + 1e-9 or (open_ == 0 and said < 1 - 1e-9):
        raise InputError(f"found {text}: {100 * said:g} per cent in all; allowed: 100")
    rest = round((1 - said) / open_, 12) if open_ else 0.0
    return [rest if share is None else share for share in shares]


def _positive(text: str) -> int:
    size = values.size(text)
    if size == 0:
        raise InputError(f"found {text}; allowed: more than 0 bytes")
    return size


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
