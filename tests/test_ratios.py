"""One estimator: headline, table, figure, terminal and CSV say one number in the same words."""

from __future__ import annotations

import csv
import io
import math
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from browser import look, needs_browser
from copyback.figures.of_comparison import of_comparison
from copyback.frame import Frame
from copyback.sweep import page as pages
from copyback.sweep.answer import answer, warnings
from copyback.sweep.comparison import Comparison
from copyback.sweep.fragment import render_fragment
from copyback.sweep.labels import Names
from copyback.sweep.ratios import NoRatio, Ratio, ratio_of
from copyback.sweep.schemes import contests
from copyback.sweep.standings import standings
from copyback.sweep.tables import legend, tables
from copyback.words.ratio import ratio_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VICTIM = "ssd.gc.victim"

#: 99.9th percentiles of five seeds, in microseconds.
GREEDY = [50_000.0, 44_000.0, 61_000.0, 39_000.0, 55_000.0]
LESS = [22_000.0, 31_000.0, 35_000.0, 15_000.0, 41_000.0]
MORE = [250_000.0, 310_000.0, 280_000.0, 199_000.0, 401_000.0]
ALIKE = [49_000.0, 52_000.0, 47_000.0, 60_000.0, 30_000.0]


def comparison(
    times: Mapping[str, Sequence[float]],
    findings: Mapping[str, Mapping[str, Sequence[int]]] | None = None,
    erases: Mapping[str, Sequence[int]] | None = None,
) -> Comparison:
    """Return a comparison of victims with these p99.9, one a seed; nothing of it is on disk."""
    rows: list[dict[str, Any]] = [
        {
            VICTIM: victim,
            "seed": seed,
            "run": f"{victim}{seed}",
            "response_us.all.count": 20_000,
            "response_us.all.mean": 100.0 + seed,
            "response_us.all.p99_9": value,
            "response_us.all.max": 1e6,
            "write_amplification": 2.0,
            "flash.erases": (erases or {}).get(victim, [7] * len(values))[seed - 1],
            "throughput.simulated_s": 1.0,
            **{
                f"verdict.{key}": seeds[seed - 1]
                for key, seeds in (findings or {}).get(victim, {}).items()
            },
        }
        for victim, values in times.items()
        for seed, value in enumerate(values, start=1)
    ]
    keys = dict.fromkeys(key for row in rows for key in row)
    frame = Frame.of_rows([{key: row.get(key, 0) for key in keys} for row in rows])
    found = tuple(contests(frame, [VICTIM]))
    return Comparison(Path("nowhere"), frame, found, (), 0, (), (), "copyback compare")


