"""Grounds of the papers' readings: what a reading says of a trace, or of a source, is so."""

from __future__ import annotations

import gzip
import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from copyback.sweep.axes import LOAD, POINT, SCHEME
from copyback_papers import setups
from copyback_papers.answers import cells_of
from copyback_papers.catalogue import load_paper
from copyback_papers.measures import Cell, Measures
from copyback_papers.plan import make_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback_papers.checks import Check
    from copyback_papers.experiment import Experiment
    from copyback_papers.regions import Region

TRACES = os.environ.get("COPYBACK_TRACES")

#: Bytes of Harmonia's array: eight drives of 32 GiB, of which 15% are reserved.
ARRAY = 8 * 32 * 2**30 * 0.85

SECTOR = 512


def requests(name: str, sectors: int) -> Iterator[tuple[str, int]]:
    """Yield the unit and the last sector of each request of a piece of Financial1.

    Parameters
    ----------
    sectors
        Sectors of one unit of its sizes.
    """
    if TRACES is None:
        pytest.skip("COPYBACK_TRACES names no directory of traces")
    with gzip.open(Path(TRACES) / name, "rt", encoding="utf-8") as lines:
        for _, unit, first, size, _ in map(str.split, lines):
            yield unit, int(first) + int(size) * sectors


def extents(name: str, sectors: int) -> list[int]:
    """Return how many bytes each unit of a piece takes, up to its last one."""
    last: dict[str, int] = defaultdict(int)
    for unit, end in requests(name, sectors):
        last[unit] = max(last[unit], end)
    return [sectors * SECTOR for sectors in last.values()]


def test_financial_lives_where_its_pieces_do() -> None:
    apart = extents("ssdsim-example-fin1.ascii.gz", 1)
    together = extents("financial1-first-50k.trace.gz", 8)
    assert len(apart) == 22
    assert len(together) == 1
    loads = {one.name: one for e in load_paper("harmonia-2012").experiments for one in e.workloads}
    covered = float(dict(loads["Financial"].settings)["workload.footprint"])
    assert sum(apart) / ARRAY == pytest.approx(covered, rel=0.02)
    assert sum(together) / ARRAY == pytest.approx(0.0022, rel=0.02)


def test_a_round_of_harmonia_is_one_block_and_a_collection_one_victim() -> None:
    reading = load_paper("harmonia-2012").reading.set
    assert reading["array.protocol.round"] == {"type": "blocks", "blocks": 1}
    assert reading["array.protocol.target_margin"]["blocks"] == 2
    assert reading["ssd.gc.end"] == "one_victim"


@pytest.mark.parametrize("name", ["agc-dgc-2012", "fifo-mqsim", "harmonia-2012", "pgc-2011"])
def test_the_joint_point_of_a_region_is_run_as_the_row_of_its_claim(name: str) -> None:
    paper = load_paper(name)
    rows = {check.target: (e, check) for e in paper.experiments for check in e.checks}
    apart = [
        f"{one.name}: {region.target.label if region.target else ''}: {keys[:3]}"
        for one in paper.experiments
        for region in one.regions
        if region.joint
        if (keys := differences(one, places(one, region)[region.joint], *rows[region.target]))
    ]
    assert apart == []


def places(experiment: Experiment, region: Region) -> dict[str, Region]:
    """Return a region at each of its places."""
    return region.places([point.name for point in experiment.points])


def differences(one: Experiment, asked: Check, other: Experiment, check: Check) -> list[str]:
    """Return the keys in which the runs that two checks rest on differ at full scale."""
    sides = [runs(one, asked), runs(other, check)]
    if len(sides[0]) != len(sides[1]):
        return [f"{len(sides[0])} and {len(sides[1])} runs"]
    return [key for pair in zip(*sides, strict=True) for key in setups.differences(*pair)]


def runs(experiment: Experiment, check: Check) -> list[setups.Setup]:
    """Return the set-ups that a check rests on, in an order that names do not decide."""
    plan = make_plan(experiment, "full", None, (0,))
    known = {}
    for run in plan.sweep.runs:
        names = dict(run.point)
        cell = Cell(names[LOAD], names[POINT], names[SCHEME])
        flat = setups.flat(run.resolved)
        known[cell] = {key: value for key, value in flat if not key.startswith(setups.ASIDE)}
    cells = cells_of(check, Measures({cell: [{}] for cell in known}))
    return sorted((known[cell] for cell in cells), key=lambda one: sorted(map(repr, one.items())))
