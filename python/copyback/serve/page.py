"""The summary and page of a served drive: those of its log, run again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from copyback._core import SimulationError
from copyback.data import REQUESTS
from copyback.data.outputs import write_result
from copyback.data.parquet import read_parquet
from copyback.inputs import configuration
from copyback.process import cores
from copyback.serve import told
from copyback.serve.facts import facts, replayed
from copyback.serve.log import read
from copyback.serve.replay import differing
from copyback.simulation.driver import Driver

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback._core import Config
    from copyback.data.outputs import Staging
    from copyback.result import Result
    from copyback.serve.run import Options

    #: Gives the configuration that was served, with more settings.
    Load = Callable[[list[tuple[str, str]]], Config]


def write(
    load: Load, options: Options, status: dict[str, Any], staging: Staging, command: str
) -> Result:
    """Run the log again and write what a run writes; its responses must be those of the log.

    Parameters
    ----------
    load
        Gives the configuration with more settings.
    """
    path = options.log
    assert path is not None, "a page is that of a log"
    settings = [
        *configuration.trace_settings(path.absolute(), None),
        ("metrics.requests", "true"),
    ]
    config = load(settings)
    if more := replayed(config):
        config = load([*settings, *more])
    notes = [f"a drive that was served, {options.slower:g} times slower than real time"]
    notes += told.lateness(status["lateness"])
    driver = Driver(config, state=options.state, notes=notes, threads=cores())
    result = driver.run_into(staging.path, command)
    others = differing(read(path), read_parquet(staging.path / REQUESTS))
    if others:
        raise SimulationError(
            f"internal error: {others} responses of the replay of {path} are not those that were "
            f"served: {json.dumps(facts(path))}"
        )
    write_result(result, staging.path)
    staging.publish()
    return result
