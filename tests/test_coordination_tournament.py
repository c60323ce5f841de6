"""The tournament of coordination: what is run, and how its page judges."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOT = Path(__file__).parents[1]


@pytest.fixture
def tool() -> Iterator[ModuleType]:
    """Yield the tool that runs it."""
    sys.path.insert(0, str(ROOT / "tools"))
    import coordination

    yield coordination
    sys.path.remove(str(ROOT / "tools"))


def rows(tool: ModuleType, scheme: str, numbers: list[float]) -> list[object]:
    """Return runs of a scheme, one a seed."""
    case = ("RAID-5", "healthy", "HP 2003", "on demand")
    return [
        tool.Row(*case, scheme, str(seed), str(number), "1000", "5", "0", str(seed % 2), "abc")
        for seed, number in enumerate(numbers)
    ]


def test_every_layout_load_and_state_is_run_with_every_scheme(tool: ModuleType) -> None:
    sweeps = tool.sweeps()
    assert len(sweeps) == len(set(sweeps)) == 18
    for sweep in sweeps:
        file = sweep.file()
        assert len(file["schemes"]) == 14
        assert ("array.failures" in file["set"]) == (sweep.state == tool.FAILING)
        mirrored = [one for one in file["schemes"].values() if "array.mirror_reads" in one]
        assert len(mirrored) == (4 if sweep.layout == "RAID-10" else 0)


def test_a_gain_is_an_interval_below_one_and_the_least_is_bold(tool: ModuleType) -> None:
    own = rows(tool, tool.BASELINE, [1000.0, 1100.0, 900.0])
    own += rows(tool, "windows", [500.0, 560.0, 440.0])
    own += rows(tool, "IODA", [900.0, 1200.0, 890.0])
    page = tool.page(own)
    assert "windows −50" in page
    assert "(gains in 1, loses in 0)" in page
    assert "(gains in 0, loses in 0)" in page
    line = next(line for line in page.splitlines() if line.startswith("| RAID-5"))
    assert "| 1.00 ms | **−50" in line
    assert line.count("**") == 2
    assert "Of 9 runs 0 are overloaded and 3 not settled." in page


def test_the_page_is_of_runs_of_committed_programs(tool: ModuleType) -> None:
    stored = tool.stored()
    assert len(stored) == 18 * 14 * 5
    assert not any("dirty" in row.commit for row in stored)
