"""Each flow's own results in words and rows, for terminal, page and fio's JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from copyback.words import describe, units, verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from copyback.result import Result
    from copyback.summary import FlowSummary

#: What a cell says where the number cannot be told of one flow.
SHARED = "shared"


@dataclass(frozen=True)
class Flow:
    """One of several flows.

    Attributes
    ----------
    index
        Its place in `workload.flows`.
    name
        What it is called: its name, or its number.
    config
        Its table of the configuration.
    summary
        Its item of `flows` in `summary.json`.
    """

    index: int
    name: str
    config: Mapping[str, Any]
    summary: FlowSummary

    @property
    def label(self) -> str:
        """Name of the flow in a figure: a number alone says nothing there."""
        return f"flow {self.index}" if self.name == str(self.index) else self.name

    @property
    def curves(self) -> str:
        """Prefix of its operations in `distribution.parquet`."""
        return curves_of(self.index)

    @property
    def what(self) -> str:
        """Line on its workload."""
        return describe.workload({"workload": self.config})

    @property
    def write_amplification(self) -> str:
        """Write amplification, or that it has none of its own."""
        found = self.summary.write_amplification
        return SHARED if found is UNSET else units.factor(found)

    @property
    def parts(self) -> list[describe.Part]:
        """The parts of its mean response time; none if it has no request."""
        means = self.summary.breakdown_us.to_dict()
        return describe.parts(means) if any(means.values()) else []

    @property
    def gc_share(self) -> float | None:
        """The share of its mean response time that collection causes."""
        if not self.parts:
            return None
        return math.fsum(part.share for part in self.parts if part.key in describe.GC_PARTS)

    @property
    def findings(self) -> list[verdict.Finding]:
        """Findings that should be known first of its numbers."""
        return verdict.findings(self.summary)


def flows(result: Result) -> list[Flow]:
    """Return the flows of a result; none if there is only one."""
    found = result.summary.flows or []
    configs = result.config.get("workload", {}).get("flows", [])
    return [
        Flow(flow.flow, flow.name or str(flow.flow), config, flow)
        for flow, config in zip(found, configs, strict=True)
    ]


def curves_of(index: int) -> str:
    """Return what the operations of a flow in `distribution.parquet` begin with."""
    return f"flow_{index}_"
