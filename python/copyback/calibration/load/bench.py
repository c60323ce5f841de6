"""Simulation of a drive at offered rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from copyback._core import Config
from copyback.calibration.load.table import OPERATIONS, QUANTILES, STATISTICS
from copyback.simulation.driver import Driver
from copyback.simulation.prepared import Start

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from copyback.calibration.load.workload import Load
    from copyback.simulation.prepared import Folder
    from copyback.summary import Summary

#: Keys of the rates that were served, in requests a second of all flows.
SERVED, WRITTEN = "per_s", "writes_per_s"

#: Simulated numbers at a rate: latencies of flow 0 by metric, and rates that were served.
Numbers = dict[str, float]


class Bench:
    """A drive whose settings and load vary.

    Parameters
    ----------
    config
        The configuration; its workload is replaced.
    load
        The workload.
    folder
        Where prepared drives are kept.
    """

    def __init__(self, config: Config, load: Load, folder: Folder) -> None:
        self._toml = config.to_toml()
        self._load = load
        self._folder = folder

    def config(self, settings: Sequence[tuple[str, str]], offered: float) -> Config:
        """Return the configuration of a run.

        Raises
        ------
        InputError
            If the settings do not go together.
        """
        laid = [*self._load.setting(offered), *settings]
        return Config.load(toml=self._toml, name="the resolved configuration", settings=laid)

    def simulate(self, settings: Sequence[tuple[str, str]], offered: float) -> Numbers:
        """Return what a run at an offered rate gives.

        Raises
        ------
        InputError
            If the settings do not go together.
        SimulationError
            If the drive cannot go on.
        """
        config = self.config(settings, offered)
        name = config.prepared_name
        start = None if name is None else Start(self._folder, name)
        driver = Driver(config, start=start)
        driver.run()
        spread = driver.simulation.distributions()
        return _numbers(driver.summary("copyback calibrate"), spread)


def _numbers(
    summary: Summary, spread: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
) -> Numbers:
    stored = summary.to_dict()
    flows = stored["flows"]
    # A run of one flow has no flows of its own.
    responses = (flows[0] if flows else stored)["response_us"]
    requests, served = stored["requests"], stored["throughput"]["iops"] or 0.0
    share = requests["writes"] / requests["count"] if requests["count"] else 0.0
    numbers = {SERVED: served, WRITTEN: served * share}
    for operation in OPERATIONS:
        found = responses.get(operation)
        if found and found["count"]:
            numbers |= {f"{operation}_{name}": found[name] for name in STATISTICS}
            times, shares = spread[f"flow_0_{operation}" if flows else operation]
            for name, share in QUANTILES.items():
                numbers[f"{operation}_{name}"] = float(times[np.searchsorted(shares, share)])
    return numbers
