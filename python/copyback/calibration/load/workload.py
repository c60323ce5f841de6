"""Workloads at an offered rate: those of a configuration, faster or slower."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from copyback._core import InputError, size_bytes, time_ns
from copyback.calibration.load.table import QUANTILES, STATISTICS
from copyback.inputs import configuration
from copyback.words import units

if TYPE_CHECKING:
    from copyback._core import Config

#: Least time before anything is measured, as a share of the time that is.
RAMP = 0.1

#: Share of a prepared drive that is written before anything is measured. Meanwhile its free space
#: becomes that of this load: preparation leaves as much as collections keep free in idle time.
SETTLED = 0.02

#: Bytes of a request whose size is drawn, at least.
SMALLEST = 4096


@dataclass(frozen=True)
class Settling:
    """Time and requests before anything is measured.

    Attributes
    ----------
    written
        Bytes that are written.
    most
        Requests a second that the drive serves at most, whatever is offered.
    ramp
        Seconds, whatever is written; None if that decides.
    """

    written: float = 0.0
    most: float = inf
    ramp: float | None = None

    @classmethod
    def of(cls, config: Config, most: float = inf, ramp: float | None = None) -> Settling:
        """Return that of a prepared drive."""
        return cls(SETTLED * config.capacity_bytes, most, ramp)


class Load:
    """Workload of a configuration, which can be offered at any rate.

    With one flow it has the whole rate. With more, flow 0 is the probe: it keeps its rate, and the
    others share the rest as they share it in the configuration.

    Parameters
    ----------
    workload
        The resolved workload.
    seconds
        Simulated time that is measured of a run, in seconds.
    settling
        What comes before.

    Raises
    ------
    InputError
        If a flow has no rate.
    """

    statistics = STATISTICS
    quantiles = QUANTILES

    def __init__(
        self, workload: dict[str, Any], seconds: float, settling: Settling | None = None
    ) -> None:
        kind = workload.get("type")
        if kind not in ("synthetic", "flows"):
            raise InputError(
                f'workload.type: found "{kind}"; allowed with --load: "synthetic", "flows"'
            )
        self._flows: list[dict[str, Any]] = workload["flows"] if kind == "flows" else [workload]
        self._seconds = seconds
        self._settling = settling or Settling()
        keys = [f"workload.flows[{place}]" for place in range(len(self._flows))]
        names = keys if kind == "flows" else ["workload"]
        self._rates = [_rate(*pair) for pair in zip(self._flows, names, strict=True)]

    @property
    def least(self) -> float:
        """Rate that any offered rate must exceed: that of the probe, if others share the rest."""
        return self._rates[0] if len(self._flows) > 1 else 0.0

    @property
    def operations(self) -> set[str]:
        """Operations of the flow whose latencies are compared."""
        share = self._flows[0].get("read_share", 0.0)
        asked = {"read": share > 0.0, "write": share < 1.0}
        return {operation for operation, is_asked in asked.items() if is_asked}

    def written(self, offered: float) -> float:
        """Return the bytes a second that are written at an offered rate, or fewer."""
        flows = zip(self._flows, self._rates, self._factors(offered), strict=True)
        return sum(rate * factor * _written(flow) for flow, rate, factor in flows)

    def at(self, offered: float) -> dict[str, Any]:
        """Return the workload at an offered rate, in requests a second of all flows."""
        pairs = zip(self._flows, self._factors(offered), strict=True)
        ramp = self._ramp(offered)
        return {"type": "flows", "flows": [self._timed(*pair, ramp) for pair in pairs]}

    def _factors(self, offered: float) -> list[float]:
        """Return how many times as fast each flow is at an offered rate."""
        own = self._rates[1:] if len(self._flows) > 1 else self._rates
        factors = [(offered - self.least) / sum(own)] * len(own)
        return [1.0, *factors] if len(self._flows) > 1 else factors

    def _ramp(self, offered: float) -> float:
        """Return the seconds before anything is measured."""
        if self._settling.ramp is not None:
            return self._settling.ramp
        written, least = self.written(offered), RAMP * self._seconds
        if not written:
            return least
        return max(
            least, self._settling.written / (written * min(1.0, self._settling.most / offered))
        )

    def _timed(self, flow: dict[str, Any], factor: float, ramp: float) -> dict[str, Any]:
        """Return a flow that is so many times as fast, and lasts as long as a run."""
        timed = deepcopy(flow)
        _scale(_gaps(timed), factor)
        timed |= {
            "requests": "unlimited",
            "duration": f"{(ramp + self._seconds) * 1e9:.0f}ns",
            "ramp": f"{ramp * 1e9:.0f}ns",
        }
        return timed

    def setting(self, offered: float) -> list[tuple[str, str]]:
        """Return the settings that put the workload at an offered rate in place of another."""
        # A choice of another type replaces the whole; one of the same type would be laid over it.
        text = configuration.to_toml(self.at(offered))
        return [("workload", '{ type = "trace" }'), ("workload", text)]


def _written(flow: dict[str, Any]) -> float:
    """Return the bytes that a request of a flow writes on average, or fewer."""
    size = flow.get("request_size")
    of_writes = size_bytes(size) if isinstance(size, str) else SMALLEST
    return float(of_writes * (1.0 - flow.get("read_share", 0.0)))


def _gaps(flow: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the table with the time between requests, and its key."""
    rate = flow.get("rate")
    if isinstance(rate, dict) and rate.get("type") == "requests":
        return rate, "gap"
    return flow, "inter_arrival"


def _rate(flow: dict[str, Any], name: str) -> float:
    """Return the requests a second of a flow."""
    table, key = _gaps(flow)
    gap = table.get(key)
    text = gap.get("mean") if isinstance(gap, dict) else gap
    if not isinstance(text, str) or flow.get("bursts", "none") != "none":
        raise InputError(
            f"{name}: found no steady rate; allowed with --load: inter_arrival, or "
            'rate = { type = "requests", gap = TIME }, as a time or with a mean, and no bursts'
        )
    mean = time_ns(text) * (flow.get("time_scale", 1.0) if key == "inter_arrival" else 1.0)
    if mean <= 0:
        raise InputError(f"{name}: {key}: found {text}; allowed with --load: a time above 0")
    return 1e9 / mean


def _scale(gaps: tuple[dict[str, Any], str], factor: float) -> None:
    table, key = gaps
    gap = table[key]
    if isinstance(gap, dict):
        gap["mean"] = _slower(gap["mean"], factor)
    else:
        table[key] = _slower(gap, factor)


def _slower(text: str, factor: float) -> str:
    return f"{max(round(time_ns(text) / factor), 1)}ns"


def below(offered: float, least: float, place: str) -> InputError:
    """Return the fault of a rate that leaves the other flows nothing."""
    found, most = units.count(offered), units.count(least)
    return InputError(
        f"{place}: rate: found {found}; allowed: more than {most}, the rate of flow 0"
    )
