"""A JSON object whose keys are attributes too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Record(Mapping[str, Any]):
    """A JSON object whose keys are attributes too.

    ``record.footprint.pages`` and ``record["footprint"]["pages"]`` are the same.
    Subclasses name the keys that are always there.
    """

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = dict(data)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self._data)
            raise AttributeError(f"no {name!r} here; there are: {known}") from None

    def __getitem__(self, key: str) -> Any:
        value = self._data[key]
        return Record(value) if isinstance(value, dict) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __reduce__(self) -> tuple[type[Record], tuple[dict[str, Any]]]:
        return type(self), (self._data,)

    def __repr__(self) -> str:
        inside = ", ".join(
            f"{key}={'{...}' if isinstance(value, dict) else repr(value)}"
            for key, value in self._data.items()
        )
        return f"{type(self).__name__}({inside})"

    def to_dict(self) -> dict[str, Any]:
        """Return the plain dictionary."""
        return dict(self._data)
