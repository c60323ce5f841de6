"""Runs by column, for whoever reads tables: Arrow, Polars, pandas."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import polars as pl

    from copyback.frame import Frame


class Tabular:
    """A result that has a row for each run."""

    @abstractmethod
    def _rows(self) -> Frame:
        """Return the runs."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the runs as an Arrow C stream: Polars, DuckDB, pandas and others take that."""
        return self._rows().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield each run by column, as ``pandas.DataFrame(found)`` takes them."""
        return self._rows().iter_rows()

    def to_polars(self) -> pl.DataFrame:
        """Return the runs as a Polars data frame.

        Raises
        ------
        InputError
            Without Polars.
        """
        return self._rows().to_polars()

    def to_pandas(self) -> pd.DataFrame:
        """Return the runs as a pandas data frame.

        Raises
        ------
        InputError
            Without pandas.
        """
        return self._rows().to_pandas()
