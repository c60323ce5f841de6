"""The heat maps of dies: the cells are the shares of the table, whatever is merged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import copyback
from conftest import tiny_config
from copyback.frame import Frame
from copyback.report import heat


def table(collecting: list[list[float]], *, bin_s: float = 1.0) -> Frame:
    """Return `Result.dies` of one drive: a list a die, with the share of each bin."""
    shares = np.asarray(collecting)
    dies, bins = shares.shape
    start = np.repeat(np.arange(bins) * bin_s, dies)
    return Frame(
        {
            "device": np.zeros(dies * bins, np.uint16),
            "die": np.tile(np.arange(dies, dtype=np.uint32), bins),
            "start_s": start,
            "end_s": start + bin_s,
            "collecting_us": shares.T.ravel() * bin_s * 1e6,
            "serving_us": np.zeros(dies * bins),
            "free_blocks": np.full(dies * bins, 7, np.uint32),
        }
    )


def read(cells: dict[str, Any]) -> list[list[float | None]]:
    top = len(heat.LEVELS) - 1
    return [
        [
            None if letter == heat.BLANK else heat.LEVELS.index(letter) / top * cells["most"]
            for letter in row
        ]
        for row in cells["rows"]
    ]


def test_cells_are_shares_of_the_most_and_a_little_is_not_nothing() -> None:
    cells = heat.cells(np.array([[0.0, 0.5, 0.25], [1e-6, np.nan, 0.5]]))
    assert cells == {"rows": ["A/g", "B /"], "most": 0.5}


def test_a_map_over_a_longer_time_ends_with_its_run() -> None:
    found = heat.small_map(table([[1.0, 0.0], [0.5, 0.5]]), rows=16, columns=8, end=4.0)
    first, second = read(found["collecting"])
    assert first == [1.0, 1.0, 0.0, 0.0, None, None, None, None]
    assert second[:4] == pytest.approx([0.5] * 4, abs=0.01)
    assert (found["labels"], found["mean"]) == (["die 0", "die 1"], 0.5)


def test_neighbours_share_a_row_where_there_are_many() -> None:
    found = heat.small_map(table([[1.0], [0.0], [0.5], [0.5], [1.0]]), rows=3, columns=1, end=1.0)
    assert found["labels"] == ["die 0 to die 1", "die 2 to die 3", "die 4"]
    assert [row[0] for row in read(found["collecting"])] == pytest.approx([0.5, 0.5, 1.0], abs=0.01)


@pytest.mark.parametrize("devices", [1, 3])
def test_what_dies_did_adds_up_to_the_summary(devices: int) -> None:
    result = copyback.run(tiny_config(), array__layout="raid0", array__devices=devices)
    assert result.dies is not None
    dies = result.dies
    assert sum(dies["collecting_us"].to_list()) == pytest.approx(result.summary.gc.busy_us)
    bins = len(set(dies["start_s"].to_list()))
    assert bins <= 256
    assert len(dies) == bins * 2 * devices
    span = np.asarray(dies["end_s"]) - np.asarray(dies["start_s"])
    busy = np.asarray(dies["collecting_us"]) + np.asarray(dies["serving_us"])
    assert np.all(busy <= span * 1e6 + 1e-6)
    assert len(heat.context(result)) == 2 * devices
