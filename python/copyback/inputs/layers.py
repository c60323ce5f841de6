"""Settings laid over one another: what one replaces of another, and the order that loses nothing.

A setting may replace a whole choice: ``workload = { type = "trace", ... }`` drops every key that an
earlier setting has put below ``workload``. So a setting of a whole comes before those of its parts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.inputs.configuration import to_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: A dotted key and the text of its value.
Setting = tuple[str, str]

#: Keys of a table that say which choice it is, and so replace it whole.
_CHOOSING = ("type", "preset")


@dataclass(frozen=True)
class Layer:
    """A setting, as the user names it and as a configuration takes it.

    Attributes
    ----------
    name
        What the user wrote, such as ``trace=a.csv``.
    settings
        What is laid over the configuration for it. The last says what is meant; others before it
        only clear its place.
    """

    name: str
    settings: tuple[Setting, ...]

    @property
    def key(self) -> str:
        """The dotted key of what is meant."""
        return self.settings[-1][0]

    @cached_property
    def value(self) -> Any:
        """Value of the key: the value that its text is as TOML, else the text."""
        text = self.settings[-1][1]
        try:
            found = tomllib.loads(f"value = {text}")
        except tomllib.TOMLDecodeError:
            return text
        return found["value"] if len(found) == 1 else text

    @cached_property
    def leaves(self) -> frozenset[str]:
        """The dotted keys of the values in it, but for the type of a choice with parameters."""
        found = frozenset(_leaves(self.key, self.value))
        return found - {f"{self.key}.type"} or found

    @cached_property
    def replaced(self) -> str | None:
        """The key of what it replaces whole; None if it changes a table in parts."""
        if isinstance(self.value, Mapping):
            return self.key if any(name in self.value for name in _CHOOSING) else None
        parent, _, name = self.key.rpartition(".")
        return parent if parent and name in _CHOOSING else self.key

    def parts(self) -> list[Layer]:
        """Return a layer for each value in it, if it changes a table in parts; else itself."""
        if self.replaced is not None or not self.value:
            return [self]
        return [
            part
            for name, value in self.value.items()
            for part in Layer(self.name, ((f"{self.key}.{name}", to_toml(value)),)).parts()
        ]

    def refines(self, other: Layer) -> bool:
        """Whether it changes a part of what the other replaces whole."""
        return other.replaced is not None and self.key.startswith(f"{other.replaced}.")

    def takes_the_place_of(self, earlier: Layer) -> bool:
        """Whether nothing is left of an earlier layer if this one is laid over it."""
        if self.replaced is not None and self.replaced == earlier.replaced:
            # To say again which type a choice has leaves its parameters as they are.
            says_type = self.key == f"{self.replaced}.type" and isinstance(earlier.value, Mapping)
            return not says_type or earlier.value.get("type") != self.value
        return earlier.leaves <= self.leaves


def _leaves(key: str, value: Any) -> Iterable[str]:
    if not isinstance(value, Mapping) or not value:
        yield key
        return
    for name, inner in value.items():
        yield from _leaves(f"{key}.{name}", inner)


def plain(settings: Iterable[Setting]) -> list[Layer]:
    """Return settings as layers, each named as it is written."""
    return [Layer(f"{key}={text}", ((key, text),)) for key, text in settings]


def arranged(layers: Sequence[Layer]) -> list[Layer]:
    """Return layers in their order, but those that others refine first, the widest of them first.

    Raises
    ------
    InputError
        If nothing would be left of one of them.
    """
    wide = [one for one in layers if any(other.refines(one) for other in layers)]
    wide.sort(key=lambda one: (one.replaced or "").count("."))
    order = wide + [one for one in layers if one not in wide]
    for place, later in enumerate(order):
        for earlier in order[:place]:
            if later.takes_the_place_of(earlier):
                raise InputError(f"{earlier.name}: is replaced by {later.name}; give one of them")
    return order


def under(settings: Sequence[Layer], point: Sequence[Layer]) -> list[Layer]:
    """Return settings with a point of a sweep laid over them, so that only what it sets again goes.

    Parameters
    ----------
    settings
        What all points share.
    point
        What this one has, arranged.
    """
    kept = [one for one in settings if not any(own.takes_the_place_of(one) for own in point)]
    wide = [own for own in point if any(one.refines(own) for one in kept)]
    return wide + kept + [own for own in point if own not in wide]


def check_used(settings: Sequence[Layer], points: Sequence[Sequence[Layer]]) -> None:
    """Refuse settings that every point of a sweep sets again, so that no run would have them.

    Raises
    ------
    InputError
        With a line for each.
    """
    lines = []
    for one in settings:
        instead = [own for point in points if (own := _in_place_of(one, point)) is not None]
        if instead and len(instead) == len(points):
            lines.append(
                f"{one.name}: no run would have it, as each has its own, such as "
                f"{instead[0].name}; give one of them"
            )
    if lines:
        raise InputError("\n".join(lines))


def _in_place_of(setting: Layer, point: Sequence[Layer]) -> Layer | None:
    return next((own for own in point if own.takes_the_place_of(setting)), None)
