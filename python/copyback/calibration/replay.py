"""Simulates a trace on one device, again and again, with other values of its timing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from copyback._core import Config
from copyback.calibration.measured import Times
from copyback.data.parquet import RowKeeper
from copyback.inputs import configuration
from copyback.simulation.driver import Driver
from copyback.simulation.simulate import save_state

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: The order of rows, whatever the order in which the simulated requests end.
ORDER = ("arrival_ns", "offset", "bytes", "operation", "measured_response_ns")


class Replay:
    """A device whose timing varies.

    The device is prepared once: timing decides nothing of its state.

    Parameters
    ----------
    config
        The configuration; its workload is replaced.
    times
        What is compared.
    directory
        Where to keep the prepared device.
    """

    def __init__(self, config: Config, times: Times, directory: Path) -> None:
        self._toml = config.to_toml()
        self._times = times
        self._state = save_state(config, directory / f"{config.state_digest}.state")

    def simulate(self, trace: Path, settings: Sequence[tuple[str, str]]) -> pl.DataFrame:
        """Simulate a trace and return its requests that can be compared.

        Parameters
        ----------
        trace
            A Parquet trace.
        settings
            Laid over the configuration.

        Returns
        -------
        polars.DataFrame
            ``arrival_ns``, ``operation``, ``offset``, ``bytes``, ``measured_us`` and
            ``simulated_us``, a row a request, in an order that no timing changes.
        """
        laid = [
            *configuration.trace_settings(trace, "parquet"),
            ("metrics.requests", "true"),
            ("stop", '"none"'),
            *settings,
        ]
        config = Config.load(toml=self._toml, name="the resolved configuration", settings=laid)
        kept = RowKeeper()
        Driver(config, state=self._state).run(on_rows={"requests": kept.add})
        rows = pl.DataFrame(kept.table())
        simulated = pl.col("response_ns")
        if self._times is Times.SERVICE:
            simulated = simulated - pl.col("host_queue_ns")
        return (
            rows.with_columns(pl.col("operation").cast(pl.String))
            .filter(pl.col("measured_response_ns").is_not_null())
            .sort(ORDER)
            .select(
                "arrival_ns",
                "operation",
                "offset",
                "bytes",
                measured_us=pl.col("measured_response_ns") / 1e3,
                # Nothing is faster than the clock of the simulation.
                simulated_us=simulated.clip(lower_bound=1) / 1e3,
            )
        )
