"""Ask which schemes measured drives may have inside, and store what comes out.

python tools/drive_schemes.py TABLE      # a table of rates of writes, as SSD-iq's

What is stored in experiments/drives/schemes.json is written to docs/drives/schemes.md by
tools/drive_pages.py.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from drive_promises import STORED
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from copyback.calibration.writes import schemes, table
from copyback.calibration.writes.judge import Cell
from copyback.calibration.writes.show import NAMED
from copyback.calibration.writes.study import MOVE_COST, study
from copyback.process.checkout import commit
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "schemes"

#: Numbers of a cell whose means are told of repetitions and specimens.
MEASURES = ("measured", "simulated")

#: Rates at which the picture has ticks, in thousands of writes a second.
RATES = (50, 100, 200, 400, 800)


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
    pieces = [
        _answer(stored["drives"]),
        f"Simulated at commit {stored['commit']}.",
        "\n".join(_summary(stored["drives"])),
        f"![Simulated over measured rates of writes](../images/drives/{NAME}.svg)",
        "Grey: within 15%. In the tables of rates, what is too far off is bold, and what was "
        "fitted in brackets.",
    ]
    for drive in stored["drives"]:
        pieces.append(f"## {drive['drive']}")
        pieces.append(_told(drive))
        pieces.append("\n".join(_schemes(drive)))
        pieces.append("\n".join(_rates(drive)))
    return "\n\n".join(pieces) + "\n"


def _answer(drives: Sequence[Mapping[str, Any]]) -> str:
    """Return what the study says, of the drives on which any scheme is excluded."""
    judged = [drive for drive in drives if _wrong(drive)]
    lines = []
    for scheme in dict.fromkeys(drive["schemes"][0]["scheme"] for drive in judged):
        best = [drive["schemes"][0] for drive in judged if drive["schemes"][0]["scheme"] == scheme]
        right, rows = (sum(one[key] for one in best) for key in ("rows_right", "rows_judged"))
        lines.append(
            f"**{scheme[0].upper()}{scheme[1:]}** is the best scheme on {len(best)} of "
            f"{len(drives)} drives: it gives {right} of {rows} rows."
        )
    excluded = [
        {one["scheme"] for one in drive["schemes"] if one["excluded_by"]} for drive in judged
    ]
    everywhere = set.intersection(*excluded)
    whole = [
        victim
        for victim in schemes.VICTIMS
        if all(f"{victim}, {where}" in everywhere for where in schemes.PLACEMENTS)
    ]
    if whole:
        lines.append(f"Excluded on each of these, whatever the placement: {', '.join(whole)}.")
    others = sorted(one for one in everywhere if one.partition(", ")[0] not in whole)
    if others:
        lines.append(f"Excluded on each are also: {'; '.join(others)}.")
    if free := [drive["drive"] for drive in drives if not _wrong(drive)]:
        lines.append(f"Of {', '.join(free)} too few rows are known to exclude any.")
    return "\n".join(lines)


def _summary(drives: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "| drive | best scheme | rows right | raw for used GiB | excluded | remain beside it |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    for drive in drives:
        best, *others = drive["schemes"]
        remain = [one["scheme"] for one in others if one["excluded_by"] is None]
        excluded = len(others) - len(remain)
        named = "; ".join(remain) if len(remain) <= NAMED else f"{len(remain)} others"
        right = f"{best['rows_right']} of {best['rows_judged']}"
        size = f"{best['raw_gib']:,.0f} for {drive['used_gib']:g}"
        lines.append(
            f"| {drive['drive']} | {best['scheme']} | {right} | {size} "
            f"| {excluded} of {len(others)} | {named or 'none'} |"
        )
    return lines


def _told(drive: Mapping[str, Any]) -> str:
    """Return the rows that the best scheme misses, and those that were skipped."""
    best = drive["schemes"][0]
    missed = [cell for row in _merged(best["rows"]) for cell in row if not Cell.of(cell).is_right]
    told = "; ".join(_cell(drive, cell) for cell in missed)
    pieces = [
        f"The best scheme misses {f'{told} (simulated for measured)' if missed else 'nothing'}."
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
        excluded = "" if one["excluded_by"] is None else _cell(drive, one["excluded_by"])
        lines.append(
            f"| {one['scheme']} | {one['raw_gib']:,.0f} | {one['rows_right']} of "
            f"{one['rows_judged']} | {units.share(one['error'])} | {excluded} |"
        )
    return lines


def _rates(drive: Mapping[str, Any]) -> list[str]:
    """Return measured rates, those of the best scheme, and those of the best that is excluded."""
    best, wrong = drive["schemes"][0], _wrong(drive)
    columns = ("at1", "at2", "at3", "steady")
    shown = [_merged(one["rows"]) for one in (best, wrong) if one]
    heads = "; ".join(["measured", *(one["scheme"] for one in (best, wrong) if one)])
    lines = [
        f"| k writes a second: {heads} | " + " | ".join(columns) + " |",
        "| --- |" + " ---: |" * len(columns),
    ]
    for rows in zip(*shown, strict=True):
        cells = {cells[0]["column"]: _told_cells(cells) for cells in zip(*rows, strict=True)}
        told = " | ".join(cells.get(column, "") for column in columns)
        lines.append(f"| {_load(drive, rows[0][0])} | {told} |")
    return lines


def _load(drive: Mapping[str, Any], cell: Mapping[str, Any]) -> str:
    """Return a load, without the size that is used if that is the most."""
    name: str = cell["row"]
    return name.removesuffix(f", {drive['used_gib']:g} GiB")


def _merged(rows: Sequence[Sequence[Mapping[str, Any]]]) -> list[list[dict[str, Any]]]:
    """Return one row a load: the means of repetitions and specimens."""
    together: dict[str, list[Sequence[Mapping[str, Any]]]] = {}
    for row in rows:
        together.setdefault(row[0]["row"], []).append(row)
    return [
        [
            {**cells[0], **{key: fmean(cell[key] for cell in cells) for key in MEASURES}}
            for cells in zip(*same, strict=True)
        ]
        for same in together.values()
    ]


def _wrong(drive: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the best scheme that is excluded, if one is."""
    return next((one for one in drive["schemes"] if one["excluded_by"]), None)


