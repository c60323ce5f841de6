"""Intervals of values that were fitted to a load curve: wide enough where a search is sparse."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from copyback.calibration.load import sources
from copyback.calibration.load.aim import CurveAim
from copyback.calibration.search.kept import Evaluation
from copyback.calibration.search.reach import AS_GOOD, intervals
from copyback.calibration.search.span import Kind, Span

if TYPE_CHECKING:
    from pathlib import Path

    from copyback.calibration.search.aim import Aim

#: A key that a model of one line decides, and one without effect.
SPANS = [Span("a", Kind.NUMBER, 10.0, 1000.0), Span("b", Kind.NUMBER, 1.0, 10.0)]
HIDDEN = 100.0
RATES = (100.0, 200.0, 300.0)
METRICS = ("read_p50", "read_p90", "write_p50", "write_p90")


def aim_of(path: Path, latencies: dict[float, dict[str, float]]) -> Aim:
    """Return the aim at latencies of each rate."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["rate", *METRICS])
        writer.writerows([rate, *own.values()] for rate, own in latencies.items())
    return CurveAim(sources.read(path), RATES, None)


def drive(value: float, random: np.random.Generator, noise: float) -> dict[float, dict[str, float]]:
    """Return latencies that follow the first key; an error is one of a rate and an operation."""
    found = {}
    for rate in RATES:
        errors = {name: math.exp(random.normal(0.0, noise)) for name in ("read", "write")}
        found[rate] = {name: value * errors[name.partition("_")[0]] for name in METRICS}
    return found


def searched(aim: Aim, random: np.random.Generator, noise: float) -> list[Evaluation]:
    """Return a sparse search: places of both keys that lie far apart."""
    found = []
    for _ in range(14):
        values = tuple(span.value(random.uniform()) for span in SPANS)
        numbers = drive(values[0], random, noise)
        found.append(Evaluation(values, aim.loss(numbers), numbers))
    return found


def test_the_interval_of_a_sparse_search_is_no_point(tmp_path: Path) -> None:
    """No other evaluation is as good as the best one: its value alone was the interval."""
    random = np.random.default_rng(2)
    aim = aim_of(tmp_path / "curve.csv", drive(HIDDEN, random, 0.0))
    evaluations = searched(aim, random, 0.0)
    best = min(one.loss for one in evaluations)
    assert [one.loss <= best + AS_GOOD for one in evaluations].count(True) == 1
    (low, high), unknown = intervals(SPANS, evaluations, aim)
    assert low <= HIDDEN <= high
    assert high < 1.5 * low
    assert unknown == (1.0, 10.0)


@pytest.mark.parametrize(("noise", "width"), [(0.05, 1.6), (0.2, 3.0)])
def test_the_hidden_value_is_inside_whatever_the_noise(
    tmp_path: Path, noise: float, width: float
) -> None:
    """The range is a factor of 100; the values of evaluations alone hold it in a tenth of these."""
    inside, widths = 0, []
    for number in range(20):
        random = np.random.default_rng(number)
        aim = aim_of(tmp_path / "curve.csv", drive(HIDDEN, random, noise))
        (low, high), _ = intervals(SPANS, searched(aim, random, noise), aim)
        inside += low <= HIDDEN <= high
        widths.append(high / low)
    assert inside >= 18
    assert np.median(widths) < width
