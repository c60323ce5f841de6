"""Write the table of docs/performance.md, and the README's line on speed, from stored results.

    python benches/page.py                # writes them where they belong
    python benches/page.py --to DIR       # copies of both pages below DIR, to compare with

The rows, before and now: benches/timed.csv (benches/timed.py) and benches/instructions*.csv
(benches/instructions.py). Another simulator: benches/peers.csv (benches/peers.py).
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path

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
    "array": "the same writes to RAID-0 of eight Lee devices",
    "over-channel": "random writes, moves over the channel, Lee device",
    "two-registers": "the same with four dies a channel and two registers, 128 at a time",
    "tlc-writes": "random writes, TLC drive",
    "tlc-reads": "random reads, TLC drive",
    "semi-preemptive": "50% reads, semi-preemptive collections, TLC drive",
    "demand-paged": "50% reads, demand-paged mapping, TLC drive",
    "log-block": "50% reads, log-block mapping, TLC drive",
    "raid-5": "50% reads, RAID-5 of eight TLC drives",
    "raid-0": "50% reads, RAID-0 of eight TLC drives",
    "one-for-eight": "50% reads, one TLC drive of their capacity",
}


def main() -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT)
    options = parser.parse_args()
    for page, made in [
        ("docs/performance.md", {"rows": rows(), "peers": peers()}),
        ("README.md", {"speed": speed()}),
    ]:
        text = (ROOT / page).read_text()
        for name, one in made.items():
            text = replaced(page, text, name, one)
        (options.to / page).parent.mkdir(parents=True, exist_ok=True)
        (options.to / page).write_text(text)


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
    machine = timed("tlc-writes", "now")["machine"]
    return "\n".join(
        [*lines, "", f"Medians of rounds in turn on one core of this machine: {machine}."]
    )


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


def peers() -> str:
    """Whole processes of MQSim and Copyback for the same requests."""
    with (HERE / "peers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [
        "| load | requests | MQSim: CPU s | never completed | Copyback: CPU s | ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for load in dict.fromkeys(row["load"] for row in rows):
        own = {row["program"]: row for row in rows if row["load"] == load}
        mqsim, copyback = own["MQSim"], own["Copyback"]
        times = [float(one["cpu_s"]) for one in (mqsim, copyback)]
        lost = int(mqsim["requests"]) - int(mqsim["completed"])
        cells = [load, f"{int(mqsim['requests']):,}", f"{times[0]:.1f}", f"{lost:,}"]
        cells += [f"{times[1]:.2f}", f"{times[0] / times[1]:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    about = f"Copyback {rows[0]['commit']}; machine: {rows[0]['machine']}."
    return "\n".join([*lines, "", about])


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
