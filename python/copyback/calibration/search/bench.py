"""Simulation of a drive under loads, and the numbers of a run that are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from copyback._core import Config
from copyback.simulation.driver import Driver
from copyback.simulation.prepared import Start

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from copyback.calibration.search.aim import Numbers
    from copyback.simulation.prepared import Folder
    from copyback.summary import Summary

#: Operations, by the keys of a summary.
OPERATIONS = ("read", "write")

#: Keys of the rates that were served, in requests a second of all flows.
SERVED, WRITTEN = "per_s", "writes_per_s"


class Loads(Protocol):
    """Loads that a drive can be put under.

    Attributes
    ----------
    statistics
        Statistics of a latency, by the keys of a summary.
    quantiles
        Shares of requests at or below a latency that a summary has not, by name.
    """

    @property
    def statistics(self) -> Sequence[str]: ...  # noqa: D102 - an attribute of the class

    @property
    def quantiles(self) -> Mapping[str, float]: ...  # noqa: D102 - an attribute of the class

    def setting(self, place: Any, /) -> list[tuple[str, str]]:
        """Return the settings that put a drive under one of the loads."""


class Bench:
    """A drive whose settings and load vary.

    Parameters
    ----------
    config
        The configuration; its workload is replaced.
    load
        The loads.
    """

    def __init__(self, config: Config, load: Loads) -> None:
        self._toml = config.to_toml()
        self._load = load

    def config(self, settings: Sequence[tuple[str, str]], place: Any) -> Config:
        """Return the configuration of a run.

        Raises
        ------
        InputError
            If the settings do not go together.
        """
        laid = [*self._load.setting(place), *settings]
        return Config.load(toml=self._toml, name="the resolved configuration", settings=laid)

    def simulate(self, settings: Sequence[tuple[str, str]], place: Any, folder: Folder) -> Numbers:
        """Return what a run under a load gives: rates that were served, latencies of flow 0.

        Parameters
        ----------
        folder
            Where prepared drives are kept.

        Raises
        ------
        InputError
            If the settings do not go together.
        SimulationError
            If the drive cannot go on.
        """
        config = self.config(settings, place)
        name = config.prepared_name
        start = None if name is None else Start(folder, name)
        driver = Driver(config, start=start)
        driver.run()
        spread = driver.simulation.distributions()
        return _numbers(driver.summary("copyback calibrate"), spread, self._load)


def _numbers(
    summary: Summary,
    spread: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    load: Loads,
) -> Numbers:
    stored = summary.to_dict()
    flows = stored.get("flows")
    # A run of one flow has no flows of its own.
    responses = (flows[0] if flows else stored)["response_us"]
    requests, served = stored["requests"], stored["throughput"]["iops"] or 0.0
    writes = requests["writes"] / requests["count"] if requests["count"] else 0.0
    numbers = {SERVED: served, WRITTEN: served * writes}
    for operation in OPERATIONS:
        found = responses.get(operation)
        if found and found["count"]:
            numbers |= {f"{operation}_{name}": found[name] for name in load.statistics}
            times, shares = spread[f"flow_0_{operation}" if flows else operation]
            for name, share in load.quantiles.items():
                numbers[f"{operation}_{name}"] = float(times[np.searchsorted(shares, share)])
    return numbers
