"""Workloads at an offered rate: those of a configuration, faster or slower."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from copyback._core import InputError, time_ns
from copyback.inputs import configuration
from copyback.words import units

#: Share of the simulated time that is not measured, at its beginning, unless it is said.
RAMP = 0.1


class Load:
    """Workload of a configuration, which can be offered at any rate.

    With one flow it has the whole rate. With more, flow 0 is the probe: it keeps its rate, and the
    others share the rest as they share it in the configuration.

    Parameters
    ----------
    workload
        The resolved workload.
    seconds
        Simulated time of a run, in seconds.
    ramp
        Seconds at its beginning that are not measured; a tenth of it if None.

    Raises
    ------
    InputError
        If a flow has no rate.
    """

    def __init__(self, workload: dict[str, Any], seconds: float, ramp: float | None = None) -> None:
        kind = workload.get("type")
        if kind not in ("synthetic", "flows"):
            raise InputError(
                f'workload.type: found "{kind}"; allowed with --load: "synthetic", "flows"'
            )
        self._flows: list[dict[str, Any]] = workload["flows"] if kind == "flows" else [workload]
        self._seconds = seconds
        self._ramp = seconds * RAMP if ramp is None else ramp
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

    def at(self, offered: float) -> dict[str, Any]:
        """Return the workload at an offered rate, in requests a second of all flows."""
        rest = offered - self.least
        own = self._rates[1:] if len(self._flows) > 1 else self._rates
        factors = [rest / sum(own)] * len(own)
        if len(self._flows) > 1:
            factors.insert(0, 1.0)
        pairs = zip(self._flows, factors, strict=True)
        return {"type": "flows", "flows": [self._timed(*pair) for pair in pairs]}

    def _timed(self, flow: dict[str, Any], factor: float) -> dict[str, Any]:
        """Return a flow that is so many times as fast, and lasts as long as a run."""
        timed = deepcopy(flow)
        _scale(_gaps(timed), factor)
        timed |= {
            "requests": "unlimited",
            "duration": f"{self._seconds * 1e9:.0f}ns",
            "ramp": f"{self._ramp * 1e9:.0f}ns",
        }
        return timed

    def setting(self, offered: float) -> list[tuple[str, str]]:
        """Return the settings that put the workload at an offered rate in place of another."""
        # A choice of another type replaces the whole; one of the same type would be laid over it.
        text = configuration.to_toml(self.at(offered))
        return [("workload", '{ type = "trace" }'), ("workload", text)]


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
