"""Columns of a table: numbers, truths or names, any of which may be absent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import DTypeLike, NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """A column of a `Frame`.

    Attributes
    ----------
    values : numpy.ndarray
        Numbers or truths; of a column of names their places in `names`.
    is_valid : numpy.ndarray or None
        Where there is a value; None if there is one everywhere.
    names : sequence of str or None
        The names of a column of names.
    are_all : bool
        Whether no other names can occur, as in an enumeration.
    """

    values: NDArray[Any]
    is_valid: NDArray[np.bool_] | None = None
    names: Sequence[str] | None = None
    are_all: bool = False

    @classmethod
    def of(cls, values: Sequence[Any]) -> Column:
        """Return Python's values as a column: all text if one is; a None is a null.

        >>> Column.of([1, None, 2.5]).to_list(), Column.of([3, "a", None]).to_list()
        ([1.0, None, 2.5], ['3', 'a', None])
        """
        there = np.array([value is not None for value in values], dtype=np.bool_)
        is_valid = None if there.all() else there
        known = [value for value in values if value is not None]
        if any(isinstance(value, str) for value in known):
            texts = [None if value is None else str(value) for value in values]
            places = {name: place for place, name in enumerate(dict.fromkeys(map(str, known)))}
            found = [0 if text is None else places[text] for text in texts]
            return cls(np.array(found, dtype=np.uint32), is_valid, tuple(places))
        kind = _kind_of(known)
        filled = [(0 if value is None else value) for value in values]
        return cls(np.array(filled, dtype=kind), is_valid)

    @classmethod
    def joined(cls, parts: Sequence[Column]) -> Column:
        """Return columns one under the other."""
        first = parts[0]
        if any(part.names != first.names for part in parts):
            parts = cls._with_same_names(parts)
            first = parts[0]
        is_valid = None
        if any(part.is_valid is not None for part in parts):
            is_valid = np.concatenate([part.there for part in parts])
        values = np.concatenate([part.values for part in parts])
        return cls(values, is_valid, first.names, first.are_all)

    @staticmethod
    def _with_same_names(parts: Sequence[Column]) -> list[Column]:
        """Return columns of names whose places mean the same; numbers among them become names."""
        parts = [
            part if part.names is not None else Column.of(_texts(part.to_list())) for part in parts
        ]
        every = dict.fromkeys(name for part in parts for name in part.names or ())
        places = {name: place for place, name in enumerate(every)}
        moved = []
        for part in parts:
            to = np.array([places[name] for name in part.names or ()] or [0], dtype=np.uint32)
            moved.append(Column(to[part.values.astype(np.intp)], part.is_valid, tuple(every)))
        return moved

    @property
    def there(self) -> NDArray[np.bool_]:
        """Mask of the present values."""
        return np.ones(len(self), dtype=np.bool_) if self.is_valid is None else self.is_valid

    @property
    def is_numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.names is None and self.values.dtype != np.bool_

    def null_count(self) -> int:
        """Return how many values are absent."""
        return len(self) - int(np.count_nonzero(self.there))

    def to_list(self) -> list[Any]:
        """Return Python's values, None where there is none."""
        names = self.names
        found: list[Any] = self.values.tolist()
        if names is not None:
            found = [names[place] if place < len(names) else None for place in found]
        if self.is_valid is None:
            return found
        return [v if there else None for v, there in zip(found, self.is_valid, strict=True)]

    def to_numpy(self) -> NDArray[Any]:
        """Return an array: names as objects, NaN in place of numbers that are absent."""
        if self.names is not None or (self.is_valid is not None and not self.is_numeric):
            return np.array(self.to_list(), dtype=object)
        if self.is_valid is None:
            return self.values
        return np.where(self.is_valid, self.values, np.nan)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        found = np.asarray(self.to_numpy(), dtype=dtype)
        return found.copy() if copy else found

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def __getitem__(self, which: int | slice | NDArray[Any]) -> Any:
        """Return one value, or a column of some rows: a slice, or where an array is true."""
        if not isinstance(which, slice | np.ndarray):
            return self[which : which + 1 or None].to_list()[0]
        is_valid = None if self.is_valid is None else self.is_valid[which]
        return Column(self.values[which], is_valid, self.names, self.are_all)

    def __eq__(self, other: object) -> Any:
        """Return where the column has a value, as an array of truths."""
        if isinstance(other, str):
            found = [place for place, name in enumerate(self.names or ()) if name == other]
            return self.there & np.isin(self.values, found)
        return self.there & (self.to_numpy() == np.asarray(other))

    def __ne__(self, other: object) -> Any:
        """Return where the column has another value, as an array of truths."""
        return self.there & ~np.asarray(self == other)

    __hash__ = None  # type: ignore[assignment]

    def head(self, rows: int = 5) -> Column:
        """Return the first rows."""
        found: Column = self[:rows]
        return found

    def equals(self, other: Column) -> bool:
        """Return whether another column has the same values."""
        return self.to_list() == other.to_list()

    def sum(self) -> Any:
        """Return the sum of the values that there are."""
        return self.values[self.there].sum().item()

    def mean(self) -> float | None:
        """Return the mean of the values that there are; None if there is none."""
        return self.values[self.there].mean().item() if self.there.any() else None

    def max(self) -> Any:
        """Return the greatest of the values that there are; None if there is none."""
        return self.values[self.there].max().item() if self.there.any() else None

    def min(self) -> Any:
        """Return the least of the values that there are; None if there is none."""
        return self.values[self.there].min().item() if self.there.any() else None

    def __repr__(self) -> str:
        kind = "names" if self.names is not None else self.values.dtype.name
        shown = ", ".join(map(str, self.head(5).to_list()))
        return f"Column({len(self)} {kind}: {shown}{', …' if len(self) > 5 else ''})"


def _texts(values: list[Any]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]


def _kind_of(known: Sequence[Any]) -> type[np.generic]:
    """Return the type that holds all of some numbers or truths."""
    if known and all(isinstance(value, bool) for value in known):
        return np.bool_
    if not known or not all(isinstance(value, int) for value in known):
        return np.float64
    # A seed may have all of its bits.
    return np.uint64 if max(known) > np.iinfo(np.int64).max else np.int64
