"""Schemes that may be inside a drive: which block is collected, and where writes and moves go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: WHO: ``ssd.gc.victim``, by the name that people read.
VICTIMS: dict[str, Any] = {
    "greedy": "greedy",
    "best of 10": {"type": "rga", "d": 10},
    "cost-benefit": "cost_benefit",
    "FIFO": "fifo",
    "random": "random",
}

#: WHERE: ``ssd.ftl.placement``.
PLACEMENTS: dict[str, Any] = {
    "host and GC apart": "host_and_gc_apart",
    "one open block": "one_class",
    "SepBIT": "sepbit",
    "DAC": "dac",
}


@dataclass(frozen=True)
class Scheme:
    """A scheme: keys of the configuration under a name."""

    name: str
    settings: tuple[tuple[str, Any], ...]


def every() -> list[Scheme]:
    """Return each victim with each placement."""
    return [_scheme(who, where) for where in PLACEMENTS for who in VICTIMS]


def usual() -> Scheme:
    """Return greedy victims, with moves in open blocks of their own."""
    return _scheme("greedy", "host and GC apart")


def _scheme(who: str, where: str) -> Scheme:
    settings = (("ssd.gc.victim", VICTIMS[who]), ("ssd.ftl.placement", PLACEMENTS[where]))
    return Scheme(f"{who}, {where}", settings)
