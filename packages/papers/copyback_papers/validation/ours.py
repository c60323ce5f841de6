"""Our side of a row: the same requests, run here."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.simulation.simulate import run as simulate
from copyback_papers.validation.stored import Numbers, Responses, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PAGE_BYTES = {"4KiB": 4096, "8KiB": 8192, "16KiB": 16384}


def run(row: Row) -> Numbers:
    """Run a row here."""
    with TemporaryDirectory(prefix="copyback-validate-") as directory:
        trace = Path(directory) / "load.trace"
        row.load.write(trace, PAGE_BYTES[row.config["ssd"]["geometry"]["page_size"]])
        result = simulate(configured(row, trace))
    table = result.requests
    assert table is not None  # the configuration keeps them
    flash = result.summary.flash
    responses = np.asarray(table["response_ns"])
    reads = np.asarray(table["operation"]) == "read"
    return Numbers(
        reads=responses_of(responses[reads]),
        writes=responses_of(responses[~reads]),
        page_reads=flash.reads + flash.copybacks,
        page_programs=flash.programs + flash.copybacks,
        erases=flash.erases,
    )


def configured(row: Row, trace: Path) -> dict[str, Any]:
    """Return the configuration of a row, with the trace as its workload."""
    workload: dict[str, Any] = {
        "type": "trace",
        "path": str(trace),
        "format": "mqsim",
        "ramp": f"{row.load.begins_ns() if row.iodepth is None else 0}ns",
        "beyond_device": "refuse",
    }
    if row.iodepth is not None:
        workload["iodepth"] = row.iodepth
    return {**row.config, "metrics": {"requests": True}, "workload": workload}


def responses_of(nanoseconds: NDArray[Any] | Sequence[int]) -> Responses | None:
    """Return what is told of responses: the smallest that so large a share does not exceed."""
    ordered = np.sort(np.asarray(nanoseconds)).astype(float) / 1000
    if not len(ordered):
        return None
    p99, p99_9 = (ordered[math.ceil(share * len(ordered)) - 1] for share in (0.99, 0.999))
    mean = float(ordered.mean())
    return Responses(len(ordered), round(mean, 3), round(float(p99), 3), round(float(p99_9), 3))
