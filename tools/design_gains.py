"""What remains of the papers' gains once everything else is tuned, too.

For each scheme of `examples/design/gains/schemes.toml` and the study of its drive,
`copyback design --against` searches the best design without and with it. Stored in
`examples/design/gains/gains.csv`; docs/gains.md is written from that:

    python tools/design_gains.py --runs out/gains           # about an hour of two cores
    python tools/design_gains.py --page                     # writes docs/gains.md

What is named (`samsung-pm9a3`, or `samsung-pm9a3/PGC`) is run again, the rest kept. A scheme is
stored as soon as it is done, and one that was stopped goes on where it was. `samsung-pm9a3/bound`
runs the best design of that drive once more, and beside it the same design with collections that
take no time.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from commits import commit

from copyback.designer.against import Pair, fresh_seeds, numbers
from copyback.designer.runs import Runner
from copyback.designer.scores import Measured
from copyback.designer.space import Design
from copyback.designer.study import Length
from copyback.designer.study_file import read_study
from copyback.sweep.where import Where

ROOT = Path(__file__).parents[1]
HOME = ROOT / "examples/design/gains"
SCHEMES, STORED = HOME / "schemes.toml", HOME / "gains.csv"
HEAD = Path(__file__).with_name("design_gains_head.md")
PAGE = Path("docs/gains.md")

#: What each drive is on the page.
DRIVES = {
    "plain": "A plain drive",
    "samsung-pm9a3": "The twin of a Samsung PM9A3",
    "micron-7450-max": "The twin of a Micron 7450 MAX",
    "array": "RAID-0 of four of the PM9A3's twins",
}

#: What is said of all of them but the first.
OF_TWINS = (
    "What the measured drive's firmware does about collections (paced, in superblocks) is taken "
    "out of the base, and is a choice of the space like the papers' schemes. It has fewer blocks a "
    "plane than the drive, so that a search takes minutes: write amplification is higher for it."
)

#: Where the ratio is from: the scheme added to the base, and the best designs.
ALONE, TUNED = "untuned", "tuned"

#: Name of the best design with collections that take no time, beside the schemes; and its settings:
#: such collections need no idle time.
BOUND = "bound"
FREE = {"ssd.gc.zero_cost": "true", "ssd.gc.idle": '"none"'}


#: Designs below which a search is said to have decided nothing.
FEW = 20


class Row(NamedTuple):
    """Ratio of an objective with a scheme to that without it.

    Attributes
    ----------
    when
        `untuned` or `tuned`; `bound` for collections that take no time.
    ratio, low, high
        With its 95% interval; nothing where the configuration refuses one side.
    without, with_scheme
        The objective's number, the geometric mean over the seeds.
    flaw
        Why one of the two may not be built.
    without_design, with_design
        Keys and values of both.
    tried
        Designs that the searches without and with it had short runs of: of schemes that were
        stored before it was counted, nothing.
    """

    drive: str
    scheme: str
    when: str
    objective: str
    ratio: str
    low: str
    high: str
    without: str
    with_scheme: str
    flaw: str
    without_design: str
    with_design: str
    tried: str
    commit: str


def main() -> int:
    """Run the studies, or write the page. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="DRIVE[/SCHEME]", help="these; else all")
    parser.add_argument("--runs", type=Path, help="where the runs are kept")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="write the page of what is stored")
    parser.add_argument("--to", type=Path, default=ROOT, help="directory of the page")
    given = parser.parse_args()
    if given.page:
        path = given.to / PAGE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(stored()), encoding="utf-8")
        return 0
    if given.runs is None:
        parser.error("--runs DIR is needed")
    # What was stored before is no part of the program.
    at = commit(below=f":(exclude){STORED.relative_to(ROOT)}")
    for drive, scheme in asked(given.names):
        measure = bound if scheme == BOUND else measured
        rows = measure(drive, scheme, given.runs, given.jobs, at)
        store([row for row in stored() if (row.drive, row.scheme) != (drive, scheme)] + rows)
    return 0


