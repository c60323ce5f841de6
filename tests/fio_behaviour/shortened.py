"""A job file with times of milliseconds: what it asks for stays, but for how long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fio_behaviour import values
from fio_behaviour.asked import read

if TYPE_CHECKING:
    from pathlib import Path

    from fio_behaviour.asked import Asked

MS = 10**6

#: So many requests of the slowest rate are waited for, within these times.
_REQUESTS = 50
_LEAST_NS, _MOST_NS = 20 * MS, 1000 * MS

#: More requests of limited jobs than these are not waited for.
_ALL_REQUESTS = 50_000

_RAMP_NS = 2 * MS

_TIME = re.compile(r"^\s*(runtime|timeout|ramp_time|startdelay|start_delay)\s*=\s*([^;#\n]*)(.*)$")
_STEADY = re.compile(r"^\s*(ss|steadystate|steady_state)(_\w+)?\s*=")


def shortened(path: Path, folder: Path, capacity: int) -> Path:
    """Write a job file anew, with the files that it includes, in a folder."""
    time_ns = _time_ns(read(path, capacity))
    target = folder / path.name
    limit = f"[global]\nruntime={time_ns // MS}ms\n"
    target.write_text(limit + _rewritten(path, folder, time_ns), encoding="utf-8")
    return target


def _rewritten(path: Path, folder: Path, time_ns: int) -> str:
    lines = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.strip().startswith("include "):
            other = path.parent / line.strip().removeprefix("include ").strip()
            text = _rewritten(other, folder, time_ns)
            (folder / other.name).write_text(text, encoding="utf-8")
            line = f"include {other.name}"
        if not _STEADY.match(line):
            lines.append(_TIME.sub(lambda found: _short(found, time_ns), line))
    return "\n".join(lines) + "\n"


def _short(found: re.Match[str], time_ns: int) -> str:
    name, text, rest = found.groups()
    asked = values.time_ns(text.strip() or "0")
    if asked == 0:
        return ""
    if name in {"runtime", "timeout"}:
        asked = min(asked, time_ns)
    elif name == "ramp_time":
        asked = min(asked, _RAMP_NS)
    else:
        # Later jobs stay later.
        asked = asked // 1000
    return f"{name}={asked // 1000}us {rest}"


def _time_ns(flows: list[Asked]) -> int:
    """Return how long jobs may take, so that the slowest shows its rate."""
    gaps: list[float] = []
    for flow in flows:
        for operation, rate in flow.rates.items():
            sizes = flow.sizes[operation]
            mean = sum(size * share for size, share in sizes.items()) if rate.in_bytes else 1.0
            gaps.append(mean / rate.per_second * 1e9)
    wanted = _REQUESTS * max(gaps, default=0.0)
    are_limited = all(set(flow.rates) == set(flow.shares) for flow in flows)
    most = _ALL_REQUESTS / sum(1 / gap for gap in gaps) if gaps and are_limited else _LEAST_NS
    return int(max(_LEAST_NS, min(wanted, most, _MOST_NS)))
