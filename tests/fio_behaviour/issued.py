"""Requests that the simulated host issued, a flow each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import copyback
from copyback._core import Config
from copyback.fio import read_job_file
from copyback.inputs.configuration import to_toml

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

#: What a run may be on: a preset, and settings of it.
Drive = tuple[str | None, dict[str, Any]]


@dataclass(frozen=True)
class Issued:
    """Requests in order of arrival; times in ns."""

    arrival: NDArray[np.int64]
    end: NDArray[np.int64]
    operation: NDArray[np.str_]
    offset: NDArray[np.int64]
    size: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.arrival)

    def of(self, operation: str) -> Issued:
        """Return the requests of one operation."""
        return self.where(self.operation == operation)

    def where(self, keep: NDArray[np.bool_]) -> Issued:
        """Return some of the requests."""
        return Issued(
            self.arrival[keep],
            self.end[keep],
            self.operation[keep],
            self.offset[keep],
            self.size[keep],
        )

    @property
    def moved(self) -> Issued:
        """Reads, writes and trims, without flushes."""
        return self.where(self.operation != "flush")


def capacity(drive: Drive) -> int:
    """Return the bytes of a drive."""
    preset, settings = drive
    return Config.load(config_of(settings), preset=preset).capacity_bytes


def config_of(settings: dict[str, Any]) -> str:
    """Return settings as the text of a configuration."""
    return "\n".join(f"{key} = {to_toml(value)}" for key, value in settings.items())


def run(path: Path, drive: Drive) -> list[Issued]:
    """Run a job file on a drive that has never been written; return each flow's requests.

    Raises
    ------
    InputError
        If the job file is refused.
    """
    preset, settings = drive
    job = read_job_file(path, capacity(drive))
    unwritten = {"fill": 0.0, "overwrites": 0.0}
    config = settings | {"workload": job.workload, "precondition": unwritten}
    rows = copyback.run(config, preset=preset, seed=job.seed, requests=True).to_polars("requests")
    by_flow = rows.partition_by("flow", as_dict=True, maintain_order=True)
    flows = len(job.workload.get("flows", [job.workload]))
    return [_of_flow(by_flow.get((flow,), rows.clear())) for flow in range(flows)]


def _of_flow(rows: pl.DataFrame) -> Issued:
    rows = rows.sort("arrival_ns", maintain_order=True)
    arrival = rows["arrival_ns"].to_numpy().astype(np.int64)
    return Issued(
        arrival,
        arrival + rows["response_ns"].to_numpy().astype(np.int64),
        rows["operation"].cast(pl.String).to_numpy().astype(np.str_),
        rows["offset"].to_numpy().astype(np.int64),
        rows["bytes"].to_numpy().astype(np.int64),
    )
