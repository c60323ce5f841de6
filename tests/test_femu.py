"""FEMU's black-box mode, as a public measurement has it, and what its page says."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import copyback

PAGE = Path(__file__).parent.parent / "docs/drives/femu-bbssd.md"

#: The write amplification that the measurement reports, and how far off ours may be.
PUBLISHED, WITHIN = 7.950, 0.02

#: The 64 LUNs of the drive, each of which writes and collects blocks of its own.
LUNS: dict[str, Any] = {
    "ssd": {
        "geometry": {"channels": 8, "chips_per_channel": 8, "pages_per_block": 256},
        "timing": {"read": "40us", "program": "200us"},
        "ftl": {"allocation": "dynamic"},
        "gc": {"threshold_scope": "drive"},
    }
}

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


def test_without_its_rule_the_drive_is_refused() -> None:
    """As collections would never reach their goal."""
    with pytest.raises(copyback.InputError, match="33 of its 128 blocks must be free"):
        copyback.run({"preset": "femu-bbssd", "ssd": {"gc": {"least_invalid": 0}}})
