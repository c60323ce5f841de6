"""Copyback simulates garbage collection in flash SSDs.

>>> import copyback
>>> result = copyback.run("examples/mysql.toml")        # doctest: +SKIP
>>> result.summary.response_us.read.p99                 # doctest: +SKIP
149946.367

Everything heavy (NumPy, the report) is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback._core import InputError, SimulationError, __model__, __version__

if TYPE_CHECKING:
    from copyback.calibration import Calibration, calibrate
    from copyback.calibration.load.call import LoadCalibration, calibrate_load
    from copyback.calibration.sheet.call import SheetCalibration, calibrate_sheet
    from copyback.calibration.writes.call import WritesCalibration, calibrate_writes
    from copyback.column import Column
    from copyback.designer.baseline import HonestBaseline
    from copyback.designer.call import design, honest_baseline
    from copyback.designer.result import DesignResult
    from copyback.designer.tournament.call import tournament
    from copyback.designer.tournament.result import Tournament
    from copyback.frame import Frame
    from copyback.inputs.known import presets
    from copyback.policies import (
        FOREVER,
        Admit,
        Block,
        Blocks,
        CoordinationPolicy,
        Device,
        PlacementPolicy,
        Plane,
        Point,
        SchedulePolicy,
        Situation,
        VictimPolicy,
    )
    from copyback.result import Result
    from copyback.simulation.simulate import precondition, run
    from copyback.summary import Summary
    from copyback.sweep.bisection import SearchResult, search
    from copyback.sweep.comparison import Comparison, compare
    from copyback.trace import TraceInfo, convert_trace, trace_info

__all__ = [
    "FOREVER",
    "Admit",
    "Block",
    "Blocks",
    "Calibration",
    "Column",
    "Comparison",
    "CoordinationPolicy",
    "DesignResult",
    "Device",
    "Frame",
    "HonestBaseline",
    "InputError",
    "LoadCalibration",
    "PlacementPolicy",
    "Plane",
    "Point",
    "Result",
    "SchedulePolicy",
    "SearchResult",
    "SheetCalibration",
    "SimulationError",
    "Situation",
    "Summary",
    "Tournament",
    "TraceInfo",
    "VictimPolicy",
    "WritesCalibration",
    "__model__",
    "__version__",
    "calibrate",
    "calibrate_load",
    "calibrate_sheet",
    "calibrate_writes",
    "compare",
    "convert_trace",
    "design",
    "honest_baseline",
    "precondition",
    "presets",
    "run",
    "search",
    "tournament",
    "trace_info",
]

#: Where names of `__all__` are that do not come from `copyback.policies`.
_HOME = {
    "Calibration": "copyback.calibration",
    "Column": "copyback.column",
    "Comparison": "copyback.sweep.comparison",
    "DesignResult": "copyback.designer.result",
    "Frame": "copyback.frame",
    "HonestBaseline": "copyback.designer.baseline",
    "LoadCalibration": "copyback.calibration.load.call",
    "Result": "copyback.result",
    "SearchResult": "copyback.sweep.bisection",
    "SheetCalibration": "copyback.calibration.sheet.call",
    "Summary": "copyback.summary",
    "Tournament": "copyback.designer.tournament.result",
    "TraceInfo": "copyback.trace",
    "WritesCalibration": "copyback.calibration.writes.call",
    "calibrate": "copyback.calibration",
    "calibrate_load": "copyback.calibration.load.call",
    "calibrate_sheet": "copyback.calibration.sheet.call",
    "calibrate_writes": "copyback.calibration.writes.call",
    "compare": "copyback.sweep.comparison",
    "convert_trace": "copyback.trace",
    "design": "copyback.designer.call",
    "honest_baseline": "copyback.designer.call",
    "precondition": "copyback.simulation.simulate",
    "presets": "copyback.inputs.known",
    "run": "copyback.simulation.simulate",
    "search": "copyback.sweep.bisection",
    "tournament": "copyback.designer.tournament.call",
    "trace_info": "copyback.trace",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'copyback' has no attribute {name!r}")
    from importlib import import_module

    home = _HOME.get(name, "copyback.policies")
    if home.startswith("copyback.calibration"):
        from copyback.process.extras import need

        need("calibrate", f"{name}()" if name.islower() else "calibrate()")
    if home.startswith("copyback.designer"):
        from copyback.process.extras import need

        need("design", f"{name}()" if name.islower() else "design()")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
