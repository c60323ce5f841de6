"""Who wins where: leaders, who is level with them, places over all loads, and what choices do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from copyback.frame import Frame
from copyback.sweep.ratios import Ratio, compared
from copyback.sweep.schemes import MEASURES, contests
from copyback.sweep.standings import standings
from copyback.sweep.winners import choices, overall, podium

if TYPE_CHECKING:
    from copyback.sweep.schemes import Contest

MEAN = MEASURES[0]
KEYS = ("load", "scheme", "ssd.gc.victim", "ssd.gc.width")

#: Mean response times of seeds 1 to 3 by load, name, victim and width.
TIMES = {
    ("light", "mine", "greedy", "serial"): (10.0, 20.0, 30.0),
    ("light", None, "fifo", "serial"): (10.1, 19.8, 30.3),
    ("light", None, "greedy", "blind"): (20.0, 40.0, 60.0),
    ("light", None, "fifo", "blind"): (20.0, 40.1, 60.0),
    ("heavy", "mine", "greedy", "serial"): (400.0, 410.0, 420.0),
    ("heavy", None, "fifo", "serial"): (200.0, 205.0, 210.0),
    ("heavy", None, "greedy", "blind"): (100.0, 102.5, 105.0),
    ("heavy", None, "fifo", "blind"): (800.0, 820.0, 840.0),
}


@pytest.fixture
def found() -> list[Contest]:
    rows = [
        {
            **dict(zip(KEYS, setting, strict=True)),
            "seed": seed,
            "run": f"{setting}{seed}",
            "response_us.all.count": 9,
            "response_us.all.mean": value,
        }
        for setting, values in TIMES.items()
        for seed, value in enumerate(values, start=1)
    ]
    return contests(Frame.of_rows(rows), KEYS, {"scheme": "mine"})


def test_level_with_the_winner_are_those_whose_difference_may_be_none(
    found: list[Contest],
) -> None:
    light, heavy = (podium(contest, MEAN) for contest in found)
    assert light is not None
    assert dict(light.leader.setting)["scheme"] == "mine"
    assert [dict(s.setting)["ssd.gc.victim"] for s in light.level] == ["fifo"]
    assert heavy is not None
    assert dict(heavy.leader.setting)["ssd.gc.width"] == "blind"
    assert not heavy.level
    # Nobody has this measure.
    assert podium(found[0], MEASURES[-1]) is None


def test_one_behind_the_winner_is_so_seed_by_seed(found: list[Contest]) -> None:
    mine = found[1].schemes[0]
    first = podium(found[1], MEAN)
    assert first is not None
    ratio = compared([found[1]], mine.setting, first.leader.setting, "mean")
    assert isinstance(ratio, Ratio)
    assert ratio.ratio == pytest.approx(4.0)


def test_places_over_all_loads_are_by_the_geometric_mean_of_multiples(
    found: list[Contest],
) -> None:
    (first, least), *_, (last, most) = overall(found, MEAN)
    # Twice the winner under the light load, and the winner under the heavy one.
    assert dict(first)["ssd.gc.width"] == "blind"
    assert least.ratio == pytest.approx(2**0.5)
    # Twice, and eight times.
    assert dict(last)["ssd.gc.victim"] == "fifo"
    assert most.ratio == pytest.approx(16**0.5, rel=1e-3)


def test_a_choice_is_what_it_does_with_all_else_alike(found: list[Contest]) -> None:
    by_key = {choice.key: choice for choice in choices(found, MEAN)}
    assert set(by_key) == {"ssd.gc.victim", "ssd.gc.width"}
    # Of blind and serial: 2 and 2 under the light load, 1/4 and 4 under the heavy one.
    assert by_key["ssd.gc.width"].ratios["blind"].ratio == pytest.approx(4**0.25, rel=2e-3)
    assert by_key["ssd.gc.width"].combinations == 4


def test_the_page_has_winners_multiples_places_and_choices(found: list[Contest]) -> None:
    page = standings(found)
    assert "| load | winner | mean | level with it | not ranked | mine |" in page
    assert "| light | mine = greedy · serial | 20.0 µs | 1, all serial | 0 | 0.0 % |" in page
    assert "| heavy | greedy · blind | 102 µs | nobody | 0 | 4.00× |" in page
    assert "| mine = greedy · serial | 2.00× (3.) |" in page
    assert "| `ssd.gc.width` | blind | +41.3 % |" in page
