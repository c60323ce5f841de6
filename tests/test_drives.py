"""What is published of drives beside what their presets give: stored answers, and pages of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from copyback.inputs import configuration

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from drive_folding import BURSTS, DRIVE, WHEN, in_bursts  # noqa: E402
from drive_pages import is_near  # noqa: E402
from drive_promises import STORED, Promise, answer, promises  # noqa: E402
from drive_scaling import BLOCKS, PAGE, WHOLE  # noqa: E402
from drive_scaling import row as scaled  # noqa: E402

#: Requests of rows that are asked again: the longer ones take minutes together.
FEW = 60_000

ROWS = [
    (path.stem, promise) for path in sorted(STORED.glob("*.toml")) for promise in promises(path)
]


def stored(name: str) -> dict[str, dict[str, Any]]:
    """Return the stored answers of a file, by the promise's name."""
    answers = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))["answers"]
    return {one["name"]: one for one in answers}


@pytest.mark.parametrize(
    ("name", "promise"),
    [row for row in ROWS if row[1].settings["workload.requests"] <= FEW],
    ids=lambda value: value.name if isinstance(value, Promise) else value,
)
def test_the_stored_answer_is_what_the_preset_gives(name: str, promise: Promise) -> None:
    """To the last digit, of every row that is quickly asked."""
    found = answer(promise)
    told = stored(name)[promise.name]
    assert found.value == told["value"]
    assert found.config_digest == told["config_digest"]


@pytest.mark.parametrize("name", sorted({name for name, _ in ROWS}))
def test_every_promise_is_answered_and_every_miss_explained(name: str) -> None:
    """A figure that set no parameter is near, or its row says what the model leaves out."""
    answers = stored(name)
    asked = [promise for other, promise in ROWS if other == name]
    assert [promise.name for promise in asked] == list(answers)
    for promise in asked:
        near = is_near(promise, answers[promise.name]["value"])
        assert near != (promise.missing is not None), promise.name


@pytest.mark.parametrize("name", ["intel-s4500", "samsung-970-evo-plus"])
def test_six_figures_that_set_no_parameter_are_near(name: str) -> None:
    """Where that many are published."""
    answers = stored(name)
    free = [promise for other, promise in ROWS if other == name and promise.sets is None]
    assert sum(is_near(one, answers[one.name]["value"]) for one in free) >= 6


def test_fewer_blocks_give_what_is_stored() -> None:
    """To the last digit, of the fewest."""
    told = json.loads((STORED / "scaling.json").read_text(encoding="utf-8"))
    assert scaled(BLOCKS[0]) == told["rows"][0]


def test_presets_of_the_default_drive_have_the_blocks_that_were_asked() -> None:
    """As the page of the drive says."""
    presets = {BLOCKS[1]: PAGE, BLOCKS[2]: "tlc-nvme-64gb", WHOLE: "tlc-nvme"}
    page = (ROOT / "docs/drives/samsung-pm9a3.md").read_text(encoding="utf-8")
    for blocks, preset in presets.items():
        resolved = configuration.resolved(configuration.load({"preset": preset}))
        assert resolved["ssd"]["geometry"]["blocks_per_plane"] == blocks
        assert f"| `{preset}` | {blocks:,} |" in page


def test_what_the_page_of_schedules_says_is_in_its_table() -> None:
    """Collections that don't yield are far behind, and paced ones lead at the highest load."""
    told = json.loads((STORED / "schedules.json").read_text(encoding="utf-8"))
    rows = told["rows"]
    # The link bounds the load, as it does reads alone.
    reads = stored("intel-s4500")["S4500: random reads, 4 KiB, depth 32"]["value"]
    assert told["sustained_iops"] == pytest.approx(reads, rel=0.01)
    by = {(row["share"], row["schedule"]): row for row in rows}
    for share in (0.5, 0.8, 0.95):
        paced, atomic = by[share, "paced"], by[share, "none"]
        assert atomic["read_p99_9_us"] > 90 * paced["read_p99_9_us"]
        assert atomic["page_write_amplification"] == pytest.approx(
            paced["page_write_amplification"], rel=0.03
        )
    for other in ("semi_preemptive", "partial"):
        assert by[0.95, "paced"]["read_p99_us"] < by[0.95, other]["read_p99_us"]
    tails = [by[0.95, one]["read_p99_9_us"] for one in ("paced", "semi_preemptive", "partial")]
    assert max(tails) < 1.05 * min(tails)
    assert by[0.95, "semi_preemptive"]["read_p99_us"] < by[0.95, "partial"]["read_p99_us"]


