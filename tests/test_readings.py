"""Grounds of the papers' readings: what a reading says of a trace, or of a source, is so."""

from __future__ import annotations

import gzip
import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from copyback_papers.catalogue import load_paper

if TYPE_CHECKING:
    from collections.abc import Iterator

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
