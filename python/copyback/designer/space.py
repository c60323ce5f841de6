"""Space of a study: keys, what each may be, and which exist only beside a choice of another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from copyback._core import InputError
from copyback.inputs.configuration import setting_value, to_toml
from copyback.sweep.axes import value_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from copyback.sweep.axes import Point
    from copyback.sweep.bounds import Range

#: Significant digits of a number that is drawn: it is written into a configuration.
DIGITS = 3


class Chooser(Protocol):
    """Chooser of values: a trial of Optuna, or draws at random."""

    def suggest_categorical(self, name: str, choices: tuple[str, ...]) -> Any:
        """Choose one of some labels."""

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        """Choose a whole number."""

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        """Choose a number."""


@dataclass(frozen=True)
class Span:
    """Numbers, times, sizes or rates between two ends."""

    range: Range
    is_log: bool

    def choose(self, name: str, chooser: Chooser, picks: dict[str, Any]) -> Any:
        """Return a value as a configuration has it."""
        low, high, step = self.range.least, self.range.most, self.range.step
        if self.range.is_whole:
            chosen: float = chooser.suggest_int(
                name, int(low) // step, int(high) // step, log=self.is_log
            )
        else:
            chosen = chooser.suggest_float(name, low, high, log=self.is_log)
        picks[name] = chosen
        return self.value_of(chosen)

    def value_of(self, pick: float) -> Any:
        """Return a value as a configuration has it; of sizes the pick counts pages."""
        return setting_value(self.range.text(self._rounded(pick * self.range.step)))

    def _rounded(self, value: float) -> float:
        """Return a value in few digits, within the ends; sizes stay multiples of their pages."""
        if self.range.step > 1 or (self.range.is_whole and self.range.most < 10**DIGITS):
            return value
        return min(max(float(f"{value:.{DIGITS}g}"), self.range.least), self.range.most)


@dataclass(frozen=True)
class Option:
    """Option of a choice.

    Attributes
    ----------
    label
        Names it among the options.
    value
        What the configuration has, but for what `parameters` add to the table.
    parameters
        What is chosen only beside this option, by the name in its table.
    """

    label: str
    value: Any
    parameters: tuple[tuple[str, Domain], ...] = ()

    @property
    def type(self) -> Any:
        """Type of its value."""
        return type_of(self.value)

    def choose(self, name: str, chooser: Chooser, picks: dict[str, Any]) -> Any:
        """Return its value with all parameters."""
        if not self.parameters:
            return self.value
        inside = {
            inner: domain.choose(f"{name}.{self.label}.{inner}", chooser, picks)
            for inner, domain in self.parameters
        }
        return {**self.value, **inside}


@dataclass(frozen=True)
class Choice:
    """Choice of one of some options."""

    options: tuple[Option, ...]

    def choose(self, name: str, chooser: Chooser, picks: dict[str, Any]) -> Any:
        """Return the value of an option."""
        labels = tuple(option.label for option in self.options)
        label = chooser.suggest_categorical(name, labels)
        picks[name] = label
        return self.options[labels.index(label)].choose(name, chooser, picks)

    def named(self, value: Any) -> tuple[Option, ...]:
        """Return the options that are a value, or else those of its type if it says no more."""
        same = tuple(one for one in self.options if one.value == value and not one.parameters)
        if same or isinstance(value, dict):
            return same
        return tuple(one for one in self.options if one.type == value)


Domain = Span | Choice


@dataclass(frozen=True)
class Key:
    """Key of the configuration that the study chooses.

    Attributes
    ----------
    beside
        The key, and the labels of its options, beside which this one exists; None if it always
        does.
    """

    key: str
    domain: Domain
    beside: tuple[str, frozenset[str]] | None = None

    def exists(self, picks: Mapping[str, Any]) -> bool:
        """Whether the key exists beside what has been chosen before it."""
        return self.beside is None or picks.get(self.beside[0]) in self.beside[1]


@dataclass(frozen=True)
class Design:
    """One design: a point of the space.

    Attributes
    ----------
    point
        The keys and the texts of their values, as a sweep has them.
    picks
        What the chooser chose, by the name of each choice and parameter; of sizes how many pages.
    """

    point: Point
    picks: Mapping[str, Any]

    def __hash__(self) -> int:
        return hash(self.point)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.point == other.point


@dataclass(frozen=True)
class Space:
    """All designs of a study. A key stands behind the key beside which it exists."""

    keys: tuple[Key, ...]

    def choose(self, chooser: Chooser) -> Design:
        """Return the design that a chooser chooses, key by key."""
        picks: dict[str, Any] = {}
        point = []
        for key in self.keys:
            if key.exists(picks):
                value = key.domain.choose(key.key, chooser, picks)
                point.append((key.key, text_of(value, key.key)))
        return Design(tuple(point), picks)

    def without(self, design: Design, key: str) -> Design:
        """Return a design without its choice for a key, and without what exists beside that."""
        gone = self._with_dependent(key)
        kept = tuple((own, text) for own, text in design.point if own not in gone)
        picks = {name: pick for name, pick in design.picks.items() if owner(name, gone) is None}
        return Design(kept, picks)

    def with_fixed(self, key: str, value: Any) -> Space:
        """Return the space in which a key has one value, and nothing exists beside others of it.

        What is chosen beside a value that is an option of the space stays: its parameters if no
        more than its type is given, and other keys.
        """
        own = self._choice(key)
        options = own.named(value) if own is not None else ()
        if options:
            return self._with(key, Choice(options))
        fixed = Key(key, Choice((Option(text_of(value, key), value),)))
        gone = self._with_dependent(key)
        return Space((fixed, *(one for one in self.keys if one.key not in gone)))

    def without_option(self, key: str, value: Any) -> Space:
        """Return the space in which a key has no option of the type of a value.

        Raises
        ------
        InputError
            If nothing is left, or the key is a range.
        """
        if key not in [one.key for one in self.keys]:
            return self
        own = self._choice(key)
        left = tuple(one for one in own.options if one.type != type_of(value)) if own else ()
        if not left:
            raise InputError(
                f"space.{key}: has nothing but what is to be compared with its absence; "
                "allowed: a choice between that and others"
            )
        return self._with(key, Choice(left))

    def _choice(self, key: str) -> Choice | None:
        """Return what a key is chosen from; None of a range, and of a key outside the space."""
        found = next((one.domain for one in self.keys if one.key == key), None)
        return found if isinstance(found, Choice) else None

    def _with(self, key: str, domain: Choice) -> Space:
        """Return the space with other options of a key, without what exists beside none of them."""
        labels = {option.label for option in domain.options}
        beside = [(one, one.beside) for one in self.keys if one.beside is not None]
        gone = self._with_dependent(
            *(one.key for one, (other, of) in beside if other == key and not of & labels)
        )
        kept = (one for one in self.keys if one.key not in gone)
        return Space(tuple(replace(one, domain=domain) if one.key == key else one for one in kept))

    def _with_dependent(self, *keys: str) -> set[str]:
        """Return some keys, and all that exist only beside one of their options, or of theirs."""
        found = set(keys)
        for one in self.keys:  # in the order in which they are chosen
            if one.beside is not None and one.beside[0] in found:
                found.add(one.key)
        return found


def owner(name: str, keys: set[str]) -> str | None:
    """Return the key that a choice or parameter belongs to, of some keys.

    >>> owner("ssd.gc.victim.rga.d", {"ssd.gc.victim", "ssd.gc.width"})
    'ssd.gc.victim'
    """
    return next((key for key in keys if name == key or name.startswith(f"{key}.")), None)


def type_of(value: Any) -> Any:
    """Return the type of a choice, with a policy in Python which one; else the value itself.

    >>> type_of({"type": "rga", "d": 7}), type_of("rga"), type_of(True)
    ('rga', 'rga', True)
    """
    if not isinstance(value, dict):
        return value
    return value.get("policy", value.get("type", value))


def text_of(value: Any, key: str) -> str:
    """Return a value as a sweep has it."""
    return to_toml(value) if isinstance(value, dict) else value_text(value, key)
