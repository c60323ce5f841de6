"""Write the tables and pictures of docs/drives from the stored answers of experiments/drives.

python tools/drive_pages.py                # writes them where they belong
python tools/drive_pages.py --to DIR       # copies below DIR, to compare with

The text of a page is written by hand; what stands between its two marks is generated.
"""

from __future__ import annotations

import argparse
import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import drive_found
import drive_loads
import drive_scaling
import drive_schemes
import fdp_study
import found_page
import load_pages
import matplotlib as mpl
import scaling_table
from drive_promises import ROOT, STORED, Promise, asked_of, promises
from matplotlib.figure import Figure
from tails_table import tails

from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

PAGES = Path("docs/drives")
PICTURES = Path("docs/images/drives")
BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"

#: How far from a published figure the preset may be without a word.
WITHIN = 0.2

#: Colours that differ for the colour-blind, too (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73")


def main() -> None:
    """Write all pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT)
    to = parser.parse_args().to
    for folder in (PAGES, PICTURES):
        (to / folder).mkdir(parents=True, exist_ok=True)
    for path in sorted(STORED.glob("*.toml")):
        stored = read(path.stem)
        fill(path.stem, generated(path, stored), to)
        if stored["curves"]:
            draw(stored["curves"], to / PICTURES / f"{path.stem}.svg")
    stored = read("schedules")
    fill("schedules", schedules(stored), to)
    draw_schedules(stored["rows"], to / PICTURES / "schedules.svg")
    fill("rain", rain(read("rain")), to)
    fill("folding", folding(read("folding")), to)
    fill("tails", tails(read("tails")), to)
    fill(drive_scaling.PAGE, scaling_table.page(read(drive_scaling.NAME)), to)
    fill(fdp_study.NAME, fdp_study.page(read(fdp_study.NAME)), to)
    stored = json.loads(drive_loads.RESULT.read_text(encoding="utf-8"))
    fill(drive_loads.NAME, load_pages.page(stored), to)
    load_pages.draw(stored, to / PICTURES / f"{drive_loads.NAME}.svg")
    fill(drive_found.NAME, found_page.page(read(drive_found.NAME)), to)
    stored = read(drive_schemes.NAME)
    fill(drive_schemes.NAME, drive_schemes.page(stored), to)
    drive_schemes.draw(stored, to / PICTURES / f"{drive_schemes.NAME}.svg")


def read(name: str) -> dict[str, Any]:
    """Return what is stored under a name."""
    stored: dict[str, Any] = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))
    return stored


def fill(name: str, text: str, to: Path) -> None:
    """Write a page of this name below a folder, with other text between its marks."""
    page = PAGES / f"{name}.md"
    (to / page).write_text(filled((ROOT / page).read_text(encoding="utf-8"), text), "utf-8")


def filled(page: str, text: str) -> str:
    """Return a page with other text between its marks."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{text}\n{END}{tail}"


def generated(path: Path, stored: dict[str, Any]) -> str:
    """Return what is generated of a page."""
    asked = asked_of(path)
    values = {one["name"]: one["value"] for one in stored["answers"]}
    rows = [(promise, values[promise.name]) for promise in promises(path)]
    free = [(promise, value) for promise, value in rows if promise.sets is None]
    near = sum(is_near(promise, value) for promise, value in free)
    pieces = [
        f"Published: {asked['source']}. Measured by `python tools/drive_promises.py {path.stem}` "
        f"at commit {stored['commit']}.",
        f"Of {len(free)} figures from which no parameter was set, {near} are within "
        f"{units.share(WITHIN)}.",
        "\n".join(table(rows)),
    ]
    if stored["curves"]:
        pieces.append(
            f"![Rate of sequential writes over what was written](../images/drives/{path.stem}.svg)"
        )
    if stored["healing"]:
        pieces.append("\n".join(healed(stored["healing"])))
    return "\n\n".join(pieces) + "\n"


def is_near(promise: Promise, value: float) -> bool:
    """Whether a preset gives what is published."""
    return abs(value / promise.published - 1) <= WITHIN


