"""Lines over all dies, as users see them."""

from __future__ import annotations

from typing import Any

import copyback
from copyback.words import die_lines

DRIVE = {
    "ssd": {
        "geometry": {
            "channels": 2,
            "chips_per_channel": 1,
            "dies_per_chip": 1,
            "planes_per_die": 2,
            "blocks_per_plane": 32,
            "pages_per_block": 16,
        },
        "ftl": {"allocation": "dynamic", "over_provisioning": 0.3},
    },
    "precondition": {"fill": 1.0, "overwrites": 1.0},
    "workload": {
        "type": "synthetic",
        "requests": 2000,
        "request_size": "4KiB",
        "read_share": 0.0,
    },
}


def test_the_summary_counts_lines_and_their_blocks() -> None:
    summary = copyback.run(DRIVE, audit=True, ssd__gc__unit="line").summary
    assert summary.lines is not None
    assert summary.lines.valid_share is not None
    assert summary.lines.collected > 0
    # Four planes do their share of each line, of which the last may not be over.
    shares = summary.gc.collections
    assert 4 * summary.lines.collected <= shares <= 4 * (summary.lines.collected + 1)
    # Lines count what the blocks count: a page of a victim is moved unless it dies meanwhile.
    moved = summary.lines.valid_share * summary.lines.collected * 64
    assert 0.9 * moved <= summary.gc.pages_moved <= 1.1 * moved + 64
    assert [name for name, _ in die_lines.rows(summary)][:2] == ["Lines opened", "Lines collected"]


def test_drives_without_lines_say_nothing_of_them() -> None:
    summary = copyback.run(DRIVE).summary
    assert summary.lines is None
    assert die_lines.rows(summary) == die_lines.facts(summary) == []


def test_parity_is_a_page_a_stripe_and_counts_as_written() -> None:
    lines: dict[str, Any] = {
        "ssd__geometry__dies_per_chip": 2,
        "ssd__ftl__over_provisioning": 0.5,
        "ssd__gc__unit": "line",
    }
    plain = copyback.run(DRIVE, audit=True, **lines).summary
    summary = copyback.run(DRIVE, audit=True, **lines, ssd__ftl__rain=True).summary
    assert plain.lines is not None
    assert plain.lines.parity is None
    assert summary.lines is not None
    parity = summary.lines.parity
    assert parity is not None
    assert parity.share == 0.25
    data = summary.flash.host_programs + summary.gc.pages_moved
    # Three pages of data a stripe; lines that are open have stripes that are not whole.
    assert abs(3 * parity.programs - data) <= 6 * 4 * 16 * 2
    without = parity.write_amplification_without
    assert without is not None
    assert summary.write_amplification is not None
    added = parity.programs / summary.flash.host_programs
    assert abs(summary.write_amplification - without - added) < 1e-9
    names = [name for name, _ in die_lines.rows(summary)]
    assert names[-2:] == ["Parity programmed", "Write amplification without parity"]


def test_reads_around_collections_and_those_made_up_are_told() -> None:
    settings: dict[str, Any] = {
        "ssd__geometry__dies_per_chip": 2,
        "ssd__ftl__over_provisioning": 0.5,
        "ssd__gc__unit": "line",
        "ssd__gc__rotating": True,
        "ssd__gc__preemption": "none",
        "ssd__gc__copyback": False,
        "ssd__gc__line_erase": "together",
        "ssd__ftl__rain": True,
        "ssd__ftl__reads_around_gc": True,
        "ssd__faults__read_errors": 0.05,
        "ssd__faults__retry_levels": 0,
        "workload__read_share": 0.5,
    }
    summary = copyback.run(DRIVE, audit=True, **settings).summary
    assert summary.lines is not None
    parity = summary.lines.parity
    assert parity is not None
    assert parity.reads_around > 0
    assert parity.reads_rebuilt > 3 * parity.reads_lost
    names = [name for name, _ in die_lines.rows(summary)]
    assert "Read around collections" in names
    assert "Made up, as they could not be corrected" in names


LOST: dict[str, Any] = {
    "ssd__geometry__dies_per_chip": 4,
    "ssd__ftl__over_provisioning": 0.6,
    "ssd__gc__unit": "line",
    "ssd__gc__line_erase": "together",
    "ssd__ftl__rain": True,
    "workload__requests": 6000,
    "workload__read_share": 0.7,
    "workload__inter_arrival": {"type": "exponential", "mean": "1ms"},
}


def test_a_lost_die_is_rebuilt_and_nothing_is_gone() -> None:
    lost_die = {"die": 5, "at": "1s", "rebuild_rate": "4MiB/s"}
    found = copyback.run(DRIVE, audit=True, **LOST, ssd__faults__lost_die=lost_die).summary
    lost = found.lost_die
    assert lost is not None
    assert lost.rebuild_s is not None
    assert (lost.die, lost.lost_at_s, lost.pages_lost) == (5, 1.0, 0)
    assert lost.degraded_reads > 0
    # At its rate, but for what the host has overwritten meanwhile.
    pages = lost.rebuild_s * 4 * 2**20 / 4096
    assert 0.9 * pages - 8 < lost.pages_rebuilt <= pages + 8
    counts = [of["count"] for of in (lost.before_us, lost.during_us, lost.after_us)]
    assert all(counts)
    assert sum(counts) == found.requests.reads
    assert ("Die lost", "die 5 at 1 s") in die_lines.rows(found)
    whole = copyback.run(DRIVE, audit=True, **LOST).summary
    assert whole.lost_die is None
    # Before, both drives have done the same.
    assert found.requests == whole.requests


def test_a_die_that_is_lost_after_the_end_is_not() -> None:
    lost_die = {"die": 5, "at": "1h"}
    summary = copyback.run(DRIVE, audit=True, **LOST, ssd__faults__lost_die=lost_die).summary
    assert summary.lost_die is not None
    assert summary.lost_die.lost_at_s is None
    assert summary.throughput.simulated_s < 60
    assert ("Die lost", "not before the end of the run") in die_lines.rows(summary)
