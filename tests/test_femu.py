"""FEMU's black-box mode, as a public measurement has it, and what its page says."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import copyback

if TYPE_CHECKING:
    from copyback.summary import Summary

PAGE = Path(__file__).parent.parent / "docs/drives/femu-bbssd.md"

#: The write amplification that the measurement reports, and how far off ours may be.
PUBLISHED, WITHIN = 7.950, 0.02

#: Each LUN writes and collects blocks of its own.
LUNS: dict[str, Any] = {"ssd": {"gc": {"unit": "block", "threshold_scope": "drive"}}}

#: The LUNs of the drive, and seconds that one takes to read a page and to program it.
COUNT, READ, PROGRAM = 64, 40e-6, 200e-6

#: MiB of a page.
PAGE_MIB = 4 / 1024

#: The rows of the page's table.
VARIANTS: dict[str, dict[str, Any]] = {
    "as it stands": {},
    "with another seed": {"seed": 2},
    "a tenth must be invalid": {"ssd": {"gc": {"least_invalid": 0.1}}},
    "each LUN collects blocks of its own": LUNS,
}


@cache
def amplification(variant: str) -> tuple[float, float]:
    """Run the preset with these changes: of all that it writes, and of the last two thirds."""
    result = copyback.run({"preset": "femu-bbssd", **VARIANTS[variant]})
    host = result.series["host_programs"].to_numpy()
    moved = result.series["gc_programs"].to_numpy()
    late = host.cumsum() > host.sum() / 3
    return result.summary["write_amplification"], 1 + moved[late].sum() / host[late].sum()


#: Each row; for `make test-long` alone those that change a setting or the seed.
EACH_VARIANT = [
    pytest.param(
        name,
        marks=pytest.mark.long if name in ("with another seed", "a tenth must be invalid") else (),
    )
    for name in VARIANTS
]


@pytest.mark.parametrize("variant", EACH_VARIANT)
def test_the_page_says_what_the_preset_gives(variant: str) -> None:
    """Of every row of its table."""
    rows = [line.split("|")[1:-1] for line in PAGE.read_text().splitlines() if "|" in line]
    table = {row[0].strip(): [cell.strip() for cell in row[1:3]] for row in rows}
    found = amplification(variant)
    assert table[variant] == [f"{value:.3f}" for value in found]


def test_it_gives_what_was_measured() -> None:
    """And what follows from its rule alone: each victim gives an eighth of its pages."""
    all_of_it, late = amplification("as it stands")
    assert all_of_it == pytest.approx(PUBLISHED, rel=WITHIN)
    assert late == pytest.approx(8, rel=WITHIN)


def loaded(fill: float = 1.0, **keys: Any) -> Summary:
    """Return what the drive does under a load of its own."""
    load = {"type": "synthetic", "request_size": "4KiB", "sequential_share": 0.0} | keys
    preparation = {"fill": fill, "overwrites": 0.0}
    config = {"preset": "femu-bbssd", "precondition": preparation, "workload": load}
    return copyback.run(config).summary


def test_a_read_at_a_depth_of_one_takes_as_long_as_the_page() -> None:
    response = loaded(read_share=1.0, requests=5_000, iodepth=1).response_us.read
    assert (response.min, response.mean, response.max) == (40.0, 40.0, 40.0)


@pytest.mark.parametrize(("reads", "fill", "page"), [(0.0, 0.0, PROGRAM), (1.0, 1.0, READ)])
def test_in_sequence_all_luns_work(reads: float, fill: float, page: float) -> None:
    """At 64 pages in the time of one."""
    large = {"request_size": "128KiB", "sequential_share": 1.0, "iodepth": 32}
    found = loaded(fill, read_share=reads, requests=20_000, **large)
    assert found.throughput.mib_per_s == pytest.approx(COUNT * PAGE_MIB / page, rel=0.04)


def test_random_readers_wait_for_luns_as_in_a_queue_with_a_constant_time_of_service() -> None:
    """256 threads, as in FEMU's issue 92: the rate at which M/D/1 holds four requests a LUN."""
    reader = {
        "type": "synthetic",
        "requests": "unlimited",
        "duration": "200ms",
        "request_size": "4KiB",
        "sequential_share": 0.0,
        "read_share": 1.0,
        "iodepth": 1,
    }
    flows = {"type": "flows", "flows": [reader] * 256}
    found = copyback.run({"preset": "femu-bbssd", "workload": flows})
    # 4 = u + u^2 / (2 - 2u), so u^2 - 10u + 8 = 0.
    busy = 5 - 17**0.5
    assert found.summary.throughput.iops == pytest.approx(busy * COUNT / READ, rel=0.01)


def test_without_its_rule_the_drive_is_refused() -> None:
    """As collections would never reach their goal."""
    with pytest.raises(copyback.InputError, match="33 of its 128 blocks must be free"):
        copyback.run({"preset": "femu-bbssd", "ssd": {"gc": {"least_invalid": 0}}})