def table(rows: Sequence[tuple[Promise, float]]) -> list[str]:
    """Return the promises beside what the preset gives."""
    lines = [
        "| | published | the preset | off by | |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for promise, value in rows:
        note = ""
        if promise.sets is not None:
            note = f"sets `{promise.sets}`"
        elif promise.missing is not None:
            note = f"not modelled: {promise.missing}"
        percent = round(100 * (value / promise.published - 1))
        off = f"{percent:+d}%" if percent else "0%"
        shown = f"{told(promise.published)} {promise.unit}", f"{told(value)} {promise.unit}"
        lines.append(f"| {promise.name} | {shown[0]} | {shown[1]} | {off} | {note} |")
    return lines


def told(value: float) -> str:
    """Return a number to three digits, thousands set apart."""
    digits = max(0, 2 - len(str(int(value))) + 1)
    rounded = round(value, digits)
    if value >= 1000:
        step = 10 ** (len(str(int(value))) - 3)
        return f"{round(value / step) * step:,}"
    return f"{rounded:g}"


def healed(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return how much of a second burst goes to the cache, by the quiet before it."""
    lines = [
        "| quiet after the cache was filled | of the next burst into the cache |",
        "| --- | ---: |",
    ]
    return lines + [f"| {row['quiet']} | {units.share(row['share'])} |" for row in rows]


def schedules(stored: dict[str, Any]) -> str:
    """Return the table of schedules."""
    lines = [
        "Measured by `python tools/drive_schedules.py` at commit "
        f"{stored['commit']}; the drive sustains {stored['sustained_iops']:,} IOPS of this load.",
        "",
        "| load | schedule | reads p99 | p99.9 | writes p99 | p99.9 | page write amplification | "
        "unevenness |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    keys = ("read_p99_us", "read_p99_9_us", "write_p99_us", "write_p99_9_us")
    for row in stored["rows"]:
        times = " | ".join(units.time_us(row[key]) for key in keys)
        lines.append(
            f"| {row['share']:.0%} | `{row['schedule']}` | {times} | "
            f"{row['page_write_amplification']:.2f} | {row['moved_spread']:.2f} |"
        )
    lines += ["", "![p99.9 of reads by load and schedule](../images/drives/schedules.svg)"]
    return "\n".join(lines) + "\n"


def rain(stored: dict[str, Any]) -> str:
    """Return the table of ways around collections."""
    lines = [
        "Measured by `python tools/drive_rain.py` at commit "
        f"{stored['commit']}. Loads are shares of what the drive with all of it sustains at a "
        "depth of 64 where collections do not yield.",
        "",
        "| load | schedule | way | reads p50 | p99 | p99.9 | p99.99 | writes p99.9 | "
        "page write amplification | without parity | reads around | pages read for others |",
        "| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    keys = ("read_p50_us", "read_p99_us", "read_p99_9_us", "read_p99_99_us", "write_p99_9_us")
    for row in stored["rows"]:
        times = " | ".join(units.time_us(row[key]) for key in keys)
        without = row["without_parity"]
        lines.append(
            f"| {row['share']:.0%} | `{row['schedule']}` | {row['way']} | {times} | "
            f"{row['page_write_amplification']:.2f} | "
            f"{'' if without is None else f'{without:.2f}'} | "
            f"{units.share(row['reads_around'] / row['reads'])} | "
            f"{row['pages_read_for_others'] / row['reads']:.2f} a read |"
        )
    lines += ["", "| way | sustained |", "| --- | ---: |"]
    lines += [f"| {way} | {iops:,} IOPS |" for way, iops in stored["sustained_iops"].items()]
    return "\n".join([*lines, *erases(stored), *lost_die(stored["lost_die"])]) + "\n"


def erases(stored: dict[str, Any]) -> list[str]:
    """Return what it changes that the blocks of a line are erased together."""
    together = stored["erases"]
    lines = [
        "",
        "When the blocks of a line are erased, with all of it (`python tools/drive_rain.py erases` "
        f"at commit {together['commit']}):",
        "",
        "| load | schedule | blocks are erased | reads p99 | p99.9 | p99.99 | reads around | "
        "page write amplification |",
        "| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    keys = ("read_p99_us", "read_p99_9_us", "read_p99_99_us")
    for row in together["rows"]:
        of = ("share", "schedule", "way")
        one_by_one = next(r for r in stored["rows"] if all(r[key] == row[key] for key in of))
        for when, found in (("as they are moved", one_by_one), ("together", row)):
            times = " | ".join(units.time_us(found[key]) for key in keys)
            lines.append(
                f"| {row['share']:.0%} | `{row['schedule']}` | {when} | {times} | "
                f"{units.share(found['reads_around'] / found['reads'])} | "
                f"{found['page_write_amplification']:.2f} |"
            )
    return lines


def lost_die(stored: dict[str, Any]) -> list[str]:
    """Return how reads fare before, during and after the rebuild of a lost die."""
    lines = [
        "",
        "When one of eight dies is lost, at half of that load (`python tools/drive_rain.py "
        f"lost_die` at commit {stored['commit']}):",
        "",
        "| schedule | rebuilt | reads p50 before | during | after | p99 before | during | after | "
        "p99.9 before | during | after | rebuild | pages | lost | reads made up |",
        "| --- | --- |" + " ---: |" * 13,
    ]
    tails = ("p50", "p99", "p99_9")
    phases = ("before", "during", "after")
    for row in stored["rows"]:
        times = " | ".join(
            units.time_us(row[f"{when}_{key}_us"]) for key in tails for when in phases
        )
        lines.append(
            f"| `{row['schedule']}` | {row['pace']} | {times} | {row['rebuild_s']:.1f} s | "
            f"{row['pages_rebuilt']:,} | {row['pages_lost']:,} | "
            f"{units.share(row['degraded_reads'] / row['reads_during'])} |"
        )
    return lines


def folding(stored: dict[str, Any]) -> str:
    """Return the tables of when and how a cache is folded, and which yields best."""
    rows = stored["rows"]
    lines = [
        f"**What yields best?** {yields_best(rows)}",
        "",
        f"Measured by `python tools/drive_folding.py` at commit {stored['commit']}.",
        "",
        "| schedule | folded | reads p99 | p99.9 | writes p99 | p99.9 | page write amplification | "
        "past the cache | rate when full | healed after |",
        "| --- | --- |" + " ---: |" * 8,
    ]
    keys = ("read_p99_us", "read_p99_9_us", "write_p99_us", "write_p99_9_us")
    for row in rows:
        times = " | ".join(units.time_us(row[key]) for key in keys)
        healed = "never" if row["heals_s"] is None else f"{row['heals_s']:.2f} s"
        lines.append(
            f"| `{row['schedule']}` | {row['when']} | {times} | "
            f"{row['page_write_amplification']:.2f} | {units.share(row['past'])} | "
            f"{told(row['full_mb_per_s'])} MB/s | {healed} |"
        )
    lines += [
        "",
        "| coordination of four drives | folded | reads p99 | p99.9 | writes p99 | p99.9 | "
        "page write amplification | past the cache |",
        "| --- | --- |" + " ---: |" * 6,
    ]
    for row in stored["array"]:
        times = " | ".join(units.time_us(row[key]) for key in keys)
        lines.append(
            f"| `{row['coordination']}` | {row['when']} | {times} | "
            f"{row['page_write_amplification']:.2f} | {units.share(row['past'])} |"
        )
    return "\n".join(lines) + "\n"


def yields_best(rows: Sequence[dict[str, Any]]) -> str:
    """Return the sentence that names what folds with the shortest tail of reads."""
    best = min(rows, key=lambda row: row["read_p99_9_us"])
    worst = max(rows, key=lambda row: row["read_p99_9_us"])
    times = best["read_p99_9_us"], worst["read_p99_9_us"]
    near = [
        f"`{row['schedule']}`"
        for row in rows
        if row["when"] == best["when"]
        and row is not best
        and row["read_p99_9_us"] < 1.05 * times[0]
    ]
    beside = f" ({' and '.join(near)} within 5%)" if near else ""
    idle = [row for row in rows if row["when"] == "idle time"]
    least = min(idle, key=lambda row: row["page_write_amplification"])
    how = {"both": "on demand and in idle time", "idle time": "in idle time alone"}
    return (
        f"`{best['schedule']}` folding{beside}, {how.get(best['when'], best['when'])}: p99.9 of "
        f"reads is {units.time_us(times[0])}, against {units.time_us(times[1])} for "
        f"`{worst['schedule']}`, {how.get(worst['when'], worst['when'])}; folding in idle time "
        f"alone writes least, a page write amplification of "
        f"{least['page_write_amplification']:.2f} against "
        f"{best['page_write_amplification']:.2f}, as {units.share(least['past'])} of what is "
        f"written "
        f"goes past the cache."
    )


@contextmanager
def picture(to: Path) -> Iterator[Axes]:
    """Lend axes to draw in, and save what was drawn."""
    with mpl.rc_context({"svg.hashsalt": "copyback", "font.size": 10}):
        figure = Figure(figsize=(7.2, 3.2), layout="constrained")
        axes = figure.add_subplot()
        yield axes
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(to, metadata={"Date": None})


def draw_schedules(rows: Sequence[dict[str, Any]], to: Path) -> None:
    """Draw the p99.9 of reads over the load."""
    names = list(dict.fromkeys(row["schedule"] for row in rows))
    with picture(to) as axes:
        for name, colour, marker in zip(names, (*COLOURS, "#cc79a7"), "osD^", strict=True):
            of = [row for row in rows if row["schedule"] == name]
            loads = [100 * row["share"] for row in of]
            tails = [row["read_p99_9_us"] / 1000 for row in of]
            axes.plot(loads, tails, label=name, color=colour, marker=marker)
        axes.set(xlabel="load (% of what the drive sustains)", ylabel="reads, p99.9 (ms)")
        axes.set(yscale="log", xticks=[100 * share for share in sorted({r["share"] for r in rows})])


def draw(curves: Sequence[dict[str, Any]], to: Path) -> None:
    """Draw rates over what has been written."""
    with picture(to) as axes:
        for curve, colour in zip(curves, COLOURS, strict=True):
            written = [0.0, *curve["written_gb"]]
            rates = curve["mb_per_s"]
            axes.stairs(rates, written, label=curve["name"], color=colour, baseline=None)
        axes.set(xlabel="written since the drive was idle (GB)", xlim=(0, None))
        axes.set(ylabel="sequential writes (MB/s)", ylim=(0, None))


if __name__ == "__main__":
    main()
