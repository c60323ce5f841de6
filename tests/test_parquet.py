"""Tables in files: what is written piece by piece is what is written at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from copyback.data.parquet import RowKeeper, RowWriter, read_parquet, write_parquet
from copyback.frame import Frame

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def batch(first: int, rows: int) -> dict[str, NDArray[Any]]:
    number = np.arange(first, first + rows, dtype=np.uint64)
    return {
        "arrival_ns": number * np.uint64(1000),
        "operation": (number % np.uint64(3)).astype(np.uint8),
        "response_ns": number,
        "measured_response_ns": number,
        "is_unmeasured": number % np.uint64(2) == 0,
    }


def write(path: Path, sizes: list[int]) -> bytes:
    with RowWriter(path) as writer:
        first = 0
        for size in sizes:
            writer.add(batch(first, size))
            first += size
    return path.read_bytes()


def test_a_file_is_the_same_however_its_rows_came(tmp_path: Path) -> None:
    sizes = [100_000, 1, 0, 199_999]
    kept = RowKeeper()
    kept.add(batch(0, 300_000))
    whole = write(tmp_path / "a.parquet", [300_000])
    assert write(tmp_path / "b.parquet", sizes) == whole
    rows = read_parquet(tmp_path / "b.parquet")
    assert rows.equals(kept.table())
    assert rows["operation"].head(4).to_list() == ["read", "write", "trim", "read"]
    assert rows["measured_response_ns"].head(2).to_list() == [None, 1]


def test_a_table_of_no_rows_has_its_columns(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", [0])
    rows = read_parquet(tmp_path / "a.parquet")
    assert rows.columns == ["arrival_ns", "operation", "response_ns", "measured_response_ns"]
    assert len(rows) == 0


def test_some_columns_are_read(tmp_path: Path) -> None:
    write_parquet(Frame({"a": [1], "b": [2]}), tmp_path / "[ab]*.parquet")
    assert read_parquet(tmp_path / "[ab]*.parquet", ["b"]).to_dict() == {"b": [2]}


def test_what_the_system_says_to_a_write_is_raised() -> None:
    from pathlib import Path

    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full")
    with pytest.raises(OSError, match="No space left"):
        write_parquet(Frame({"a": [1]}), full)
    with pytest.raises(OSError, match="No space left"), RowWriter(full) as writer:
        writer.add(batch(0, 10))


def test_a_run_that_fails_does_not_wait_for_its_writer(tmp_path: Path) -> None:
    def fail() -> None:
        with RowWriter(tmp_path / "a.parquet") as writer:
            writer.add(batch(0, 10))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