def _told_cells(cells: Sequence[Mapping[str, Any]]) -> str:
    """Return the measured rate and the simulated ones; bold are those that are too far off."""
    told = [_k(cells[0]["measured"])]
    for cell in cells:
        rate = _k(cell["simulated"])
        told.append(
            f"({rate})" if cell["fitted"] else rate if Cell.of(cell).is_right else f"**{rate}**"
        )
    return "; ".join(told)


def draw(stored: Mapping[str, Any], path: Path) -> None:
    """Draw simulated over measured rates of each drive: the best scheme, and the best excluded."""
    with mpl.rc_context({"svg.hashsalt": "copyback", "font.size": 9}):
        _draw([drive for drive in stored["drives"] if _wrong(drive)], path)


def _draw(drives: Sequence[Mapping[str, Any]], path: Path) -> None:
    figure = Figure(figsize=(3.4 * len(drives), 3.6), layout="constrained")
    for axes, drive in zip(figure.subplots(1, len(drives), squeeze=False)[0], drives, strict=True):
        for one, colour, mark in zip(
            (_wrong(drive), drive["schemes"][0]), ("#d55e00", "#0072b2"), ("x", "o"), strict=True
        ):
            cells = [cell for row in one["rows"] for cell in row if not cell["fitted"]]
            axes.scatter(
                [cell["measured"] / 1000 for cell in cells],
                [cell["simulated"] / 1000 for cell in cells],
                s=16,
                c=colour,
                marker=mark,
                linewidths=1,
                label=one["scheme"],
            )
        ends = axes.get_xlim()
        low, high = ([times * x for x in ends] for times in (0.85, 1.15))
        axes.fill_between(ends, low, high, color="0.9", zorder=0)
        axes.plot(ends, ends, color="0.6", linewidth=1, zorder=0)
        axes.set(xlim=ends, xscale="log", yscale="log", title=drive["drive"])
        axes.set(xlabel="measured (k writes/s)", ylabel="simulated (k writes/s)")
        axes.legend(fontsize="x-small")
        axes.title.set_fontsize("small")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(FixedLocator(RATES))
            axis.set_major_formatter(FuncFormatter(lambda rate, _: f"{rate:g}"))
            axis.set_minor_locator(NullLocator())
    figure.savefig(path, metadata={"Date": None})


def _cell(drive: Mapping[str, Any], cell: Mapping[str, Any]) -> str:
    rates = f"{_k(cell['simulated'])} for {_k(cell['measured'])} k"
    return f"{_load(drive, cell)}, {cell['column']}: {rates}"


def _k(rate: float) -> str:
    return f"{rate / 1000:,.0f}"


if __name__ == "__main__":
    main()
