"""Reads the space of a study from its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.designer.space import Choice, Key, Option, Space, Span
from copyback.inputs.configuration import to_toml
from copyback.inputs.tables import Table, read
from copyback.sweep.bounds import range_between

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from copyback.designer.space import Domain

#: What an entry of the space may be, as a fault says it.
ALLOWED = (
    "a list of choices, { choices = [...] } or { min = ..., max = ..., log = true }; "
    'when = { "KEY" = ... } beside either'
)


class _Span(Table, frozen=True):
    """Range of values."""

    min: Any
    max: Any
    log: bool = False
    when: dict[str, Any] | None = None


class _Choices(Table, frozen=True):
    """Choices, with room for a condition."""

    choices: tuple[Any, ...]
    when: dict[str, Any] | None = None


def space_of(table: Mapping[str, Any], locate: Callable[[str, Any], Any]) -> Space:
    """Return the space that a table describes.

    Parameters
    ----------
    locate
        Makes the paths in the value of a key absolute.

    Raises
    ------
    InputError
        With the key, what was found and what is allowed.
    """
    keys: dict[str, Key] = {}
    for key, entry in table.items():
        place = f"space.{key}"
        domain, when = _entry(key, locate(key, entry), place)
        keys[key] = Key(key, domain, None if when is None else _beside(when, keys, place))
    return Space(tuple(keys.values()))


def _entry(name: str, entry: Any, place: str) -> tuple[Domain, dict[str, Any] | None]:
    """Return what a key may be, and when it exists."""
    if isinstance(entry, list):
        return _choice(name, entry, place), None
    if isinstance(entry, dict) and "choices" in entry:
        listed = read(entry, _Choices, place=place)
        return _choice(name, listed.choices, place), listed.when
    if is_span(entry):
        if absent := {"min", "max"} - entry.keys():
            raise InputError(f"{place}: found no {absent.pop()}; allowed: {ALLOWED}")
        found = read(entry, _Span, place=place)
        return _span(name, found, place), found.when
    raise InputError(f"{place}: found {to_toml(entry)}; allowed: {ALLOWED}")


def is_span(entry: Any) -> bool:
    """Whether a value of a table is a range."""
    return isinstance(entry, dict) and bool({"min", "max"} & entry.keys())


def _span(name: str, found: _Span, place: str) -> Span:
    span = range_between(name, found.min, found.max, place)
    if found.log and span.least <= 0:
        raise InputError(f"{place}.min: found {found.min!r}; allowed with log: more than 0")
    return Span(span, found.log)


def _choice(name: str, values: Sequence[Any], place: str) -> Choice:
    if not values:
        raise InputError(f"{place}: found no choice; allowed: {ALLOWED}")
    options = tuple(_option(name, value, f"{place}[{i}]") for i, value in enumerate(values))
    labels = [option.label for option in options]
    # Of two options of one type the whole value tells which is which.
    whole = [
        Option(to_toml(one.value), one.value, one.parameters)
        if labels.count(one.label) > 1
        else one
        for one in options
    ]
    twice = [one.label for one in whole if [other.label for other in whole].count(one.label) > 1]
    if twice:
        raise InputError(f"{place}: has the choice {twice[0]} twice")
    return Choice(tuple(whole))


def _option(name: str, value: Any, place: str) -> Option:
    if not isinstance(value, dict):
        return Option(value if isinstance(value, str) else to_toml(value), value)
    fixed = {inner: own for inner, own in value.items() if not _is_open(own)}
    parameters = tuple(
        (inner, _entry(f"{name}.{inner}", own, f"{place}.{inner}")[0])
        for inner, own in value.items()
        if _is_open(own)
    )
    return Option(str(fixed.get("type", to_toml(fixed))), fixed, parameters)


def _is_open(value: Any) -> bool:
    """Whether a parameter of an option is chosen as well."""
    return is_span(value) or (isinstance(value, dict) and "choices" in value)


def _beside(
    when: Mapping[str, Any], keys: Mapping[str, Key], place: str
) -> tuple[str, frozenset[str]]:
    """Return the key and the labels of its options beside which another key exists."""
    if len(when) != 1:
        raise InputError(f"{place}.when: found {len(when)} keys; allowed: one")
    ((key, wanted),) = when.items()
    domain = keys[key].domain if key in keys else None
    if not isinstance(domain, Choice):
        above = ", ".join(k for k, own in keys.items() if isinstance(own.domain, Choice)) or "none"
        raise InputError(f"{place}.when: found {key}; allowed: a choice above it, of {above}")
    labels = [option.label for option in domain.options]
    listed = wanted if isinstance(wanted, list) else [wanted]
    texts = [one if isinstance(one, str) else to_toml(one) for one in listed]
    for text in texts:
        if text not in labels:
            raise InputError(f"{place}.when.{key}: found {text}; allowed: {', '.join(labels)}")
    return key, frozenset(texts)