def asked(names: list[str]) -> list[tuple[str, str]]:
    """Return the drives and schemes that are named; else all."""
    every = [(drive, scheme) for drive, own in schemes().items() for scheme in (*own, BOUND)]
    return [one for one in every if not names or {one[0], "/".join(one)} & set(names)]


def schemes() -> dict[str, dict[str, list[str]]]:
    """Return for each drive its schemes, and the settings of each."""
    return tomllib.loads(SCHEMES.read_text(encoding="utf-8"))


def measured(drive: str, scheme: str, runs: Path, jobs: int, at: str) -> list[Row]:
    """Run the two searches of a scheme on a drive."""
    out = runs / drive / scheme.replace(" ", "-").replace(",", "")
    against = [word for one in schemes()[drive][scheme] for word in ("--against", one)]
    command = [sys.executable, "-m", "copyback", "design", str(HOME / f"{drive}.toml"), *against]
    subprocess.run([*command, "--jobs", str(jobs), "--out", str(out)], check=True)
    found = json.loads((out / "against.json").read_text(encoding="utf-8"))
    rows = [row for when in (ALONE, TUNED) for row in rows_of(drive, scheme, when, found, at)]
    return [row._replace(tried=designs_tried(out)) for row in rows]


def designs_tried(out: Path) -> str:
    """Return how many designs the searches without and with a scheme have tried."""
    searches = (out / side / "design.json" for side in ("without", "with"))
    return " and ".join(str(json.loads(one.read_text("utf-8"))["tried"]) for one in searches)


def bound(drive: str, name: str, runs: Path, jobs: int, at: str) -> list[Row]:
    """Run the best design of a drive as it is, and with collections that take no time."""
    best = best_design(drive)
    study = read_study(HOME / f"{drive}.toml")
    where = Where(jobs, None, None)
    runner = Runner(study, runs / drive / name, where, "tools", lambda text, _: print(text))
    designs = [Design(tuple(one.items()), {}) for one in (best, best | FREE)]
    own, free = runner.measure(designs, Length.FULL, fresh_seeds(study))
    assert isinstance(own, Measured), own
    assert isinstance(free, Measured), free
    found = numbers(study, Pair(own, free))
    return rows_of(drive, name, BOUND, {TUNED: found, BOUND: found}, at)


def best_design(drive: str) -> dict[str, str]:
    """Return the settings of the design with the least mean of all that are stored for a drive."""
    own = [row for row in stored() if row.drive == drive and row.when == TUNED]
    if not own:
        raise SystemExit(f"{drive}/{BOUND}: no scheme is stored for the drive yet")
    first = [row for row in own if row.objective == own[0].objective]
    sides = [(float(row.without), row.without_design) for row in first]
    sides += [(float(row.with_scheme), row.with_design) for row in first]
    keys = (one.partition("=") for one in min(sides)[1].split("; "))
    return {key: value for key, _, value in keys}


def rows_of(drive: str, scheme: str, when: str, found: dict[str, Any], at: str) -> list[Row]:
    """Return a row for each objective."""
    objectives = list(found[TUNED]["ratios"])
    own = found[when]
    if isinstance(own, str):
        nothing = [""] * 5
        return [
            Row._make([drive, scheme, when, one, *nothing, own, "", "", "", at])
            for one in objectives
        ]
    sides = own["without"], own["with"]
    return [
        Row._make(
            [
                *(drive, scheme, when, objective),
                *(f"{number:.4f}" for number in own["ratios"][objective]),
                *(mean(side, place) for side in sides),
                flaw(*sides),
                *map(design, sides),
                "",
                at,
            ]
        )
        for place, objective in enumerate(objectives)
    ]


def mean(point: dict[str, Any], place: int) -> str:
    """Return the geometric mean of an objective over the seeds."""
    values = [scores[place] for scores in point["scores"].values()]
    return f"{statistics.geometric_mean(values):.6g}"


