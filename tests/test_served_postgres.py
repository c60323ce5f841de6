"""What PostgreSQL's transactions waited for in the drive: the tool, its result, its page."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from copyback.column import Column
from copyback.frame import Frame
from mounts import Mounts, mounting
from pages import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import served_pages
from drive_pages import filled
from served_postgres import SCHEDULES, measured, missing
from served_transactions import (
    Transactions,
    behind_collections,
    met_by,
    on_drive,
    spread,
)

if TYPE_CHECKING:
    from pathlib import Path

    from copyback.result import Result

    Json = dict[str, Any]


def test_the_page_is_that_of_the_stored_result() -> None:
    page = (ROOT / served_pages.PAGE).read_text(encoding="utf-8")
    stored = json.loads(served_pages.STORED.read_text(encoding="utf-8"))
    assert filled(page, served_pages.generated(stored)) == page


def test_the_stored_result_shows_what_the_page_says_of_it() -> None:
    """The hand-written text of the page holds no number, but says which is more."""
    none, semi = json.loads(served_pages.STORED.read_text(encoding="utf-8"))["rows"]
    assert (none["schedule"], semi["schedule"]) == SCHEDULES
    assert none["transaction_us"]["p99"] > 2 * semi["transaction_us"]["p99"]
    assert none["per_second"] < semi["per_second"]
    assert none["waiting"]["slowest_share"] > 0.9
    assert any("collection" in told for told in none["slowest"]["requests"][0]["reasons"])
    assert semi["waiting"]["slowest_drive"] < min(0.5, semi["waiting"]["all_drive"])
    assert none["drive_us"]["read"]["max"] > 10 * semi["drive_us"]["read"]["max"]
    for row in (none, semi):
        assert row["lateness"]["believable"]
        [own] = [again for again in row["replayed"] if again["schedule"] == row["schedule"]]
        assert own["drive_us"] == row["drive_us"]


def test_the_log_of_pgbench_is_read_in_the_time_of_the_drive(tmp_path: Path) -> None:
    log = tmp_path / "transactions"
    log.write_text("0 1 1500 0 1000 2500\n3 1 100 0 1000 2600 7\n")
    found = Transactions.logged([log], 1000 * 10**9, 10)
    assert found.end_ns.tolist() == [250_000, 260_000]
    assert found.begin_ns.tolist() == [100_000, 250_000]
    assert found.took_us.tolist() == [150, 10]


def requests(*rows: tuple[int, int, int]) -> Result:
    """Return a run with requests: arrival, response and what collections took of it."""
    arrival, response, collecting = np.array(rows, dtype=np.uint64).T
    nothing = np.zeros(len(rows), np.uint64)
    columns = {
        "arrival_ns": arrival,
        "response_ns": response,
        "gc_same_plane_ns": collecting,
        "gc_other_plane_ns": nothing,
        "late_ns": nothing,
    }
    frame = Frame({name: Column(values) for name, values in columns.items()})
    return cast("Result", SimpleNamespace(requests=frame))


def test_time_behind_collections_is_counted_once() -> None:
    """Two requests overlap, the third hardly waited for a collection."""
    run = requests((30, 20, 15), (10, 30, 30), (60, 40, 19), (200, 10, 10))
    spans = [(0, 100), (20, 45), (50, 90), (0, 10), (195, 205), (0, 400)]
    begin, end = np.array(spans, dtype=np.float64).T
    shares = behind_collections(Transactions(begin, end), run)
    assert shares.tolist() == [0.4, 1, 0, 0, 0.5, 0.125]
    shares = on_drive(Transactions(begin, end), run)
    assert shares.tolist() == [0.8, 1, 0.75, 0, 0.5, 0.225]
    assert met_by(Transactions(begin, end), run).tolist() == [3, 1, 1, 0, 1, 4]


def test_without_a_wait_for_a_collection_there_is_no_share() -> None:
    transactions = Transactions(np.array([0.0]), np.array([100.0]))
    assert behind_collections(transactions, requests((0, 10, 1))).tolist() == [0]


def test_requests_that_are_told_came_one_after_the_other() -> None:
    def request(number: int, arrival: float, response: float) -> Json:
        return {"request": number, "arrival_us": arrival, "response_us": response}

    slowest = [request(1, 50, 30), request(2, 60, 25), request(3, 10, 20), request(4, 80, 9)]
    assert [found["request"] for found in spread(slowest)] == [3, 1, 4]


@pytest.mark.skipif(bool(missing()), reason=f"{', '.join(missing())}: not here")
def test_a_short_load_is_explained() -> None:
    """Each response of the logs is that of its replay, or the tool fails."""
    with mounting(Mounts.BESIDE_OTHERS):
        none, semi = measured(6, 6)["rows"]
    assert (none["schedule"], semi["schedule"]) == SCHEDULES
    for row in (none, semi):
        assert row["transactions"] > 10
        assert row["collections"] > 10
        assert row["slowest"]["slow_requests"] > 0
        assert 0 < row["waiting"]["all_share"] <= 1
    assert none["drive_us"]["read"]["max"] > 3 * semi["drive_us"]["read"]["max"]
