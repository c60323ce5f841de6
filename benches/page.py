"""Write the table of docs/performance.md, and the README's line on speed, from stored results.

    python benches/page.py                # writes them where they belong
    python benches/page.py --to DIR       # copies of both pages below DIR, to compare with

The rows, before and now: benches/timed.csv (benches/timed.py) and benches/instructions*.csv
(benches/instructions.py). Against the floor with time: benches/floors.csv (benches/floors.py).
Other simulators: benches/peers.csv (benches/peers.py). Larger drives and longer runs:
benches/growth.csv and scaling.csv. Long traces, sweeps, policies in Python, profile-guided builds:
the files of these names, each written by the script beside it.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
ROOT = HERE.parent
# What stands for a time of a row that is newer than the measurements.
NOT_MEASURED = "–"
# What each row is, for who has not read the benches.
WHAT = {
    "floor": "the bare loop",
    "precondition": "random overwrites without time, Lee device",
    "heavy-gc": "random writes, moves by copyback, Lee device",
    "reads": "random reads, Lee device",
    "read-mostly": "95% reads, Lee device",
    "mixed": "50% reads, Lee device",
    "array": "the same writes to RAID-0 of eight Lee devices",
    "over-channel": "random writes, moves over the channel, Lee device",
    "two-registers": "the same with four dies a channel and two registers, 128 at a time",
    "tlc-writes": "random writes, TLC drive",
    "tlc-reads": "random reads, TLC drive",
    "semi-preemptive": "50% reads, semi-preemptive collections, TLC drive",
    "buffered": "random writes, the measured drive `intel-s4500` with its write buffer",
    "demand-paged": "50% reads, demand-paged mapping, TLC drive",
    "log-block": "50% reads, log-block mapping, small TLC drive",
    "raid-5": "50% reads, RAID-5 of eight TLC drives",
    "raid-0": "50% reads, RAID-0 of eight TLC drives",
    "one-for-eight": "50% reads, one TLC drive of their capacity",
}


def main() -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT)
    options = parser.parse_args()
    for page, pieces in [
        ("docs/performance.md", {name: made(name) for name in TABLES}),
        ("README.md", {"speed": speed()}),
    ]:
        text = (ROOT / page).read_text()
        for name, one in pieces.items():
            text = replaced(page, text, name, one)
        (options.to / page).parent.mkdir(parents=True, exist_ok=True)
        (options.to / page).write_text(text)


def made(name: str) -> str:
    """Make a table, if what it is made from was ever measured."""
    is_measured = name == "rows" or (HERE / f"{name}.csv").exists()
    return TABLES[name]() if is_measured else "Not measured yet."


def replaced(page: str, text: str, name: str, made: str) -> str:
    """Put what was made between the two marks called `name` of a page's text."""
    marks = (f"<!-- {name}: written by `make generated` -->", f"<!-- {name}: end -->")
    pattern = re.compile(f"({re.escape(marks[0])}\n).*?({re.escape(marks[1])})", re.DOTALL)
    text, count = pattern.subn(lambda found: f"{found[1]}\n{made}\n\n{found[2]}", text)
    if count != 1:
        raise SystemExit(f"{page}: the marks {marks} are there {count} times; allowed: once")
    return text


def speed() -> str:
    """Say how fast a drive of today is simulated."""
    row, lee = timed("tlc-writes", "now"), timed("heavy-gc", "now")
    millions = [float(one["page_operations_per_cpu_s"]) / 1e6 for one in (row, lee)]
    return (
        f"A second of one core ({row['machine']}) simulates {millions[0]:.1f} million\n"
        "page operations of a TLC drive under random writes that collects over the channel, and "
        f"{millions[1]:.1f} million where pages are moved by copyback;\n"
        "a move counts as two, an erase as one, preparation and start-up not at all; "
        f"memory is {float(row['bytes_per_page']):.0f} bytes a physical page."
    )