def flaw(*points: dict[str, Any]) -> str:
    """Return what is wrong with one of two designs; nothing if nothing is."""
    names = ("without", "with")
    found = [
        f"overloaded {name}" for name, one in zip(names, points, strict=True) if one["overloaded"]
    ]
    return ", ".join(found)


def design(point: dict[str, Any]) -> str:
    """Return the choices of a design."""
    return "; ".join(f"{key}={value}" for key, value in point["settings"].items())


def stored() -> list[Row]:
    """Return what is stored."""
    if not STORED.exists():
        return []
    with STORED.open(encoding="utf-8", newline="") as file:
        return [Row._make(line) for line in list(csv.reader(file))[1:]]


def store(rows: list[Row]) -> None:
    """Store rows, in the order of the drives and schemes."""
    order = asked([])
    rows = sorted(rows, key=lambda row: order.index((row.drive, row.scheme)))
    with STORED.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Row._fields)
        table.writerows(rows)


# The page ----------------------------------------------------------------------------------------


def page(rows: list[Row]) -> str:
    """Return the page of what is stored."""
    parts = [HEAD.read_text(encoding="utf-8").strip().replace("{{ answer }}", answer(rows))]
    for drive, title in DRIVES.items():
        own = [row for row in rows if row.drive == drive]
        if own:
            note = "" if drive == "plain" else OF_TWINS
            tables = [table(own), few(own), free(own), flaws(own), designs(own)]
            parts += [f"## {title}", note, *tables]
    if left := not_run(rows):
        parts.append(f"Not run yet: {'; '.join(left)}.")
    commits = ", ".join(sorted({row.commit for row in rows}))
    parts.append(f"Run by `python tools/design_gains.py` at commit {commits}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def not_run(rows: list[Row]) -> list[str]:
    """Return what was not run: a drive, or schemes on one of which others were."""
    done = {(row.drive, row.scheme) for row in rows}
    left = []
    for drive, title in DRIVES.items():
        name = in_a_sentence(title)
        missing = [scheme for scheme in schemes()[drive] if (drive, scheme) not in done]
        if len(missing) == len(schemes()[drive]):
            left.append(name)
        elif missing:
            left.append(f"{', '.join(missing)} on {name}")
    return left


def pairs(rows: list[Row], objective: str) -> list[tuple[Row, Row]]:
    """Return for each drive and scheme the ratio alone and the tuned one."""
    own = {(row.drive, row.scheme, row.when): row for row in rows if row.objective == objective}
    return [
        (own[drive, scheme, ALONE], own[drive, scheme, TUNED])
        for drive, scheme, when in own
        if when == TUNED
    ]


def gains(row: Row) -> bool:
    """Whether the interval lies below 1: the scheme lowers the objective."""
    return bool(row.high) and float(row.high) < 1


def loses(row: Row) -> bool:
    """Whether the interval lies above 1."""
    return bool(row.low) and float(row.low) > 1


def answer(rows: list[Row]) -> str:
    """Return the page's first sentences."""
    lines = []
    for objective in dict.fromkeys(row.objective for row in rows):
        both = [pair for pair in pairs(rows, objective) if not tries_few(pair[1])]
        helped = [(alone, tuned) for alone, tuned in both if gains(alone)]
        left = [tuned for _, tuned in helped if gains(tuned)]
        lost = [tuned for _, tuned in both if loses(tuned)]
        lines.append(
            f"Added to a drive that collects on demand, {len(helped)} of {len(both)} schemes "
            f"lower the {objective}. Once everything else is tuned as well, {len(left)} of these "
            f"{len(helped)} still do{named(left)}; {len(lost)} of {len(both)} raise it."
        )
    return "\n\n".join(lines)


def in_a_sentence(title: str) -> str:
    """Return a title of a drive as a sentence has it."""
    return re.sub(r"^(The|A) ", lambda article: article[0].lower(), title)


def named(rows: list[Row]) -> str:
    """Return which schemes remain, and by how much."""
    told = [
        f"{row.scheme} on {in_a_sentence(DRIVES[row.drive])} ({percent(row.ratio)})" for row in rows
    ]
    return f": {', '.join(told)}" if told else ""


def table(rows: list[Row]) -> str:
    """Return the table of a drive."""
    lines = [
        "| scheme | objective | added to the base | all tuned, without → with | what remains |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for objective in dict.fromkeys(row.objective for row in rows):
        for alone, tuned in pairs(rows, objective):
            lines.append(
                f"| {tuned.scheme} | {objective} | {cell(alone)} | {milliseconds(tuned.without)} → "
                f"{milliseconds(tuned.with_scheme)} ms: {cell(tuned)} | {verdict(alone, tuned)} |"
            )
    return "\n".join(lines)


def cell(row: Row) -> str:
    """Return a ratio with its interval."""
    if not row.ratio:
        return "refused"
    mark = "†" if row.flaw else ""
    return f"{percent(row.ratio)} ({percent(row.low)} to {percent(row.high)}){mark}"


def percent(ratio: str) -> str:
    """Return a ratio as a change, or as a factor where it is more than 10.

    >>> percent("0.9"), percent("12.5")
    ('−10.0%', '12.5×')
    """
    number = float(ratio)
    if number >= 10:
        return f"{number:.3g}×"
    change = f"{100 * (number - 1):+.1f}%"
    return change.replace("-", "−")


def milliseconds(microseconds: str) -> str:
    """Return a time in milliseconds.

    >>> milliseconds("1234.567")
    '1.235'
    """
    return f"{float(microseconds) / 1e3:.3f}"


def verdict(alone: Row, tuned: Row) -> str:
    """Return what remains of a gain, by the intervals."""
    if tries_few(tuned):
        return "not decided"
    if gains(tuned):
        return "remains" if gains(alone) else "a gain that the base does not show"
    if loses(tuned):
        return "turned into a loss" if gains(alone) else "a loss"
    return "gone" if gains(alone) else "none"


def free(rows: list[Row]) -> str:
    """Return what the best design would gain if collections took no time; nothing if unknown."""
    own = [row for row in rows if row.when == BOUND]
    if not own:
        return ""
    told = "; ".join(f"the {row.objective} {cell(row)}" for row in own)
    return f"What is left to gain, if the collections of the best design took no time: {told}."


def flaws(rows: list[Row]) -> str:
    """Return why numbers are marked; nothing if none is."""
    told = {f"{row.scheme}: {row.flaw}" for row in rows if row.flaw}
    return f"†: {'; '.join(sorted(told))}." if told else ""


def designs(rows: list[Row]) -> str:
    """Return the designs that were found."""
    own = [row for _, row in pairs(rows, rows[0].objective)]
    head = ["scheme", "designs tried, without and with it", "the best without it"]
    lines = [f"| {' | '.join([*head, 'the best with it'])} |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {row.scheme} | {row.tried or 'not kept'} | {words(row.without_design)} "
        f"| {words(row.with_design)} |"
        for row in own
    ]
    return "\n".join(lines)


def few(rows: list[Row]) -> str:
    """Return a warning of searches that tried few designs; nothing if none did."""
    told = [row.scheme for _, row in pairs(rows, rows[0].objective) if tries_few(row)]
    if not told:
        return ""
    return (
        f"**Not decided: {'; '.join(told)}.** The budget lasted for fewer than {FEW} designs a "
        "search, so that what was found may be far from the best, without the scheme or with it."
    )


def tries_few(row: Row) -> bool:
    """Whether one of the searches tried fewer designs than it takes to come near the best."""
    return any(int(number) < FEW for number in row.tried.split(" and ") if number)


def words(settings: str) -> str:
    """Return settings without the first parts of their keys."""
    return ", ".join(f"`{one.split('.', 2)[-1]}`" for one in settings.split("; "))


if __name__ == "__main__":
    sys.exit(main())
