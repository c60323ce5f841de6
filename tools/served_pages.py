"""Write the tables of docs/guide/postgresql.md from the stored result of experiments/served.

python tools/served_pages.py                # writes them where they belong
python tools/served_pages.py --to DIR       # a copy below DIR, to compare with
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from drive_pages import filled
from drive_promises import ROOT

from copyback.words import units

PAGE = Path("docs/guide/postgresql.md")
STORED = ROOT / "experiments/served/postgresql.json"

#: The percentiles that are told.
TOLD = ("p50", "p90", "p99", "max")


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT)
    page: Path = parser.parse_args().to / PAGE
    page.parent.mkdir(parents=True, exist_ok=True)
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    page.write_text(filled(text, generated(stored)), encoding="utf-8")


def generated(stored: dict[str, Any]) -> str:
    """Return what is generated of the page."""
    pieces = [
        f"Measured by `python tools/served_postgres.py --seconds {stored['seconds']} --slower "
        f"{stored['slower']:g}` at commit {stored['commit']}: {stored['postgresql']}, "
        f"{stored['clients']} clients, scale {stored['scale']}; machine: {stored['machine']}. All "
        f"times are the drive's; the host's were {stored['slower']:g} times as long.",
        "\n".join(latencies(stored["rows"])),
        "\n".join(lateness(stored)),
        "## What the slowest transactions waited for",
        "\n".join(waits(stored["rows"])),
        *(story(row) for row in stored["rows"]),
        "## The same requests under the other schedule",
        "\n".join(replays(stored["rows"])),
    ]
    return "\n\n".join(pieces) + "\n"


def latencies(rows: list[dict[str, Any]]) -> list[str]:
    """Return the table of what the database saw, and what the drive did."""
    lines = [
        "| schedule | what | number | median | p90 | p99 | slowest |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        amplification = f"{row['page_write_amplification']:.2f}"
        lines += [
            f"| `{row['schedule']}` | transactions | {row['transactions']:,}, "
            f"{row['per_second']:,.0f} a second | {times(row['transaction_us'])} |",
            f"| | the drive's reads | | {times(row['drive_us']['read'])} |",
            f"| | the drive's writes | page write amplification {amplification}, "
            f"{row['collections']:,} collections | {times(row['drive_us']['write'])} |",
        ]
    return lines


def times(found: dict[str, float]) -> str:
    """Return percentiles as cells."""
    return " | ".join(units.time_us(found[name]) for name in TOLD)


def lateness(stored: dict[str, Any]) -> list[str]:
    """Return how late the host was."""
    told = [
        f"`{row['schedule']}` by {units.time_us(row['lateness']['late_us']['p50'])} in the median, "
        f"where {units.time_us(row['lateness']['meant_us']['p50'])} were meant"
        for row in stored["rows"]
    ]
    believable = all(row["lateness"]["believable"] for row in stored["rows"])
    verdict = "Both runs are to be believed" if believable else "A run is **not to be believed**"
    return [f"{verdict}: on the host's clock answers were late under {'; under '.join(told)}."]


def waits(rows: list[dict[str, Any]]) -> list[str]:
    """Return how much of their time transactions waited for the drive and for collections."""
    lines = [
        "| schedule | transactions | of their time with requests in the drive | with some that "
        "waited for collections | requests meanwhile, in the median |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for row in rows:
        found = row["waiting"]
        for which, name in (("all", "all"), ("slowest", f"the slowest {found['slowest']}")):
            shares = " | ".join(f"{found[f'{which}_{what}']:.0%}" for what in ("drive", "share"))
            met = f"{found[f'{which}_met']:,.0f}"
            lines.append(f"| `{row['schedule']}` | {name} | {shares} | {met} |")
    return lines


def story(row: dict[str, Any]) -> str:
    """Return what the slowest transaction met."""
    found = row["slowest"]
    lines = [
        f"The slowest transaction under `{row['schedule']}` took "
        f"{units.time_us(found['took_us'])}. The drive was asked {found['requests_met']:,} times "
        f"meanwhile. It had requests {found['drive']:.0%} of that time, and some that waited for "
        f"collections {found['share']:.0%}."
    ]
    if found["requests"]:
        lines[0] += " Of the requests that its page explains these came one after the other:"
        lines.append("")
    for request in found["requests"]:
        when = (
            f"{units.time_us(request['after_us'])} after its begin"
            if request["after_us"] >= 0
            else f"{units.time_us(-request['after_us'])} before its begin"
        )
        what = f"a {request['operation']} of {units.size(request['bytes'])}"
        took = units.time_us(request["response_us"])
        lines.append(
            f"- Request {request['request']:,}, {what}, {when}: took {took}; "
            f"{'; '.join(request['reasons'])}."
        )
    return "\n".join(lines)


def replays(rows: list[dict[str, Any]]) -> list[str]:
    """Return what the requests of each log meet under each schedule."""
    lines = [
        "| requests of the log under | replayed under | reads: median | p99 | writes: median | "
        "p99 |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        for other in row["replayed"]:
            cells = [
                units.time_us(other["drive_us"][operation][name])
                for operation in ("read", "write")
                for name in ("p50", "p99")
            ]
            lines.append(f"| `{row['schedule']}` | `{other['schedule']}` | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
