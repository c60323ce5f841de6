"""Tables of our own: what they hold, what libraries of data frames get, and the numbers in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import stdtrit

from copyback._core import InputError, student_quantile
from copyback.column import Column
from copyback.data.parquet import read_parquet, rows_table, write_parquet
from copyback.frame import Frame
from copyback.sweep.intervals import quantile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def mixed() -> Frame:
    operations = Column(
        np.array([0, 2, 0], np.uint32), names=("read", "write", "trim"), are_all=True
    )
    return Frame(
        {
            "operation": operations,
            "name.of.it": ["a", None, "ü"],
            "whole": [1, None, 2**62],
            "broken": [0.5, None, float("inf")],
            "is": [True, False, None],
            "seed": [0, 1, 2**64 - 1],
            "small": np.array([1, 2, 3], np.uint16),
            "nothing": [None, None, None],
        }
    )


def test_polars_takes_a_table_as_it_is(mixed: Frame) -> None:
    found = mixed.to_polars()
    assert found.to_dict(as_series=False) == mixed.to_dict()
    assert found.schema == {
        "operation": pl.Enum(["read", "write", "trim"]),
        "name.of.it": pl.String(),
        "whole": pl.Int64(),
        "broken": pl.Float64(),
        "is": pl.Boolean(),
        "seed": pl.UInt64(),
        "small": pl.UInt16(),
        "nothing": pl.Float64(),
    }
    assert pl.DataFrame(mixed).equals(found)


def test_pandas_has_the_same_values(mixed: Frame) -> None:
    found = mixed.to_pandas()
    assert found["operation"].tolist() == ["read", "trim", "read"]
    assert found["broken"].isna().tolist() == [False, True, False]
    assert found["small"].dtype == np.uint16
    assert isinstance(found, pd.DataFrame)


def test_a_file_holds_a_table_for_us_and_for_others(mixed: Frame, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(mixed, path)
    assert read_parquet(path).equals(mixed)
    assert read_parquet(path)["operation"].names == ["read", "write", "trim"]
    assert pl.read_parquet(path).equals(mixed.to_polars())


def test_files_of_polars_are_read(mixed: Frame, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    mixed.to_polars().write_parquet(path)
    assert read_parquet(path).equals(mixed)
    mixed.to_polars().with_columns(pl.col("operation").cast(pl.Categorical)).write_parquet(path)
    assert read_parquet(path).equals(mixed)


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(Frame({"a": list(range(1000))}), path)
    whole = path.read_bytes()
    with pytest.raises(InputError, match="has no column b"):
        read_parquet(path, ["a", "b"])
    for damaged in (b"", b"PAR1", whole[:-20], whole[:4] + bytes(40) + whole[44:]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="not a table that can be read"):
            read_parquet(path)
    with pytest.raises(InputError, match=r"none\.parquet: No such file"):
        read_parquet(tmp_path / "none.parquet")


def test_rows_are_chosen_and_counted(mixed: Frame) -> None:
    reads = mixed.filter(mixed["operation"] == "read")
    assert reads["name.of.it"].to_list() == ["a", "ü"]
    assert mixed.filter(mixed["operation"] != "read").row(0)["name.of.it"] is None
    assert mixed.filter(mixed["whole"] == 1)["seed"].to_list() == [0]
    assert mixed[1:].height == 2
    assert mixed.select(["seed"]).columns == ["seed"]
    assert [row["small"] for row in mixed.iter_rows()] == [1, 2, 3]
    with pytest.raises(AttributeError, match="to_polars"):
        mixed.group_by("seed")  # type: ignore[attr-defined]


def test_numbers_of_a_column_leave_out_nulls(mixed: Frame) -> None:
    whole = mixed["whole"]
    assert (whole.min(), whole.max(), whole.sum()) == (1, 2**62, 2**62 + 1)
    assert whole.null_count() == 1
    assert mixed["small"].mean() == 2.0
    assert mixed["nothing"].max() is None
    assert mixed["small"][-1] == 3
    assert np.isnan(mixed["broken"].to_numpy()[1])


def test_tables_are_joined_by_their_columns(mixed: Frame) -> None:
    twice = Frame.joined([mixed, mixed])
    assert twice["operation"].names == mixed["operation"].names
    assert twice["whole"].to_list() == 2 * mixed["whole"].to_list()
    other = Frame.joined([Frame({"a": [1], "b": ["x"]}), Frame({"b": [2], "c": [0.5]})])
    assert other.to_dict() == {"a": [1, None], "b": ["x", "2"], "c": [None, 0.5]}
    named = Frame.joined([Frame({"a": ["x", None]}), Frame({"a": ["y", "x"]})])
    assert named["a"].to_list() == ["x", None, "y", "x"]


def test_a_table_shows_itself(mixed: Frame) -> None:
    shown = Frame({"a<b": ["<i>"] * 30})._repr_html_()
    assert shown.count("<tr>") == 1 + 10
    assert "&lt;i&gt;" in shown
    assert "30 rows of 1 columns" in shown
    assert "3 rows of operation" in repr(mixed)
    assert repr(mixed["small"]) == "Column(3 uint16: 1, 2, 3)"


def test_unmeasured_requests_have_no_measured_time() -> None:
    told: dict[str, np.ndarray[Any, Any]] = {
        "operation": np.array([0, 3], np.uint8),
        "measured_response_ns": np.array([5, 0], np.uint64),
        "is_unmeasured": np.array([False, True]),
    }
    assert rows_table(told).to_dict() == {
        "operation": ["read", "flush"],
        "measured_response_ns": [5, None],
    }


@pytest.mark.parametrize("count", [2, 3, 4, 5, 7, 10, 30, 100, 1000])
def test_intervals_are_students(count: int) -> None:
    assert quantile(count) == pytest.approx(stdtrit(count - 1, 0.975), rel=1e-9)


@pytest.mark.parametrize(("share", "degrees"), [(0.0, 3), (1.0, 3), (0.5, 0), (float("nan"), 1)])
def test_no_quantile_of_nonsense(share: float, degrees: float) -> None:
    with pytest.raises(InputError):
        student_quantile(share, degrees)
