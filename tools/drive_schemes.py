"""Ask which schemes measured drives may have inside, and store what comes out.

python tools/drive_schemes.py TABLE      # a table of rates of writes, as SSD-iq's

What is stored in experiments/drives/schemes.json is written to docs/drives/schemes.md by
tools/drive_pages.py.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drive_promises import STORED

from copyback.calibration.writes import schemes, table
from copyback.calibration.writes.study import MOVE_COST, study
from copyback.process.checkout import commit
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "schemes"


def main() -> None:
    """Simulate and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("table", type=Path)
    rows = table.read(parser.parse_args().table)
    asked = schemes.every()
    found = study(rows, asked, move_cost=MOVE_COST, overrides=(), jobs=None, quiet=False)
    stored = {"commit": commit(), **json.loads(found.to_json())}
    text = json.dumps(stored, separators=(",", ":"))
    (STORED / f"{NAME}.json").write_text(text.replace('{"scheme"', '\n{"scheme"') + "\n", "utf-8")


def page(stored: Mapping[str, Any]) -> str:
    """Return what is generated of docs/drives/schemes.md."""
    pieces = [f"Simulated at commit {stored['commit']}.", "\n".join(_summary(stored["drives"]))]
    for drive in stored["drives"]:
        pieces.append(f"## {drive['drive']}")
        pieces.append(_told(drive))
        pieces.append("\n".join(_schemes(drive)))
        pieces.append("\n".join(_rates(drive["schemes"][0])))
    return "\n\n".join(pieces) + "\n"


def _summary(drives: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "| drive | best scheme | rows right | raw for used GiB | excluded | remain beside it |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    for drive in drives:
        best, *others = drive["schemes"]
        remain = [one["scheme"] for one in others if one["excluded_by"] is None]
        excluded = len(others) - len(remain)
        right = f"{best['rows_right']} of {best['rows_judged']}"
        size = f"{best['raw_gib']:,.0f} for {drive['used_gib']:g}"
        lines.append(
            f"| {drive['drive']} | {best['scheme']} | {right} | {size} "
            f"| {excluded} of {len(others)} | {'; '.join(remain) or 'none'} |"
        )
    return lines


def _told(drive: Mapping[str, Any]) -> str:
    """Return the rows that the best scheme misses, and those that were skipped."""
    best = drive["schemes"][0]
    missed = [cell for row in best["rows"] for cell in row if not _is_right(cell)]
    pieces = [
        "The best scheme misses "
        + (
            "nothing."
            if not missed
            else f"{'; '.join(map(_cell, missed))} (simulated for measured)."
        )
    ]
    reasons: dict[str, int] = {}
    for one in drive["skipped"]:
        reasons[one["reason"]] = reasons.get(one["reason"], 0) + 1
    if reasons:
        told = "; ".join(f"{count} ({reason})" for reason, count in reasons.items())
        pieces.append(f"Rows that were skipped: {told}.")
    return " ".join(pieces)


def _schemes(drive: Mapping[str, Any]) -> list[str]:
    lines = [
        "| scheme | raw GiB | rows right | typical error | excluded by (simulated for measured) |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for one in drive["schemes"]:
        excluded = "" if one["excluded_by"] is None else _cell(one["excluded_by"])
        lines.append(
            f"| {one['scheme']} | {one['raw_gib']:,.0f} | {one['rows_right']} of "
            f"{one['rows_judged']} | {units.share(one['error'])} | {excluded} |"
        )
    return lines


def _rates(best: Mapping[str, Any]) -> list[str]:
    columns = ("at1", "at2", "at3", "steady")
    lines = [
        "| load, simulated / measured k writes a second | " + " | ".join(columns) + " |",
        "| --- |" + " ---: |" * len(columns),
    ]
    for row in best["rows"]:
        cells = {cell["column"]: _pair(cell) for cell in row}
        pairs = " | ".join(cells.get(column, "") for column in columns)
        lines.append(f"| {row[0]['row']} | {pairs} |")
    return lines


def _pair(cell: Mapping[str, Any]) -> str:
    mark = " (fitted)" if cell["fitted"] else "" if _is_right(cell) else " **!**"
    return f"{_k(cell['simulated'])} / {_k(cell['measured'])}{mark}"


def _cell(cell: Mapping[str, Any]) -> str:
    return f"{cell['row']}, {cell['column']}: {_k(cell['simulated'])} for {_k(cell['measured'])} k"


def _is_right(cell: Mapping[str, Any]) -> bool:
    ratio = cell["simulated"] / cell["measured"]
    return bool(max(ratio, 1 / ratio) <= 1 + cell["tolerance"])


def _k(rate: float) -> str:
    return f"{rate / 1000:,.0f}"


if __name__ == "__main__":
    main()
