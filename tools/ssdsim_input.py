"""What SSDsim is given, for programs that run it: its parameters, and how its trace ends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PAGE_BYTES = 8192
SECTOR = 512
#: Of its parameters, what is another than as shipped: MQSim's flash, a plane a die, static
#: allocation.
SETTINGS: dict[str, float] = {
    "dram capacity": 0,
    "die number": 1,
    "plane number": 1,
    "subpage page": PAGE_BYTES // SECTOR,
    "page capacity": PAGE_BYTES,
    "t_PROG": 750_000,
    "t_BERS": 3_800_000,
    "t_R": 75_000,
    "t_WC": 3,
    "t_RC": 3,
    "overprovide": 0.02,
    "allocation": 1,
    "static_allocation": 1,
}
#: Reads behind the rest: it divides by their number, and never ends if anything is under way.
LAST_READS, QUIET_NS = 2, 10**12


def parameters(shipped: str, chosen: Mapping[str, float]) -> str:
    """Return its parameters as shipped with ours, and those that are chosen.

    Raises
    ------
    SystemExit
        If one of them is not there exactly once.
    """
    for key, value in {**SETTINGS, **chosen}.items():
        pattern = rf"(?m)^{re.escape(key)} *=[^;]*;"
        shipped, count = re.subn(pattern, f"{key} = {value};", shipped)
        if count != 1:
            raise SystemExit(f"page.parameters: {key} is there {count} times; expected: once")
    return shipped


def end_quietly(trace: Path) -> None:
    """Add the last reads to a trace. It drops a last line that ends with a newline."""
    with trace.open("r+") as file:
        last = int(file.read().splitlines()[-1].split()[0])
        sectors = PAGE_BYTES // SECTOR
        lines = [f"{last + n * QUIET_NS} 0 0 {sectors} 1" for n in range(1, LAST_READS + 1)]
        file.write("\n".join(lines))


def told(directory: Path) -> str:
    """Return what SSDsim says at the end, one space in the place of several."""
    return re.sub(r" +", " ", (directory / "statistic10.dat").read_text("latin-1"))
