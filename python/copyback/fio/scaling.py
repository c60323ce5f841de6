"""Jobs for a large drive on a small one that stands for it.

Offsets and sizes are shares of the drive already. What is left are amounts, times, and the ranks of
a Zipf distribution, which are those of the large drive.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Times of a flow.
_TIMES = ("duration", "ramp", "starts_at")


def note(scale: int) -> str:
    """Return the note of a job file that is scaled down."""
    return (
        f"fio: scaled down by {scale}: the drive stands for one that is {scale} times as large. "
        "Sizes, offsets, amounts and times are divided by it; requests, depths, rates, pauses and "
        "strides are not"
    )


def scaled(flow: Mapping[str, Any], scale: int, capacity: int) -> dict[str, Any]:
    """Return a flow on a drive of this capacity that stands for one so many times as large.

    >>> scaled({"requests": 1000, "duration": "1000ns"}, 10, 4096)
    {'requests': 100, 'duration': '100ns'}
    """
    found = dict(flow)
    if isinstance(flow.get("requests"), int):
        found["requests"] = ceil(flow["requests"] / scale)
    if "io_size" in flow:
        found["io_size"] = f"{_divided(flow['io_size'], 'B', scale)}B"
    for name in _TIMES:
        if name in flow:
            found[name] = f"{_divided(flow[name], 'ns', scale)}ns"
    if "address" in flow:
        found["address"] = _address(flow, scale, capacity)
    if flow.get("handles", {}).get("type") == "by_address":
        found["handles"] = {**flow["handles"], "ranges": _ranges(flow["handles"], scale)}
    return found


def _divided(text: str, unit: str, scale: int) -> int:
    return ceil(int(text.removesuffix(unit)) / scale)


def _address(flow: Mapping[str, Any], scale: int, capacity: int) -> dict[str, Any]:
    """Return addresses that are as skewed as on the large drive."""
    address: dict[str, Any] = flow["address"]
    size = flow.get("alignment", flow["request_size"])
    if address["type"] != "zipf" or not isinstance(size, str):
        return address
    blocks = int(flow["footprint"] * capacity * scale) // _bytes(size)
    return {**address, "ranks": max(blocks, 1)}


def _ranges(handles: Mapping[str, Any], scale: int) -> list[dict[str, Any]]:
    """Return ranges that end where the next one begins, if they did so before."""
    ranges = []
    for one in handles["ranges"]:
        offset = _bytes(one["offset"])
        begin, end = (ceil(place / scale) for place in (offset, offset + _bytes(one["size"])))
        if end > begin:
            ranges.append({**one, "offset": f"{begin}B", "size": f"{end - begin}B"})
    return ranges


def _bytes(text: str) -> int:
    return int(text.removesuffix("B"))
