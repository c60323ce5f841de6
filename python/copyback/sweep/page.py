"""The page of a comparison: self-contained, opens offline, and compares what one picks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback import __version__, report
from copyback import data as files
from copyback.data.parquet import read_parquet
from copyback.report.plots import at_tail, rounded
from copyback.sweep.answer import answer, headline, warnings
from copyback.sweep.intervals import quantile
from copyback.sweep.labels import Names
from copyback.sweep.over_time import OverTime
from copyback.sweep.page_numbers import KeyAxes, columns
from copyback.sweep.ranking import barring, rank
from copyback.sweep.schemes import MEASURES, SHOWN
from copyback.sweep.store import run_directory
from copyback.sweep.tables import bends, contest_text, finding_labels, legend, remarks
from copyback.sweep.tails import tail_rows
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from copyback.sweep.comparison import Comparison
    from copyback.sweep.schemes import Contest, Measure, Scheme

#: Points of a curve of percentiles.
CURVE_POINTS = 160

#: Schemes that have curves; the page of a larger sweep has the table and the plot of costs.
MOST_CURVES = 600


def render(found: Comparison) -> str:
    """Return the page of a comparison."""
    schemes = [scheme for contest in found.contests for scheme in contest.schemes]
    seeds = max(scheme.seeds for scheme in schemes)
    names = Names(found.contests)
    return (
        report.environment()
        .get_template("compare.html.j2")
        .render(
            title=f"{units.count(len(found.contests[0].schemes))} schemes compared",
            version=__version__,
            facts=_facts(found, seeds),
            answer=answer(found.contests, names),
            tails=tail_rows(found.contests, names),
            knees=bends(found.contests, names),
            remarks=[*warnings(found.contests, names), *remarks(found.contests)],
            loads=len(found.contests),
            winners=_winners(found, names),
            legend=legend((*found.contests, *found.flows)),
            seeds=seeds,
            measures=[measure.label for measure in MEASURES],
            command=found.command,
            refused=[*found.refused, *found.failed],
            data=report.script_json(data(found, names)),
            asset=report.asset,
        )
    )


def _winners(found: Comparison, names: Names) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return for each load who is first in each measure, and who is level or not ranked."""
    return [
        (
            contest_text(contest, names) or "all requests",
            [_winner(contest, measure, names) for measure in found.contests[0].requests.measures],
        )
        for contest in found.contests
        if len(contest.schemes) > 1
    ]


def _winner(contest: Contest, measure: Measure, names: Names) -> tuple[str, str]:
    ranking = rank([contest], measure)
    notes = [
        f"{count} {word}"
        for count, word in ((len(ranking.level), "level"), (len(ranking.left_out), "not ranked"))
        if count
    ]
    name = names.short(ranking.order[0]) if ranking.order else "no winner"
    return name, ", ".join(["a run has zero"] if ranking.has_zero else notes)


def _facts(found: Comparison, seeds: int) -> list[tuple[str, str]]:
    facts = [("Runs", units.count(len(found.frame)))]
    if len(found.contests) > 1:
        facts.append(("Loads", units.count(len(found.contests))))
    if seeds > 1:
        facts.append(("Seeds", units.count(seeds)))
    return facts


def data(found: Comparison, names: Names) -> dict[str, Any]:
    """Return everything that the page's script shows."""
    contests = (*found.contests, *found.flows)
    schemes = [
        (load, scheme) for load, contest in enumerate(contests) for scheme in contest.schemes
    ]
    numbers = {own: i for i, own in enumerate(dict.fromkeys(s.setting for _, s in schemes))}
    longest = math.log10(max(found.frame["response_us.all.count"].max() or 10, 10))
    tail = np.linspace(0.0, longest, CURVE_POINTS)
    axes = KeyAxes(found.contests, names)
    rows = {run: row for row, run in enumerate(found.frame["run"].to_list())}
    has_curves = len(schemes) <= MOST_CURVES
    lengths = dict(zip(rows, found.frame["throughput.simulated_s"].to_list(), strict=True))
    ends = [_longest(contest, lengths) for contest in contests]
    over_time = OverTime(found.directory, schemes=len(schemes), ends=ends)
    return {
        "keys": [key for key, _ in schemes[0][1].setting],
        "pick": "Requests of" if found.flows else "Load",
        "loads": [contest_text(contest, names) or "all requests" for contest in contests],
        "flows": [contest.requests.flow for contest in contests],
        "headline": headline(found.contests).label,
        "measures": [
            {
                "label": measure.label,
                "format": measure.format,
                "column": measure.column,
                "more": measure.more_is_better,
            }
            for measure in SHOWN
        ],
        "axes": axes.described(),
        "columns": columns(found.frame, [key for key, _ in schemes[0][1].setting]),
        "runs": list(rows),
        "seeds": found.frame["seed"].to_list(),
        "t": [quantile(count) if count > 1 else None for count in range(_most_seeds(schemes) + 1)],
        "tail": rounded(tail),
        "points": over_time.points,
        "ends": ends,
        "schemes": [
            {
                "load": load,
                "key": numbers[scheme.setting],
                "name": names.of(scheme.setting),
                "at": axes.place(contests[load], scheme),
                "runs": [rows[run] for run in scheme.runs],
                "setting": [names.value(pair) for pair in scheme.setting],
                "baseline": scheme.is_baseline,
                "findings": finding_labels(scheme),
                "unranked": [
                    measure.label
                    for measure in SHOWN
                    if barring(measure).keys() & scheme.findings.keys()
                ],
                "values": {
                    label: {str(seed): value for seed, value in by_seed.items()}
                    for label, by_seed in scheme.by_seed.items()
                },
                "curve": (
                    rounded(_curve(found, contests[load], scheme, tail)) if has_curves else []
                ),
                "time": over_time.of(load, scheme) if has_curves else None,
            }
            for load, scheme in schemes
        ],
    }


def _longest(contest: Contest, lengths: Mapping[str, float | None]) -> float:
    """Return how long the longest run under a load is, in seconds of simulated time."""
    found = (lengths[run] for scheme in contest.schemes for run in scheme.runs)
    return max((length or 0.0 for length in found), default=0.0) or 1e-9


def _most_seeds(schemes: list[tuple[int, Scheme]]) -> int:
    return max(scheme.seeds for _, scheme in schemes)


def _curve(
    found: Comparison, contest: Contest, scheme: Scheme, tail: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the response time at each place of the tail, the mean over a scheme's runs."""
    curves = []
    for run, count in scheme.runs.items():
        path = run_directory(found.directory, run) / files.DISTRIBUTION
        table = read_parquet(path)
        table = table.filter(table["operation"] == contest.requests.operation)
        times, shares = table["response_us"].to_numpy(), table["fraction"].to_numpy()
        if not len(times):
            continue
        curves.append(at_tail(tail, times, shares, count))
    if not curves:
        return np.full(len(tail), np.nan)
    return np.asarray(np.mean(curves, axis=0))
