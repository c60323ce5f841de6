"""Reads the options of one job, and keeps what is to be told about it."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from copyback._core import InputError
from copyback.fio import engines, values
from copyback.fio.options import (
    MEANT,
    NOT_SIMULATED,
    REFUSED,
    WITHOUT_EFFECT,
    ZERO_IS_NONE,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from copyback.fio.engines import Engine
    from copyback.fio.jobfile import Option, Section

ValueT = TypeVar("ValueT")

_VARIABLE = re.compile(r"\$\{([^}]*)\}")

#: Zero, in any unit, for all operations.
_ZERO = re.compile(r"0+[a-z%]*(,0+[a-z%]*)*", re.IGNORECASE)


@dataclass
class Reader:
    """Reads the options of one job."""

    section: Section
    capacity: int
    path: Path
    notes: list[str] = field(default_factory=list)

    @property
    def options(self) -> dict[str, Option]:
        """The options by name, in order, but for those that say nothing."""
        options = self.section.options
        return {name: o for name, o in options.items() if not _says_nothing(name, o)}

    @property
    def engine(self) -> Engine:
        """The engine, one that is taken."""
        return engines.ENGINES[self.text("ioengine") or engines.DEFAULT]

    def refused(self) -> list[str]:
        """Return a line for each option that cannot be followed; one, if it is the engine."""
        engine = self.text("ioengine")
        if engine is not None and engine not in engines.ENGINES:
            why = engines.REFUSED.get(engine)
            about = f", which {why}" if why else f"; allowed: {', '.join(engines.ENGINES)}"
            return [str(self.fault("ioengine", f"found {engine}{about}"))]
        if self.text("zonemode") == "zbd":
            return [str(self.fault("zonemode", "found zbd: zoned devices are not simulated"))]
        known = MEANT | WITHOUT_EFFECT | NOT_SIMULATED.keys()
        return [
            str(self.fault(name, REFUSED.get(name) or _unknown(name)))
            for name in self.options
            if name not in known
        ]

    def last_of(self, *names: str) -> str | None:
        """Return which of some options comes last, as that counts; None if there is none."""
        return next((name for name in reversed(self.options) if name in names), None)

    def text(self, name: str) -> str | None:
        """Return an option's text with variables of the environment filled in; None without it.

        Raises
        ------
        InputError
            If the environment lacks a variable.
        """
        option = self.options.get(name)
        if option is None or option.text is None:
            return None
        missing = [v for v in _VARIABLE.findall(option.text) if v not in os.environ]
        if missing:
            problem = f"found {option.text}; the environment has no variable {missing[0]}"
            raise self.fault(name, problem)
        return _VARIABLE.sub(lambda match: os.environ[match[1]], option.text)

    def value(self, name: str, read: Callable[[str], ValueT], default: ValueT) -> ValueT:
        """Return what `read` makes of an option; faults get the place."""
        if name not in self.options:
            return default
        text = self.text(name) or ""
        try:
            return read(text)
        except InputError as fault:
            raise self.fault(name, str(fault)) from None

    def whole(self, name: str, default: int = 0, least: int = 0) -> int:
        """Return a whole number."""
        return self.value(name, lambda text: values.whole(text, least), default)

    def extent(self, name: str, default: int) -> int:
        """Return a size in bytes; per cent are of the device."""
        return self.value(name, lambda text: values.size_or_share(text, self.capacity), default)

    def is_share(self, name: str) -> bool:
        """Whether a size is in per cent."""
        return (self.text(name) or "").endswith("%")

    def begin(self, clone: int, block: int = 1) -> int:
        """Return where a clone begins in its file: in per cent, at the next whole block."""
        begin = self.extent("offset", 0) + clone * self.extent("offset_increment", 0)
        if self.is_share("offset") or self.is_share("offset_increment"):
            return -(-begin // block) * block
        return begin

    def seconds(self, name: str) -> float:
        """Return a time in seconds; 0 without it."""
        return self.value(name, values.seconds, 0.0)

    def is_set(self, name: str) -> bool:
        """Whether a switch is there and on."""
        option = self.options.get(name)
        if option is None:
            return False
        try:
            return values.flag(None if option.text is None else self.text(name))
        except InputError as fault:
            raise self.fault(name, str(fault)) from None

    def fault(self, name: str, problem: str) -> InputError:
        """Return a fault of an option, with its place, or that of the job if it has none."""
        option = self.options.get(name)
        path, line = (option.path, option.line) if option else (self.path, self.section.line)
        prefix = f"{path}:{line}: {name}: "
        return InputError(problem if problem.startswith(prefix) else prefix + problem)


def _says_nothing(name: str, option: Option) -> bool:
    return name in ZERO_IS_NONE and _ZERO.fullmatch(option.text or "") is not None


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, MEANT, n=1)
    return "this option of fio's is not supported" + (
        f"; did you mean {close[0]}?" if close else ""
    )
