"""Write the generated part of docs/validation.md from the stored rows of `copyback validate`.

python tools/validation_page.py                # runs our side of every row, and writes the page
python tools/validation_page.py --to DIR       # a copy below DIR, to compare with
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from copyback_papers.validation.compare import Verdict, compare
from copyback_papers.validation.ours import run
from copyback_papers.validation.show import conclusion, name_of, share
from copyback_papers.validation.stored import TIME_MODEL, rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from copyback_papers.validation.stored import Row

ROOT = Path(__file__).parents[1]
PAGE = Path("docs/validation.md")
#: Kinds of numbers: three of responses, and the counts of requests and operations.
TIMES = ("mean_us", "p99_us", "p99_9_us")
KINDS = (*TIMES, "counts")
BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT)
    to = parser.parse_args().to
    with ThreadPoolExecutor(2) as pool:
        every = rows()
        verdicts = list(map(compare, every, pool.map(run, every)))
    head, _, rest = (ROOT / PAGE).read_text(encoding="utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    (to / PAGE).parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(generated(verdicts))
    (to / PAGE).write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")


def generated(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Return the lines between the marks."""
    own = [one for one in verdicts if one.row.peer == TIME_MODEL]
    peers = [one for one in verdicts if one.row.explained is not None]
    counted = [one for one in verdicts if one.row.counts_only]
    yield from self_consistency(own)
    yield ""
    yield from against_peers(peers)
    if counted:
        yield ""
        yield from of_counts(counted)


def self_consistency(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Return the table of the time model: a feature a line, a geometry a column of counts."""
    yield f"**Self-consistency.** {conclusion(verdicts)}"
    yield ""
    yield (
        "| feature | geometries | requests | same in every number | furthest off | "
        "longest p99.9, ms |"
    )
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for feature in dict.fromkeys(one.row.feature for one in verdicts):
        of = [one for one in verdicts if one.row.feature == feature]
        names = ", ".join(one.row.geometry.replace(" drives of ", " × ") for one in of)
        requests = sum(one.row.load.requests for one in of)
        same = sum(one.is_same() for one in of)
        worst = max((one.worst() for one in of), key=lambda number: abs(number.off()))
        tails = [
            side.p99_9_us / 1000
            for one in of
            for side in (one.row.theirs.reads, one.row.theirs.writes)
            if side is not None
        ]
        off = "0" if worst.off() == 0 else f"{share(worst.off())}, {name_of(worst)}"
        yield (
            f"| {feature} | {names} | {requests:,} | {same} of {len(of)} | {off} | "
            f"{max(tails):,.1f} |"
        )


def against_peers(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Return the table of other simulators: a row a line, and how far each kind of number is off.

    `copyback validate --only MQSim` prints the numbers themselves.
    """
    yield (
        "**Against others.** How far our numbers are from theirs and, in brackets, how far the "
        "cause predicts them to be: the time model with our rules, beside itself with theirs. Of "
        "each kind of number, the one that is furthest off. The last column says how far the model "
        "with their rules is from their numbers, at most. A row agrees if each of our numbers is "
        f"within 0.2% of what is predicted of it. {conclusion(verdicts)}"
    )
    yield ""
    yield "| row | requests | mean | p99 | p99.9 | counts | their rules |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for verdict in verdicts:
        cells = [furthest(verdict, kind) for kind in KINDS]
        offs = [number.explained_off() or 0.0 for number in verdict.numbers]
        cells.append(share(max(offs, key=abs)))
        requests = verdict.row.load.requests
        yield f"| {verdict.row.name} | {requests:,} | {' | '.join(cells)} |"
    yield ""
    yield "Why they differ:"
    yield ""
    for feature in dict.fromkeys(one.row.feature for one in verdicts):
        yield from of_causes(feature, [one.row for one in verdicts if one.row.feature == feature])


def of_causes(feature: str, rows: Sequence[Row]) -> Iterator[str]:
    """Return why rows of a feature differ: which of them, where they differ for several reasons."""
    causes = dict.fromkeys(row.cause for row in rows)
    for cause in causes:
        names = "; ".join(row.name for row in rows if row.cause == cause)
        yield f"- {feature if len(causes) == 1 else names}: {cause}"


def of_counts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Return the table of a simulator of which counts alone are compared."""
    yield f"**Counts alone.** How far ours are from theirs. {conclusion(verdicts)}"
    yield ""
    yield "| row | requests | page programs | erases |"
    yield "| --- | ---: | ---: | ---: |"
    for verdict in verdicts:
        off = {number.what: share(number.off()) for number in verdict.numbers}
        counts = f"{off['page_programs']} | {off['erases']}"
        yield f"| {verdict.row.name} | {verdict.row.load.requests:,} | {counts} |"
    yield ""
    yield " ".join(dict.fromkeys(verdict.row.cause for verdict in verdicts))


def furthest(verdict: Verdict, kind: str) -> str:
    """Return how far the number of a kind is off that is furthest, and what is predicted of it."""
    is_time = kind in TIMES
    of = [
        one
        for one in verdict.numbers
        if (kind in one.what if is_time else not any(time in one.what for time in TIMES))
    ]
    worst = max(of, key=lambda one: abs(one.off()))
    return f"{share(worst.off())} ({share(worst.predicted_off())})"


if __name__ == "__main__":
    main()