def rows() -> str:
    """Every row, before and now."""
    counted = {name: instructions(name) for name in ("before", "now")}
    lines = [
        "| row | work | ns a page operation | ns a host page, against the floor "
        "| instructions a page operation | bytes a physical page |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [line(name, counted) for name in WHAT]
    now = timed("tlc-writes", "now")
    told = f"Medians of {now['rounds']} rounds on one core of this machine: {now['machine']}."
    return "\n".join([*lines, "", told])


def line(name: str, counted: dict[str, dict[str, float]]) -> str:
    """One row of the table: before, then now."""
    programs = ("before", "now")
    times = [row for row in (find_timed(name, program) for program in programs) if row]
    each = [1e9 / float(row["page_operations_per_cpu_s"]) for row in times]
    ratios = [float(row["ratio"]) for row in times]
    counts = [counted[program][name] for program in programs if name in counted[program]]
    memory = f"{float(times[-1]['bytes_per_page']):.1f}" if times else NOT_MEASURED
    cells = [f"`{name}`", WHAT[name], change(each, ".0f"), change(ratios, ".1f")]
    return f"| {' | '.join([*cells, change(counts, ',.0f'), memory])} |"


def change(values: list[float], form: str) -> str:
    """Write what was before and is now, or what is known of it."""
    return " → ".join(format(value, form) for value in values) or NOT_MEASURED


def floors() -> str:
    """Rows that have a floor with time, against it."""
    rows = stored("floors")
    asked = {
        target["row"]: float(target["asked"])
        for target in stored("targets")
        if target["what"] == AGAINST_TIME
    }
    head = ["row", "work", "ns a host page", "the floor's ns", "against the floor", "asked"]
    head += ["mean response, us", "the floor's us"]
    lines = []
    for row in rows:
        name = row["row"]
        cells = [f"`{name}`", WHAT[name], row["ns_per_host_page"], row["timed_floor_ns"]]
        cells += [row["timed_ratio"], f"{asked[name]:g}" if name in asked else NOT_MEASURED]
        cells += [row["mean_us"], row["timed_floor_mean_us"]]
        lines.append(cells)
    about = f"Copyback {rows[0]['commit']}; {rounds(rows)}; machine: {rows[0]['machine']}."
    return "\n".join([*table(head, lines, text=2), "", about])


def peers() -> str:
    """Whole processes of other simulators and Copyback for the same requests."""
    rows = stored("peers")
    lines = []
    for load in dict.fromkeys(row["load"] for row in rows):
        own = [row for row in rows if row["load"] == load]
        ours = next(row for row in own if row["program"] == "Copyback")
        lines += [peer_line(row, ours) for row in own if row is not ours]
    head = [
        "load",
        "requests",
        "simulator",
        "CPU s",
        "Copyback: CPU s",
        "of that start-up",
        "ratio",
    ]
    head += ["never completed", "pages programmed", "blocks erased"]
    about = f"Copyback {rows[0]['commit']}; {rounds(rows)}; machine: {rows[0]['machine']}."
    return "\n".join([*table(head, lines, text=1), "", about])


def peer_line(peer: dict[str, str], ours: dict[str, str]) -> list[str]:
    """One row of the table: another simulator, and Copyback beside it."""
    times = [float(row["cpu_s"]) for row in (peer, ours)]
    start_up = float(ours["start_up_s"]) / times[1]
    lost = int(peer["requests"]) - int(peer["completed"])
    cells = [f"{peer['peer']}: {peer['load']}", f"{int(peer['requests']):,}", peer["program"]]
    cells += [f"{times[0]:.1f}", f"{times[1]:.2f}", f"{start_up:.0%}", f"{times[0] / times[1]:.1f}"]
    return [*cells, f"{lost:,}", *(apart(peer, ours, what) for what in ("programs", "erases"))]


def apart(peer: dict[str, str], ours: dict[str, str], what: str) -> str:
    """Say how many there were, and how many more or fewer were ours."""
    theirs = int(peer[what])
    return f"{theirs:,} ({int(ours[what]) / theirs - 1:+.1%})"


def growth() -> str:
    """Instructions of a page operation on larger drives and in longer runs."""
    rows = stored("growth")
    points = list(dict.fromkeys((int(row["times_blocks"]), int(row["length"])) for row in rows))
    points.sort(key=lambda point: (point[1], point[0]))
    head = ["row", *(point_name(*point) for point in points)]
    lines = []
    for name in dict.fromkeys(row["row"] for row in rows):
        each = {
            (int(row["times_blocks"]), int(row["length"])): int(row["instructions"])
            / int(row["page_operations"])
            for row in rows
            if row["row"] == name
        }
        first = each[1, 1]
        cells = [
            f"{each[point]:,.0f} ({each[point] / first:.2f})" if point in each else NOT_MEASURED
            for point in points
        ]
        lines.append([f"`{name}`", *cells])
    return "\n".join([*table(head, lines), "", f"Compiler: {rows[0]['compiler']}."])


def point_name(times_blocks: int, length: int) -> str:
    """Name a column."""
    if times_blocks == length == 1:
        return "smallest"
    return f"{times_blocks}x the blocks" if length == 1 else f"{length}x the requests"


def scaling() -> str:
    """CPU time, first and last of each way to grow."""
    rows = stored("scaling")
    head = ["grows by", "times", "load", "ns a page operation", "ns a page prepared", "peak MiB"]
    lines = []
    for way in dict.fromkeys(row["way"] for row in rows):
        times = [float(row["times"]) for row in rows if row["way"] == way]
        for row in rows:
            if row["way"] == way and float(row["times"]) in {min(times), max(times)}:
                costs = [row["operation_ns"], row["preparation_ns"], row["memory_mib"]]
                cells = [f"{float(cost):.0f}" for cost in costs]
                lines.append([way, row["times"], row["load"], *cells])
    about = f"{rounds(rows)}; machine: {rows[0]['machine']}."
    return "\n".join([*table(head, lines), "", about])


def long() -> str:
    """Long traces."""
    rows = stored("long")
    head = ["work", "million requests", "CPU s", "peak MiB", "the trace, MiB"]
    lines = [
        [
            f"`{row['step']}`",
            f"{int(row['requests']) / 1e6:g}",
            row["cpu_s"],
            row["peak_mib"],
            row["file_mib"],
        ]
        for row in rows
    ]
    return "\n".join([*table(head, lines), "", f"Once; machine: {rows[0]['machine']}."])


def sweep() -> str:
    """Set a sweep with one process beside one with several."""
    rows = stored("sweep")
    head = ["processes", "runs", "wall s", "runs a second, against the first"]
    head += ["CPU ms a run: its process", "the sweep's own"]
    walls = [float(row["wall_s"]) for row in rows]
    lines = [
        [
            row["processes"],
            row["runs"],
            row["wall_s"],
            f"{walls[0] / wall:.2f}",
            row["process_ms"],
            row["here_ms"],
        ]
        for row, wall in zip(rows, walls, strict=True)
    ]
    about = f"{rounds(rows)}; machine: {rows[0]['machine']}."
    return "\n".join([*table(head, lines), "", about])


def policies() -> str:
    """Policies in Python beside those that are built in."""
    rows = stored("policies")
    head = ["policy", "blocks a plane", "ns a page operation"]
    lines = [[row["policy"], row["blocks_per_plane"], row["ns_each"]] for row in rows]
    about = f"{rounds(rows)}; machine: {rows[0]['machine']}."
    return "\n".join([*table(head, lines), "", about])


def guided() -> str:
    """Set a profile-guided build beside a plain one."""
    rows = stored("guided")
    head = ["work", "CPU s: plain", "guided", "change", "million instructions: plain", "guided"]
    head += ["change"]
    lines = []
    for row in rows:
        cells = [row["work"]]
        for unit, form in (("cpu_s", ".2f"), ("instructions", ",.0f")):
            plain, guided = (float(row[f"{build}_{unit}"]) for build in ("plain", "guided"))
            scale = 1e6 if unit == "instructions" else 1
            cells += [format(plain / scale, form), format(guided / scale, form)]
            cells += [f"{guided / plain - 1:+.0%}"]
        lines.append(cells)
    about = f"{rounds(rows)}; compiler: {rows[0]['compiler']}; machine: {rows[0]['machine']}."
    return "\n".join([*table(head, lines), "", about])


def targets() -> str:
    """Set what was asked of rows beside what they take."""
    head = ["row", "what", "asked", "now", "now to asked"]
    lines = []
    for target in stored("targets"):
        if target["what"] == AGAINST_TIME:
            continue
        asked, now = float(target["asked"]), TAKEN[target["what"]](target["row"])
        told = "reached" if now <= asked else f"{now / asked:.1f}"
        cells = [
            f"`{target['row']}`",
            target["what"],
            f"{asked:,g}",
            f"{now:,.0f}" if now >= 100 else f"{now:.2f}",
            told,
        ]
        lines.append(cells)
    return "\n".join(table(head, lines, text=2))


def ns_each(name: str) -> float:
    """Nanoseconds of CPU time a page operation of a row."""
    return 1e9 / float(timed(name, "now")["page_operations_per_cpu_s"])


#: What is asked of rows that have a floor with time; their own table says it.
AGAINST_TIME = "ns a host page against the floor with time"
#: What is asked of a row, and how it is read from what was measured.
TAKEN: dict[str, Callable[[str], float]] = {
    "ns a page operation": ns_each,
    "ns a page operation against one-for-eight": lambda name: (
        ns_each(name) / ns_each("one-for-eight")
    ),
    "ns a host page against the floor": lambda name: float(timed(name, "now")["ratio"]),
    "instructions a page operation": lambda name: instructions("now")[name],
    "bytes a physical page": lambda name: float(timed(name, "now")["bytes_per_page"]),
}


def profile() -> str:
    """Instructions a page operation of each row, room by room."""
    rows = stored("profile")
    each = {
        (row["row"], row["room"]): int(row["instructions"]) / int(row["page_operations"])
        for row in rows
    }
    rooms = [*sorted({room for _, room in each} - {"other"}), "other"]
    lines = [
        [f"`{name}`", *(f"{each.get((name, room), 0):,.0f}" for room in rooms)]
        for name in dict.fromkeys(row["row"] for row in rows)
    ]
    return "\n".join([*table(["row", *rooms], lines), "", f"Compiler: {rows[0]['compiler']}."])


#: The tables of docs/performance.md, by the name that stands at their marks.
TABLES = {
    "rows": rows,
    "targets": targets,
    "profile": profile,
    "floors": floors,
    "peers": peers,
    "growth": growth,
    "scaling": scaling,
    "long": long,
    "sweep": sweep,
    "policies": policies,
    "guided": guided,
}


def table(head: list[str], lines: list[list[str]], text: int = 1) -> list[str]:
    """Write a table; columns after the first ones are numbers."""
    marks = ["---"] * text + ["---:"] * (len(head) - text)
    return [f"| {' | '.join(cells)} |" for cells in (head, marks, *lines)]


def stored(name: str) -> list[dict[str, str]]:
    """Read what was measured."""
    with (HERE / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def rounds(rows: list[dict[str, str]]) -> str:
    """Say of how many rounds the medians are."""
    count = sorted({int(row["rounds"]) for row in rows})
    counts = " or ".join(map(str, count))
    return "one round" if count == [1] else f"medians of {counts} rounds in turn"


def timed(name: str, program: str) -> dict[str, str]:
    """Read what a row took in a program, which is there."""
    row = find_timed(name, program)
    if row is None:
        raise SystemExit(f"timed.csv: no row {name} of the program {program}")
    return row


def find_timed(name: str, program: str) -> dict[str, str] | None:
    """Read what a row took in a program, if that was measured."""
    with (HERE / "timed.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if (row["row"], row["program"]) == (name, program):
                return row
    return None


def instructions(program: str) -> dict[str, float]:
    """Read the instructions a page operation of every row in a program."""
    file = HERE / ("instructions.csv" if program == "now" else f"instructions-{program}.csv")
    with file.open(newline="") as table:
        return {
            row["row"]: int(row["instructions"]) / int(row["page_operations"])
            for row in csv.DictReader(table)
        }


if __name__ == "__main__":
    main()
