"""A configuration in the making, which remembers where each value came from and what was lost."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from copyback.inputs.configuration import to_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback.importers.parameter import Parameter, Parameters

#: Words after which a line of the header is broken.
_WIDTH = 96


@dataclass
class Draft:
    """Keys of ours with their values, and what is to be said of the parameters they are from."""

    #: What was read, for the header: "MQSim's ssdconfig.xml".
    origin: str
    #: The file.
    path: str
    #: By our key, dotted.
    values: dict[str, Any] = field(default_factory=dict)
    #: By our key: the parameters that it is from.
    sources: dict[str, str] = field(default_factory=dict)
    #: What the file of the drive gives, by name.
    parameters: dict[str, Parameter] = field(default_factory=dict)
    #: By a key of the load, dotted: the parameter that it is from.
    flow_parameters: dict[str, Parameter] = field(default_factory=dict)
    #: What will surprise whoever runs it as it is.
    warnings: list[str] = field(default_factory=list)
    #: What a parameter means here is not quite what it means there.
    approximated: list[tuple[str, str]] = field(default_factory=list)
    #: What nothing here stands for, or what has no effect.
    lost: list[tuple[str, str]] = field(default_factory=list)

    def set(self, key: str, value: Any, *names: str) -> None:
        """Carry parameters over: one key of ours, from these."""
        self.values[key] = value
        if names:
            self.sources[key] = ", ".join(names)

    def warn(self, what: str) -> None:
        """Say what will surprise whoever runs it as it is."""
        self.warnings.append(what)

    def approximate(self, name: str, why: str) -> None:
        """Say how a key that was set differs from what the parameter means."""
        self.approximated.append((name, why))

    def lose(self, name: str, why: str) -> None:
        """Say that a parameter is not carried over."""
        self.lost.append((name, why))

    def finish(self, parameters: Parameters, simulator: str) -> None:
        """Keep what a file gives; say what it leaves out, and what of it nobody knows."""
        self.parameters = parameters.written
        for name, value in parameters.assumed:
            self.approximate(name, f"not in the file; {simulator}'s own default, {value}, is taken")
        for parameter in parameters.rest():
            self.lose(parameter.name, f"no parameter of {simulator} that is known here")

    def nested(self) -> dict[str, Any]:
        """Return the configuration as a dictionary of tables."""
        root: dict[str, Any] = {}
        for key, value in self.values.items():
            *tables, last = key.split(".")
            table = root
            for name in tables:
                table = table.setdefault(name, {})
            table[last] = value
        return root

    def report(self) -> Iterator[str]:
        """Yield the warnings, and a line about each parameter that was approximated or lost."""
        for what in self.warnings:
            yield f"warning: {what}"
        for name, why in self.approximated:
            yield f"approximated: {name}: {why}"
        for name, why in self.lost:
            yield f"not carried over: {name}: {why}"

    def to_toml(self) -> str:
        """Return the configuration as a file, with what it is from as comments."""
        return "\n".join([*self._header(), *self._tables(), ""])

    def _header(self) -> Iterator[str]:
        yield f"# Made by `copyback import` from {self.origin}."
        yield "# What each key is from stands behind it."
        for what in self.warnings:
            yield "#"
            yield from _wrapped(f"Warning: {what}.")
        for title, entries in (
            ("Approximated:", self.approximated),
            ("Not carried over:", self.lost),
        ):
            if entries:
                yield "#"
                yield f"# {title}"
            for name, why in entries:
                yield from _wrapped(f"- {name}: {why}.")

    def _tables(self) -> Iterator[str]:
        tables: dict[str, list[str]] = {}
        for key in self.values:
            table, _, last = key.rpartition(".")
            tables.setdefault(table, []).append(last)
        for table, names in sorted(tables.items(), key=lambda item: item[0] != ""):
            yield ""
            if table:
                yield f"[{table}]"
            for name in names:
                yield from self._entry(f"{table}.{name}" if table else name, name)

    def _entry(self, key: str, name: str) -> Iterator[str]:
        value = self.values[key]
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for item in value:
                yield f"\n[[{key}]]"
                yield from (f"{inner} = {to_toml(held)}" for inner, held in item.items())
            return
        source = f"  # {self.sources[key]}" if key in self.sources else ""
        yield f"{name} = {to_toml(value)}{source}"


def _wrapped(text: str) -> Iterator[str]:
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    for index, line in enumerate(textwrap.wrap(text, _WIDTH, break_on_hyphens=False)):
        yield f"# {'' if index == 0 else '  '}{line}"


def time(ns: int) -> str:
    """Return a time in the largest unit that has it as a whole number.

    >>> time(75_000), time(3_800_000), time(361), time(10_000_000_000)
    ('75us', '3800us', '361ns', '10s')
    """
    for unit, name in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if ns and ns % unit == 0:
            return f"{ns // unit}{name}"
    return f"{ns}ns"


def size(count: int) -> str:
    """Return a size in the largest unit that has it as a whole number.

    >>> size(8192), size(268_435_456), size(448)
    ('8KiB', '256MiB', '448B')
    """
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if count and count % unit == 0:
            return f"{count // unit}{name}"
    return f"{count}B"