def test_what_the_page_of_parity_says_is_in_its_table() -> None:
    """Reads around dies that collect in turn come near to collections that take no time."""
    told = json.loads((STORED / "rain.json").read_text(encoding="utf-8"))
    rows = {(row["share"], row["schedule"], row["way"]): row for row in told["rows"]}
    whole = "parity, dies in turn, reads around"
    erased_together = {
        row["share"]: row for row in told["erases"]["rows"] if row["schedule"] == "none"
    }
    for share in (0.5, 0.8):
        of = {way: row for (at, how, way), row in rows.items() if (at, how) == (share, "none")}
        free, base, all_of_it = of["collections take no time"], of["no parity"], of[whole]
        for key in ("read_p99_us", "read_p99_9_us"):
            assert free[key] <= all_of_it[key] < 2.6 * free[key]
        assert 5 < base["read_p99_us"] / free["read_p99_us"] < 138
        assert base["read_p99_9_us"] > 138 * free["read_p99_9_us"]
        assert all_of_it["read_p99_99_us"] > 20 * free["read_p99_99_us"]
        together = erased_together[share]
        for key in ("read_p99_us", "read_p99_9_us", "read_p99_99_us"):
            assert together[key] < 2.6 * free[key]
        for way in ("parity, dies in turn", "parity, reads around"):
            assert of[way]["read_p99_9_us"] > base["read_p99_9_us"]
        assert all_of_it["pages_read_for_others"] == pytest.approx(
            7 * all_of_it["reads_around"], rel=0.03
        )
        added = of["parity"]["page_write_amplification"] - base["page_write_amplification"]
        by_spare = of["parity"]["without_parity"] - base["page_write_amplification"]
        assert added / 2 < by_spare < added
        yields = {way: rows[share, "semi_preemptive", way] for way in ("no parity", whole)}
        for key in ("read_p99_9_us", "read_p99_99_us"):
            assert 0.4 < yields[whole][key] / yields["no parity"][key] < 0.6
        assert yields[whole]["read_p99_us"] == pytest.approx(
            yields["no parity"]["read_p99_us"], rel=0.02
        )
    at_80 = [rows[0.8, "none", way]["page_write_amplification"] for way in (whole, "parity")]
    assert at_80[0] < at_80[1]
    sustained = told["sustained_iops"]
    assert sustained[whole] < 0.5 * sustained["parity, reads around"]
    assert sustained["parity"] == pytest.approx(0.5 * sustained["no parity"], rel=0.15)


def test_what_the_page_of_parity_says_of_a_lost_die_and_of_erases_is_in_its_tables() -> None:
    """Reads are made up while it is rebuilt; erased together, less of the tail is left."""
    told = json.loads((STORED / "rain.json").read_text(encoding="utf-8"))
    for row in told["lost_die"]["rows"]:
        assert row["pages_lost"] == 0
        # One of the seven dies that hold data of a line.
        assert row["degraded_reads"] < row["reads_during"] / 7
        assert row["rebuild_s"] > 0
    by = {(row["schedule"], row["pace"]): row for row in told["lost_die"]["rows"]}
    for schedule in ("none", "semi_preemptive"):
        slow, fast = by[schedule, "a page at a time"], by[schedule, "64 pages at once"]
        assert slow["rebuild_s"] > 2 * fast["rebuild_s"]
        # 16 KiB a page, and at most so fast.
        at_rate = by[schedule, "8 MB/s"]
        at_most = at_rate["pages_rebuilt"] * 16384 / 8e6
        assert 0.999 * at_most < at_rate["rebuild_s"] < 1.5 * at_most
    quiet, hasty = by["semi_preemptive", "8 MB/s"], by["semi_preemptive", "64 pages at once"]
    assert hasty["during_p99_us"] > 100 * quiet["during_p99_us"]
    for pace in ("a page at a time", "8 MB/s"):
        row = by["semi_preemptive", pace]
        assert row["before_p99_us"] < row["during_p99_us"] < 1.5 * row["before_p99_us"]
        assert row["after_p99_us"] > row["before_p99_us"]


def test_what_the_page_of_folding_says_is_in_its_tables() -> None:
    """Folding that yields, on demand, leaves the shortest tail."""
    told = json.loads((STORED / "folding.json").read_text(encoding="utf-8"))
    by = {(row["when"], row["schedule"]): row for row in told["rows"]}
    for schedule in ("semi_preemptive", "partial", "paced"):
        assert by["both", schedule]["read_p99_9_us"] < by["idle time", schedule]["read_p99_9_us"]
        assert by["both", schedule]["past"] < 0.01
        assert by["on demand", schedule]["heals_s"] is None
        assert by["both", schedule]["full_mb_per_s"] > 1.3 * by["both", "none"]["full_mb_per_s"]
        assert by["both", "none"]["write_p99_us"] > 100 * by["both", schedule]["write_p99_us"]
        idle = {**by["idle time", schedule], **dict.fromkeys(("schedule", "config_digest"))}
        same = {**by["idle time", "none"], **dict.fromkeys(("schedule", "config_digest"))}
        of_load = ("full_mb_per_s",)
        assert all(idle[key] == same[key] for key in idle if key not in of_load)
    array = {(row["when"], row["coordination"]): row for row in told["array"]}
    for coordination in {coordination for _, coordination in array}:
        for when in ("on demand", "both"):
            alone, asked = array[when, "uncoordinated"], array[when, coordination]
            assert alone["read_p99_9_us"] == asked["read_p99_9_us"]
            assert alone["page_write_amplification"] == asked["page_write_amplification"]


def test_a_stored_row_of_folding_is_what_the_tool_gives() -> None:
    """To the last digit, of a row."""
    told = json.loads((STORED / "folding.json").read_text(encoding="utf-8"))
    stored_row = next(
        row for row in told["rows"] if (row["when"], row["schedule"]) == ("both", "paced")
    )
    settings = {**DRIVE, **WHEN["both"], "ssd.gc.preemption": "paced"}
    found = in_bursts(settings, BURSTS)
    assert {key: stored_row[key] for key in found} == found
