"""Tables of docs/drives/samsung-pm9a3.md: parameters, measured numbers, and fewer blocks."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import drive_loads
import load_pages

from copyback import _core
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Row = dict[str, Any]

#: How far from what was measured a number may be to be near.
NEAR = 0.3

#: Where values come from that were neither fitted nor chosen.
DERIVED = {
    "host.command_slots": "of a write at saturation, by Little's law",
    "host.low_watermark": "of the longest wait of a read at saturation",
}

#: Numbers whose change with the blocks is shown.
SCALED = {
    "write_amplification": "{:.2f}",
    "writes_per_s": "{:,.0f}",
    "read_p99_us": "{:,.0f} µs",
}


def page(stored: dict[str, Any]) -> str:
    """Return what is generated of the page."""
    cells = [{**cell, "near": is_near(cell)} for cell in stored["cells"]]
    free = [one for one in cells if not one["fitted"] and one["metric"] in load_pages.METRICS]
    near = sum(one["near"] for one in free)
    pieces = [
        f"Measured by `python tools/drive_scaling.py` at commit {stored['commit']}.",
        f"**Of {len(free)} latencies that were not fitted, {near} are within "
        f"{units.share(NEAR)}.** The largest error that comes with "
        f"fewer blocks is {units.share(worst(stored['rows']))}.",
        "## Parameters",
        "\n".join(parameters(stored["preset"])),
        "## Beside what was measured",
        "Simulated over measured microseconds. In brackets what was fitted, bold what is off by "
        f"more than {units.share(NEAR)}.",
        "\n".join(load_pages.table(cells)),
        "## Fewer blocks",
        "\n".join(scaling(stored["rows"])),
    ]
    return "\n\n".join(pieces) + "\n"


def is_near(cell: Row) -> bool:
    """Whether a simulated number is near the measured one."""
    return bool(abs(cell["simulated"] / cell["measured"] - 1) <= NEAR)


def parameters(preset: str) -> list[str]:
    """Return a row for each key of a preset's drive, with its value and where that is from."""
    texts = {name: text for name, _, text in _core.presets()}
    table = tomllib.loads(texts[preset])
    drive = {key: table[key] for key in ("ssd", "host")}
    lines = ["| parameter | value | |", "| --- | ---: | --- |"]
    return lines + [f"| `{key}` | {value} | {source(key)} |" for key, value in flat(drive)]


def flat(table: Row, above: str = "") -> Iterator[tuple[str, Any]]:
    """Go through the keys of a table and of those in it, with dots between their names."""
    for key, value in table.items():
        if isinstance(value, dict) and len(value) > 1:
            yield from flat(value, f"{above}{key}.")
        elif isinstance(value, dict):
            ((unit, number),) = value.items()
            yield f"{above}{key}", f"{number} {unit}"
        else:
            yield f"{above}{key}", str(value).lower() if isinstance(value, bool) else value


def source(key: str) -> str:
    """Return where the value of a key is from."""
    if key in drive_loads.PACED or key == "ssd.ftl.over_provisioning":
        return "fitted"
    return DERIVED.get(key, "chosen")


def scaling(rows: Sequence[Row]) -> list[str]:
    """Return a row for each number of blocks, with its distance from the most blocks."""
    most = rows[-1]
    lines = [
        "| blocks a plane | capacity | write amplification | off by | writes a second without "
        "pause | off by | p99 of reads | off by |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        told = [
            part
            for key, form in SCALED.items()
            for part in (form.format(row[key]), _off(row, most, key))
        ]
        size = f"{row['capacity_bytes'] / 1e9:,.0f} GB"
        lines.append(f"| {row['blocks_per_plane']:,} | {size} | {' | '.join(told)} |")
    return lines


def _off(row: Row, most: Row, key: str) -> str:
    return "" if row is most else f"{change(row, most, key):+.1%}"


def change(row: Row, most: Row, key: str) -> float:
    """Return how far a number is from that of the most blocks, as a share of it."""
    return float(row[key]) / float(most[key]) - 1


def worst(rows: Sequence[Row]) -> float:
    """Return the largest change of any number of the drives with fewer blocks."""
    return max(abs(change(row, rows[-1], key)) for row in rows for key in SCALED)
