"""The timing parameters that can be fitted: where they are configured, and what they may be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback._core import InputError, rate_bytes_per_s, time_ns
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

#: What a resolved configuration has in the place of a rate that is not limited.
UNLIMITED = "none"


class Quantity(Enum):
    """Quantity that a parameter measures, and the unit that it is fitted in."""

    TIME = "ns"
    RATE = "B/s"

    def read(self, text: str) -> float | None:
        """Return a quantity of a configuration as a number; None if it is without a limit.

        >>> Quantity.TIME.read("25.5us"), Quantity.RATE.read("333MB/s")
        (25500, 333000000)
        """
        return time_ns(text) if self is Quantity.TIME else rate_bytes_per_s(text)

    def shown(self, value: float) -> str:
        """Return a value as people read it."""
        if self is Quantity.TIME:
            return units.time_us(value / 1e3)
        return f"{units.rate(value)}B/s"


@dataclass(frozen=True)
class Parameter:
    """A key of the configuration, and the range in which its value is sought.

    Attributes
    ----------
    least, most
        The range, in the quantity's unit. Fitted on a logarithmic scale, so never zero.
    shares
        Of a list of times, one for each type of page: what each is of their mean. The mean is
        fitted, and they stay as they are. None of a single value.
    """

    key: str
    quantity: Quantity
    least: float
    most: float
    shares: tuple[float, ...] | None = None

    def setting(self, value: float) -> tuple[str, str]:
        """Return the setting that gives the parameter this value."""
        if self.shares is None:
            return self.key, self._written(value)
        return self.key, f"[{', '.join(self._written(value * share) for share in self.shares)}]"

    def _written(self, value: float) -> str:
        return f'"{round(value)}{self.quantity.value}"'

    def of(self, config: Mapping[str, Any]) -> Parameter:
        """Return the parameter as a resolved configuration has it: one value, or a list."""
        found = configured(config, self.key)
        if not isinstance(found, list):
            return self
        times = np.array([time_ns(text) for text in found], dtype=float)
        return replace(self, shares=tuple((times / times.mean()).tolist()))

    @property
    def shown(self) -> str:
        """Text for people: the key, and that it is a mean if it is one."""
        if self.shares is None:
            return self.key
        return f"{self.key} (mean of {len(self.shares)})"

    def start(self, config: Mapping[str, Any]) -> float:
        """Return the value that a resolved configuration has, moved into the range.

        Raises
        ------
        InputError
            If it is not limited.
        """
        found = configured(config, self.key)
        if isinstance(found, list):
            mean = np.mean([time_ns(text) for text in found])
            return float(np.clip(mean, self.least, self.most))
        value = self.quantity.read(found)
        if value is None:
            raise InputError(f'{self.key}: is "none"; --set a rate to start from, or leave it out')
        # A time of zero, the default of an overhead, says nothing about its size.
        return float(np.clip(value or np.sqrt(self.least * self.most), self.least, self.most))


def settings_for(
    parameters: Sequence[Parameter], values: NDArray[np.float64]
) -> list[tuple[str, str]]:
    """Return the settings that give parameters these values."""
    pairs = zip(parameters, values.tolist(), strict=True)
    return [parameter.setting(value) for parameter, value in pairs]


_MS, _MB = 1e6, 1e6

PARAMETERS = {
    parameter.key: parameter
    for parameter in (
        Parameter("ssd.timing.read", Quantity.TIME, 1e3, 20 * _MS),
        Parameter("ssd.timing.program", Quantity.TIME, 5e3, 100 * _MS),
        Parameter("ssd.timing.erase", Quantity.TIME, 50e3, 1000 * _MS),
        Parameter("ssd.timing.transfer_rate", Quantity.RATE, 1 * _MB, 20_000 * _MB),
        Parameter("ssd.buffer.latency", Quantity.TIME, 100, 20 * _MS),
        Parameter("host.command_overhead", Quantity.TIME, 100, 20 * _MS),
        Parameter("host.link_rate", Quantity.RATE, 1 * _MB, 20_000 * _MB),
    )
}

#: Fitted if nothing else is asked for, as far as the configuration has them. Not the erase: only
#: collections show it, and these depend on a history that a trace does not tell.
_USUAL = (
    "ssd.timing.read",
    "ssd.timing.program",
    "ssd.timing.transfer_rate",
    "host.command_overhead",
    "host.link_rate",
)


def starts(config: Mapping[str, Any], parameters: Sequence[Parameter]) -> list[float]:
    """Return the values that parameters start from.

    Raises
    ------
    InputError
        With a line for each that has none.
    """
    found, faults = [], []
    for parameter in parameters:
        try:
            found.append(parameter.start(config))
        except InputError as fault:
            faults.append(str(fault))
    if faults:
        raise InputError("\n".join(faults))
    return found


def configured(config: Mapping[str, Any], key: str) -> Any:
    """Return what a resolved configuration has under a dotted key."""
    value: Any = config
    for name in key.split("."):
        value = value[name]
    return value


def chosen(config: Mapping[str, Any], keys: Sequence[str]) -> list[Parameter]:
    """Return the parameters to fit.

    Parameters
    ----------
    config
        The resolved configuration.
    keys
        What the user asks for; the usual ones if empty.

    Raises
    ------
    InputError
        If a key is named twice or cannot be fitted.
    """
    if not keys:
        keys = [key for key in _USUAL if configured(config, key) != UNLIMITED]
    for key in keys:
        if key not in PARAMETERS:
            raise InputError(f"--fit {key}: can't be fitted; allowed: {', '.join(PARAMETERS)}")
        if keys.count(key) > 1:
            raise InputError(f"--fit {key}: is named twice")
    return [PARAMETERS[key].of(config) for key in keys]
