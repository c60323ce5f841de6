"""Tables of results, which every library of data frames takes, without needing any."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from copyback._core import arrow_stream
from copyback.column import Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

#: Rows that a notebook shows.
_SHOWN = 10

#: Columns that are named in a line.
_NAMED = 12


class Frame:
    """A table: columns with names.

    ``frame["response_us"]`` is a `Column`, ``frame[:10]`` the first rows. It offers the Arrow
    C stream, so that ``polars.DataFrame(frame)``, DuckDB and pandas take it as it is; `to_polars`
    and `to_pandas` do so, too. It cannot be changed.

    Parameters
    ----------
    columns
        By their names: columns, arrays, or sequences of Python's values with None for a null.
    """

    def __init__(self, columns: Mapping[str, Column | NDArray[Any] | Sequence[Any]]) -> None:
        self._columns = {name: _column(values) for name, values in columns.items()}
        lengths = {len(column) for column in self._columns.values()}
        if len(lengths) > 1:
            raise ValueError("columns of a table are of one length")
        self._height = lengths.pop() if lengths else 0

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Frame:
        """Return a table of rows; what a row does not have is null.

        >>> Frame.of_rows([{"a": 1}, {"b": 2.5}]).to_dict()
        {'a': [1, None], 'b': [None, 2.5]}
        """
        names = dict.fromkeys(name for row in rows for name in row)
        return cls({name: [row.get(name) for row in rows] for name in names})

    @classmethod
    def joined(cls, frames: Sequence[Frame]) -> Frame:
        """Return tables one under the other; a column that one does not have is null there."""
        if all(frame.columns == frames[0].columns for frame in frames):
            names = frames[0].columns
            return cls({name: Column.joined([f[name] for f in frames]) for name in names})
        every = dict.fromkeys(name for frame in frames for name in frame.columns)

        def whole(name: str) -> list[Any]:
            parts = (f[name] if name in f else [None] * len(f) for f in frames)
            return [value for part in parts for value in part]

        return cls({name: whole(name) for name in every})

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def height(self) -> int:
        """The number of rows."""
        return self._height

    def __len__(self) -> int:
        return self._height

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    @overload
    def __getitem__(self, which: str) -> Column: ...
    @overload
    def __getitem__(self, which: slice) -> Frame: ...
    def __getitem__(self, which: str | slice) -> Column | Frame:
        if isinstance(which, slice):
            return self._each(which)
        return self._columns[which]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say where the operations are that other tables have."""
            hint = "to_polars() and to_pandas() give tables that have more"
            raise AttributeError(f"a Frame has no {name!r}; {hint}")

    def items(self) -> Iterator[tuple[str, Column]]:
        """Yield the columns by name."""
        yield from self._columns.items()

    def select(self, names: Iterable[str]) -> Frame:
        """Return some of the columns."""
        return Frame({name: self._columns[name] for name in names})

    def filter(self, where: NDArray[np.bool_]) -> Frame:
        """Return the rows where an array is true, such as ``frame["operation"] == "read"``."""
        return self._each(np.asarray(where, dtype=np.bool_))

    def _each(self, which: slice | NDArray[np.bool_]) -> Frame:
        return Frame({name: column[which] for name, column in self.items()})

    def row(self, place: int) -> dict[str, Any]:
        """Return the values of a row by column."""
        return {name: column[place] for name, column in self.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the values of each row by column, as ``pandas.DataFrame(frame)`` takes them."""
        return self.iter_rows()

    def iter_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the values of each row by column."""
        names = self.columns
        for values in zip(*(column.to_list() for _, column in self.items()), strict=True):
            yield dict(zip(names, values, strict=True))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return Python's values by column."""
        return {name: column.to_list() for name, column in self.items()}

    def equals(self, other: Frame) -> bool:
        """Return whether another table has the same columns with the same values."""
        return self.to_dict() == other.to_dict()

    def to_polars(self) -> pl.DataFrame:
        """Return a Polars data frame.

        Raises
        ------
        InputError
            Without Polars.
        """
        from copyback.process.extras import needed

        return needed("polars", "to_polars()").DataFrame(self)  # type: ignore[no-any-return]

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame.

        Raises
        ------
        InputError
            Without pandas.
        """
        from copyback.process.extras import needed

        columns = {name: column.to_numpy() for name, column in self.items()}
        return needed("pandas", "to_pandas()").DataFrame(columns)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an Arrow C stream: Polars, DuckDB, pandas and others take that."""
        return arrow_stream(list(self.items()))

    def __repr__(self) -> str:
        names = self.columns
        more = f" and {len(names) - _NAMED} more columns" if len(names) > _NAMED else ""
        return f"Frame({self.height} rows of {', '.join(names[:_NAMED])}{more})"

    def _repr_html_(self) -> str:
        def cells(tag: str, values: Iterable[Any]) -> str:
            texts = ("" if value is None else html.escape(str(value)) for value in values)
            return "<tr>" + "".join(f"<{tag}>{text}</{tag}>" for text in texts) + "</tr>"

        first = self[:_SHOWN]
        rows = "".join(cells("td", row.values()) for row in first.iter_rows())
        size = f"<small>{self.height} rows of {len(self.columns)} columns</small>"
        head = cells("th", self.columns)
        return f"{size}<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _column(values: Column | NDArray[Any] | Sequence[Any]) -> Column:
    if isinstance(values, Column):
        return values
    return Column(values) if isinstance(values, np.ndarray) else Column.of(values)