def by_scipy(own: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Return geometric mean and interval of paired ratios by the libraries that others use."""
    logs = np.log(np.asarray(own) / np.asarray(other))
    low, high = stats.t.interval(0.95, len(logs) - 1, loc=logs.mean(), scale=stats.sem(logs))
    return float(stats.gmean(np.asarray(own) / np.asarray(other))), math.exp(low), math.exp(high)


def terminal(found: Comparison, width: int = 150) -> str:
    console = Console(width=width)
    with console.capture() as capture:
        console.print(*tables(found))
        console.print(legend(found.contests))
    return capture.get()


def written(found: Comparison, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the page of a comparison, without the curves that its runs on disk would have."""
    monkeypatch.setattr(pages, "MOST_CURVES", 0)
    path = home / "report.html"
    path.write_text(pages.render(found), encoding="utf-8")
    return path


# A user's job: how far is a scheme from the baseline? One answer, wherever it is looked for.


@dataclass(frozen=True)
class Fact:
    """How far a scheme is from the baseline, computed and written by hand.

    Attributes
    ----------
    numbers
        Ratio and ends of its interval.
    text, interval
        The same, as a cell of a table has them.
    sentence
        The same, as a sentence has them.
    """

    numbers: tuple[float, float, float]
    text: str
    interval: str
    sentence: str

    @classmethod
    def of(cls, own: Sequence[float]) -> Fact:
        """Return how far p99.9 is from that of the baseline."""
        ratio, low, high = by_scipy(own, GREEDY)
        if ratio >= 2:
            text, interval = f"{ratio:.2f}×", f"{low:.2f} to {high:.2f}×"
        else:
            signed = [f"{100 * (v - 1):+.1f}".replace("-", "−") for v in (ratio, low, high)]
            text, interval = f"{signed[0]} %", f"{signed[1]} to {signed[2]} %"
        doubt = low <= 1 <= high
        assert doubt == (own is ALIKE)
        more = ": not distinguishable" if doubt else ""
        sentence = f"{text} (95% interval {interval}{more})"
        return cls((ratio, low, high), f"{text}{'?' * doubt}", interval, sentence)


@pytest.mark.parametrize("own", [LESS, MORE, ALIKE])
def test_one_fact_is_said_in_the_same_words_in_text(own: list[float]) -> None:
    fact = Fact.of(own)
    found = comparison({"greedy": GREEDY, "fifo": own})
    assert fact.sentence in answer(found.contests, Names(found.contests))
    printed = terminal(found, 200)
    assert fact.sentence in " ".join(printed.split())
    assert fact.text in printed.split("victim fifo")[-1]
    assert fact.interval in printed
    assert f"{fact.text}, {fact.interval}" in render_fragment(found.contests)
    drawn = of_comparison(found.contests, "p99.9")
    beside = [label.get_text().splitlines() for label in drawn.axes[0].get_yticklabels()]
    assert fact.text in [line for lines in beside for line in lines]


def test_winners_have_the_ratio_the_other_way_round() -> None:
    found = comparison({"greedy": GREEDY, "fifo": LESS})
    ratio, _, _ = by_scipy(GREEDY, LESS)
    assert by_winner(standings(found.contests), "p99.9") == f"+{100 * (ratio - 1):.1f} %"


@needs_browser
@pytest.mark.parametrize("own", [LESS, MORE, ALIKE])
def test_one_fact_is_said_in_the_same_words_on_the_page(
    own: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = Fact.of(own)
    found = comparison({"greedy": GREEDY, "fifo": own})
    seen = look(
        written(found, tmp_path, monkeypatch),
        """
        const rows = [...byId_("contest").tBodies[0].rows];
        const row = rows.find((one) => one.textContent.includes("fifo"));
        const heads = [...byId_("contest").tHead.rows[0].cells].map((one) => one.dataset.key);
        const cell = row.cells[heads.indexOf("p99.9")];
        found.cell = [...cell.querySelectorAll("small")].map((one) => one.textContent);
        found.bars = [...document.querySelectorAll("#all-loads rect[aria-label]")]
          .map((one) => one.getAttribute("aria-label"));
        found.drawn = [...document.querySelectorAll("#all-loads text")]
          .map((one) => one.textContent);
        found.answer = byId_("answer").textContent;
        exportsOf("contest", "CSV");
        await settled();
        """,
    )
    assert seen.found["cell"] == [fact.text, fact.interval]
    assert fact.sentence in seen.found["answer"]
    assert f"victim fifo, p99.9: {fact.sentence}" in seen.found["bars"]
    assert fact.text in seen.found["drawn"]
    rows = csv.DictReader(io.StringIO(seen.files["contest.csv"].decode()))
    (row,) = (row for row in rows if row["scheme"] == "victim fifo")
    assert row["p99.9 ratio as said"] == fact.sentence
    numbers = [float(row[f"p99.9 ratio{end}"]) for end in ("", " low", " high")]
    assert numbers == pytest.approx(fact.numbers)


def by_winner(page: str, label: str) -> str:
    """Return the baseline's ratio to the winner in the table of a measure of `winners.md`."""
    table = page.split(f"## Winners: {label}\n")[1].split("##")[0]
    return table.strip().splitlines()[-1].strip("| ").split(" | ")[-1]


# Ratio and words.


def test_to_exchange_baseline_and_scheme_inverts_ratio_and_interval() -> None:
    draws = random.Random(5)
    for _ in range(200):
        seeds = range(draws.randint(1, 6))
        own = {seed: draws.lognormvariate(0, 2) for seed in seeds}
        other = {seed: draws.lognormvariate(0, 2) for seed in seeds}
        there, back = ratio_of([(own, other)]), ratio_of([(other, own)])
        assert isinstance(there, Ratio)
        assert isinstance(back, Ratio)
        assert there.ratio * back.ratio == pytest.approx(1)
        assert there.may_be_one == back.may_be_one
        if there.low is None:
            assert len(seeds) == 1
            continue
        assert back.low is not None
        assert there.high is not None
        assert there.high * back.low == pytest.approx(1)


def test_ratio_and_interval_are_those_of_scipy() -> None:
    own, other = dict(enumerate(MORE)), dict(enumerate(GREEDY))
    found = ratio_of([(own, other)])
    assert isinstance(found, Ratio)
    assert (found.ratio, found.low, found.high) == pytest.approx(by_scipy(MORE, GREEDY))


def test_words_are_multiples_from_two_on_and_never_a_hundred_per_cent() -> None:
    words = [ratio_text(10 ** (power / 500)) for power in range(-5000, 5001)]
    assert all(("%" in word) + ("×" in word) + ("1/" in word) == 1 for word in words)
    percents = [float(word[:-2].replace("−", "-")) for word in words if "%" in word]
    assert min(percents) >= -99.0
    assert max(percents) < 100
    assert percents == sorted(percents)
    multiples = [
        float(word[:-1].replace(",", "")) for word in words if "×" in word and ">" not in word
    ]
    assert min(multiples) == 2.0
    assert multiples == sorted(multiples)
    assert {ratio_text(1 - 1e-9), ratio_text(1 + 1e-9)} == {"0.0 %"}


@needs_browser
def test_the_page_says_what_python_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = random.Random(8)
    pairs = []
    for spread in (0.001, 0.1, 0.5, 2.0, 8.0):
        for count in (1, 2, 5):
            shift = draws.gauss(0, spread)
            numbers = [draws.lognormvariate(shift, spread) for _ in range(count)]
            pairs += [
                (dict(enumerate(numbers, 1)), dict(enumerate(map(float, range(1, count + 1)), 1)))
            ]
    pairs += [({1: 0.0}, {1: 1.0}), ({1: 1.0}, {2: 1.0}), ({1: 3.0, 2: 3.0}, {1: 3.0, 2: 3.0})]
    page = written(comparison({"greedy": GREEDY, "fifo": LESS}), tmp_path, monkeypatch)
    told = [[{str(seed): v for seed, v in side.items()} for side in pair] for pair in pairs]
    seen = look(
        page,
        f"""
        found.said = {told}.map(([own, other]) => ratioOf(logRatios(own, other)))
          .map((m) => [marked(m), intervalSaid(m), m?.ratio ? ratioSentence(m) : ""]);
        """,
    )
    expected = [
        [
            one.marked,
            " to ".join(one.ends or ()),
            one.sentence if isinstance(one, Ratio) else "",
        ]
        for one in (ratio_of([pair]) for pair in pairs)
    ]
    assert seen.found["said"] == expected


# Nothing is guessed.


def test_of_a_zero_there_is_no_ratio_and_no_winner() -> None:
    assert ratio_of([({1: 0.0, 2: 1.0}, {1: 1.0, 2: 1.0})]) is NoRatio.ZERO
    assert ratio_of([({1: 1.0}, {1: 0.0})]) is NoRatio.ZERO
    assert ratio_of([({1: 1.0}, {2: 1.0})]) is NoRatio.APART
    found = comparison(
        {"greedy": GREEDY, "fifo": LESS}, erases={"greedy": [5] * 5, "fifo": [0, 5, 5, 5, 5]}
    )
    printed = terminal(found)
    assert "no ratio" in printed.split("victim fifo")[-1]
    assert "no ratio = a run has zero" in printed
    assert "| all | no winner: a run has zero |" in standings(found.contests)
    zero = comparison({"greedy": GREEDY, "fifo": [0.0, *LESS[1:]]})
    assert answer(zero.contests, Names(zero.contests)) == (
        "No winner: in a run p99.9 is zero, of which there is no geometric mean."
    )


def test_with_one_seed_there_is_no_interval_and_that_is_said_once() -> None:
    found = comparison({"greedy": GREEDY[:1], "fifo": LESS[:1]})
    printed = terminal(found)
    assert "−56.0 %" in printed
    assert printed.count("interval") == 1
    assert "?" not in printed


def test_schemes_without_a_seed_in_common_are_not_ranked_beside_each_other() -> None:
    (contest,) = comparison({"greedy": GREEDY, "fifo": LESS, "random": MORE}).contests
    greedy, fifo, other = contest.schemes
    fifo = replace(fifo, by_seed={"p99.9": {1: 22_000.0, 2: 31_000.0}})
    other = replace(other, by_seed={"p99.9": {3: 280_000.0}})
    told = answer([replace(contest, schemes=(greedy, fifo, other))], Names([contest]))
    assert told.startswith("victim fifo has the least p99.9")
    assert told.endswith("Not ranked: victim random (no seed in common with others).")


# Nobody wins who cannot be ranked.


@pytest.mark.parametrize(
    ("finding", "why"),
    [
        ("overload", "overloaded"),
        ("unsettled", "not settled"),
        ("perhaps_overload", "too short to tell whether it keeps up"),
    ],
)
def test_the_least_number_does_not_win_if_its_runs_are_in_doubt(finding: str, why: str) -> None:
    every = {"greedy": GREEDY, "fifo": LESS, "random": ALIKE}
    found = comparison(every, {"fifo": {finding: [0, 1, 1, 0, 0]}})
    told = answer(found.contests, Names(found.contests))
    ratio, _, _ = by_scipy(ALIKE, GREEDY)
    first = "victim random" if ratio < 1 else "The baseline, victim greedy,"
    assert told.startswith(f"{first} has the least p99.9")
    assert f"Not ranked: victim fifo ({why} in 2 of 5 runs)." in told
    table = standings(found.contests).split("## Winners: p99.9")[1].split("##")[0]
    assert "| winner |" in table
    assert table.strip().splitlines()[-1].split(" | ")[1] != "fifo"
    assert table.strip().splitlines()[-1].split(" | ")[4] == "1"


def test_write_amplification_is_ranked_where_only_the_backlog_is_undecided() -> None:
    found = comparison({"greedy": GREEDY, "fifo": LESS}, {"fifo": {"perhaps_overload": [1] * 5}})
    page = standings(found.contests)
    assert "not ranked |" in page
    of_wa = page.split("## Winners: WA")[1].split("##")[0].strip().splitlines()[-1]
    assert of_wa.split(" | ")[4] == "0"


def test_nobody_is_named_where_no_scheme_can_be_ranked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = comparison(
        {"greedy": GREEDY, "fifo": LESS},
        {"greedy": {"unsettled": [1] * 5}, "fifo": {"overload": [1] * 5}},
    )
    told = answer(found.contests, Names(found.contests))
    assert told == (
        "No winner: no scheme can be ranked by p99.9. Not ranked: victim greedy (not settled), "
        "victim fifo (overloaded)."
    )
    assert "has the least" not in terminal(found)
    assert "| all | no winner | – | – | 2 |" in standings(found.contests)
    page = written(found, tmp_path, monkeypatch).read_text(encoding="utf-8")
    assert page.count("<td>no winner <small>2 not ranked</small></td>") >= 3


def test_a_single_scheme_that_can_be_ranked_has_nobody_to_win_against() -> None:
    found = comparison({"greedy": GREEDY, "fifo": LESS}, {"greedy": {"overload": [1] * 5}})
    told = answer(found.contests, Names(found.contests))
    assert told == (
        "No winner: only victim fifo can be ranked: p99.9 28.8 ms. "
        "Not ranked: victim greedy (overloaded)."
    )
    ((label, _),) = warnings(found.contests, Names(found.contests))
    assert label == "Baseline"


def test_far_from_an_unranked_baseline_the_next_scheme_is_what_counts() -> None:
    found = comparison(
        {"greedy": GREEDY, "fifo": LESS, "random": MORE}, {"greedy": {"overload": [1] * 5}}
    )
    ratio, low, high = by_scipy(MORE, LESS)
    assert answer(found.contests, Names(found.contests)).startswith(
        "victim fifo has the least p99.9: 28.8 ms; the next is victim random, "
        f"{ratio:.1f}× (95% interval {low:.2f} to {high:.1f}×)."
    )
