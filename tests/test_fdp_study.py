"""What a study measured of placement handles beside what is simulated of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from drive_pages import filled  # noqa: E402
from drive_promises import STORED  # noqa: E402
from fdp_study import (  # noqa: E402
    LOADS,
    NAME,
    READINGS,
    WITHIN,
    cached,
    emulated,
    falls,
    in_order,
    is_right,
    page,
)

#: Pages of a unit where a cell is asked again: an eighth of what is stored.
FEW = 32


def stored() -> dict[str, Any]:
    """Return what is stored of the study."""
    found: dict[str, Any] = json.loads((STORED / f"{NAME}.json").read_text(encoding="utf-8"))
    return found


def test_the_page_is_that_of_the_stored_result() -> None:
    text = (ROOT / f"docs/drives/{NAME}.md").read_text(encoding="utf-8")
    assert text == filled(text, page(stored()))


def test_the_result_is_of_a_commit() -> None:
    assert not stored()["commit"].endswith("-dirty")


def test_handles_take_away_what_moves_under_the_steepest_zipf() -> None:
    """On a drive of fewer pages, with the same units."""
    load = next(load for load in LOADS if load.name == "Zipf 2.2")
    reading = READINGS["as launched"]
    without, having = (
        emulated(load, reading, FEW, with_handles=with_handles)["simulated"]
        for with_handles in (False, True)
    )
    assert having == pytest.approx(load.measured[True], rel=WITHIN["emulator"])
    assert without > 2.0 * having


def test_handles_take_away_what_a_small_cache_moves() -> None:
    found = cached(0.4, 39.2, FEW, full=False, with_handles=True)["simulated"]
    assert found == pytest.approx(1.60, rel=WITHIN["drive"])


def test_what_the_page_says_of_the_emulator_is_in_its_tables() -> None:
    """All cells are right by the emulator's order of moves, and those with handles by any."""
    cells = stored()["emulator"]
    as_launched, page_by_page = (
        [row for row in cells if row["reading"] == reading] for reading in list(READINGS)[:2]
    )
    assert all(is_right(row, WITHIN["emulator"]) for row in as_launched)
    assert all(is_right(row, WITHIN["emulator"]) for row in page_by_page if row["handles"])
    for row, other in zip(as_launched, page_by_page, strict=True):
        assert row["handles"] or 1.04 < row["simulated"] / other["simulated"] < 1.2


def test_each_fall_of_the_drive_has_the_measured_order() -> None:
    """Of what was written as long as measured: without handles and with them."""
    cells = [row for row in stored()["drive"] if row["reading"] == "as long as measured"]
    for way in (cells[::2], cells[1::2]):
        assert in_order(way, "measured") == in_order(way, "simulated")
    assert all(simulated < 1.0 for *_, simulated in falls(cells))
