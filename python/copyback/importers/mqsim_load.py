"""MQSim's ``workload.xml``: the flows of one of its scenarios."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.importers import xml
from copyback.importers.draft import size, time

if TYPE_CHECKING:
    from pathlib import Path

    from copyback.importers.draft import Draft
    from copyback.importers.parameter import Parameter, Parameters

_SECTOR = 512
_PREFIX = "IO_Flow_Parameter_Set_"

#: Parameters that give a flow some of the flash, and the key that says how much there is.
_PARTS = {
    "Channel_IDs": "channels",
    "Chip_IDs": "chips_per_channel",
    "Die_IDs": "dies_per_chip",
    "Plane_IDs": "planes_per_die",
}

#: Keys of a flow, and the parameters that they are from.
_SOURCES = {
    "footprint": ("Working_Set_Percentage",),
    "read_share": ("Read_Percentage",),
    "address": ("Percentage_of_Hot_Region", "Address_Distribution"),
    "sequential_share": ("Address_Distribution",),
    "request_size": ("Average_Request_Size",),
    "alignment": ("Address_Alignment_Unit",),
    "iodepth": ("Average_No_of_Reqs_in_Queue",),
    "inter_arrival": ("Bandwidth",),
    "duration": ("Stop_Time",),
    "requests": ("Total_Requests_To_Generate",),
    "path": ("File_Path",),
    "time_scale": ("Time_Unit",),
}


def add(draft: Draft, data: bytes, path: Path, scenario: int, directory: Path | None) -> None:
    """Give the drive the load of a scenario, counted from 1."""
    flows = _flows(data, path, scenario, draft)
    draft.origin += f" and {path.name}, scenario {scenario}"
    notes = _Notes()
    loads, occupancies, caches = [], [], []
    for index, element in enumerate(flows):
        given = element.parameters(path)
        notes.begin(index)
        occupancies.append(given.get("Initial_Occupancy_Percentage", "50").whole(0, 100) / 100)
        caches.append(_caching(given))
        _common(notes, given, draft)
        if element.tag == f"{_PREFIX}Synthetic":
            loads.append(_synthetic(notes, given, index, len(flows)))
        else:
            loads.append(_trace(notes, given, path.parent, directory, len(flows)))
        place = "workload" if len(flows) == 1 else f"workload.flows.{index}"
        for key, names in _SOURCES.items():
            written = [given.written[name] for name in names if name in given.written]
            draft.flow_parameters |= {f"{place}.{key}": own for own in written[:1]}
        for name, default in given.assumed:
            notes.approximate(name, f"not in the file; MQSim's own default, {default}, is taken")
        for parameter in given.rest():
            notes.lose(parameter.name, "no parameter of MQSim that is known here")
    notes.tell(draft)
    _prepare(draft, occupancies)
    _cache(draft, caches)
    if len(loads) == 1:
        for key, value in loads[0].items():
            draft.set(f"workload.{key}", value)
    else:
        draft.set("workload.type", "flows")
        draft.set("workload.flows", loads)
        if draft.values["host.interface"] == "nvme":
            draft.set("host.queues", len(loads))


class _Notes:
    """Notes on the parameters of all flows: one note, if it is the same of each."""

    def __init__(self) -> None:
        self._said: dict[tuple[bool, str, str], list[int]] = {}
        self._flow = 0

    def begin(self, flow: int) -> None:
        self._flow = flow

    def approximate(self, name: str, why: str) -> None:
        self._said.setdefault((True, name, why), []).append(self._flow)

    def lose(self, name: str, why: str) -> None:
        self._said.setdefault((False, name, why), []).append(self._flow)

    def tell(self, draft: Draft) -> None:
        for (is_near, name, why), flows in self._said.items():
            some = "" if len(flows) == self._flow + 1 else f" of flow {', '.join(map(str, flows))}"
            tell = draft.approximate if is_near else draft.lose
            tell(f"{name}{some}", why)


def _flows(data: bytes, path: Path, scenario: int, draft: Draft) -> list[xml.Element]:
    top = xml.read(data, path)
    if top.tag != "MQSim_IO_Scenarios":
        raise InputError(
            f"{top.place}: found <{top.tag}>; allowed: <MQSim_IO_Scenarios>, as in MQSim's "
            "workload.xml"
        )
    scenarios = top.children
    for element in scenarios:
        if element.tag != "IO_Scenario":
            raise InputError(f"{element.place}: found <{element.tag}>; allowed: <IO_Scenario>")
    if not 1 <= scenario <= len(scenarios):
        raise InputError(f"{path}: has {len(scenarios)} scenarios; found --scenario {scenario}")
    if len(scenarios) > 1:
        others = ", ".join(str(n + 1) for n in range(len(scenarios)) if n + 1 != scenario)
        draft.lose(
            "IO_Scenario", f"scenarios of {path.name} are runs of their own; others: {others}"
        )
    flows = scenarios[scenario - 1].children
    allowed = {f"{_PREFIX}Synthetic", f"{_PREFIX}Trace_Based"}
    for flow in flows:
        if flow.tag not in allowed:
            words = ", ".join(f"<{tag}>" for tag in sorted(allowed))
            raise InputError(f"{flow.place}: found <{flow.tag}>; allowed: {words}")
    if not flows:
        raise InputError(f"{scenarios[scenario - 1].place}: the scenario has no flow")
    return flows


def _caching(given: Parameters) -> bool:
    modes = {"TURNED_OFF": False, "WRITE_CACHE": True, "READ_CACHE": True, "WRITE_READ_CACHE": True}
    return given.get("Device_Level_Data_Caching_Mode", "WRITE_CACHE").one_of(modes)


def _common(notes: _Notes, given: Parameters, draft: Draft) -> None:
    if priority := given.maybe("Priority_Class"):
        priority.one_of(dict.fromkeys(("URGENT", "HIGH", "MEDIUM", "LOW")))
        notes.lose(priority.name, "flows are served alike")
    for name, key in _PARTS.items():
        part = given.maybe(name)
        if part is None:
            continue
        there = draft.values[f"ssd.geometry.{key}"]
        named = {_number(part, text) for text in part.text.split(",") if text.strip()}
        if outside := [number for number in named if number >= there]:
            raise part.fault(f"numbers below {there}; found {outside[0]}")
        if len(named) < there:
            notes.lose(name, f"the flow's pages lie on all {there}, not on {len(named)}")


def _number(part: Parameter, text: str) -> int:
    if not text.strip().isdecimal():
        raise part.fault("numbers with commas between them")
    return int(text)


def _prepare(draft: Draft, occupancies: list[float]) -> None:
    if not draft.values["precondition.fill"]:
        draft.lose("Initial_Occupancy_Percentage", "of no effect without Enabled_Preconditioning")
        return
    draft.set(
        "precondition.fill",
        round(sum(occupancies) / len(occupancies), 6),
        "Initial_Occupancy_Percentage",
    )
    if len(occupancies) > 1 and min(occupancies) < 1:
        draft.approximate(
            "Initial_Occupancy_Percentage",
            "the first part of the whole drive is filled, not the first part of each flow's "
            "addresses",
        )


def _cache(draft: Draft, caches: list[bool]) -> None:
    name = "Device_Level_Data_Caching_Mode"
    if not any(caches):
        draft.set("ssd.buffer.capacity", "0B", name)
        draft.approximated = [
            note
            for note in draft.approximated
            if note[0] not in ("Data_Cache_DRAM_*", "Caching_Mechanism")
        ]
        draft.values.pop("ssd.buffer.latency", None)
        draft.lose("Data_Cache_*", f"no flow uses the cache ({name})")
    elif not all(caches):
        draft.approximate(name, "every flow uses the cache, if one does")
    else:
        draft.approximate(name, "the cache holds pages that were written or read lately")


def _synthetic(notes: _Notes, given: Parameters, index: int, flows: int) -> dict[str, Any]:
    load: dict[str, Any] = {"type": "synthetic"}
    share = given.get("Working_Set_Percentage", "100").whole(0, 100)
    load["footprint"] = round((share or 100) / 100 / flows, 6)
    if flows > 1:
        load["offset"] = round(index / flows, 6)
    load["read_share"] = given.get("Read_Percentage", "100").whole(0, 100) / 100
    load |= _addresses(given)
    load |= _sizes(notes, given)
    load |= _arrivals(given, load.pop("mean_sectors"))
    stop = given.get("Stop_Time", "1000000000").whole()
    total = given.get("Total_Requests_To_Generate", "100").whole()
    if stop:
        load |= {"requests": "unlimited", "duration": time(stop)}
    elif total:
        load["requests"] = total
    else:
        raise InputError(
            f"{given.get('Seed', '0').place}: Stop_Time and Total_Requests_To_Generate are both 0"
        )
    if seed := given.maybe("Seed"):
        notes.lose(seed.name, "every flow's random stream is derived from the seed of the run")
    return load


def _addresses(given: Parameters) -> dict[str, Any]:
    kinds = {
        "STREAMING": "streaming",
        "RANDOM_UNIFORM": "uniform",
        "UNIFORM_RANDOM": "uniform",
        "RANDOM_HOTCOLD": "hot",
    }
    kind = given.get("Address_Distribution", "RANDOM_UNIFORM").one_of(kinds)
    hot = given.get("Percentage_of_Hot_Region", "0").whole(0, 100) / 100
    if kind == "streaming":
        return {"sequential_share": 1.0}
    if kind == "hot":
        address = {"type": "hot_cold", "requests": round(1 - hot, 6), "pages": hot}
        return {"sequential_share": 0.0, "address": address}
    return {"sequential_share": 0.0}


def _sizes(notes: _Notes, given: Parameters) -> dict[str, Any]:
    mean = given.get("Average_Request_Size", "8").whole(1, 2**31)
    spread = given.get("Variance_Request_Size", "0").whole(0, 2**31)
    kinds = {"FIXED": False, "NORMAL": True}
    is_normal = given.get("Request_Size_Distribution", "FIXED").one_of(kinds)
    is_aligned = given.get("Generated_Aligned_Addresses", "true").switch()
    unit = given.get("Address_Alignment_Unit", "16").whole(1, 2**31)
    load: dict[str, Any] = {"mean_sectors": mean}
    if is_normal and spread:
        load["request_size"] = _normal(mean, spread)
        notes.approximate(
            "Variance_Request_Size",
            "MQSim takes it as the standard deviation; sizes are drawn from 25 steps of a "
            "normal distribution",
        )
    else:
        load["request_size"] = size(mean * _SECTOR)
    load["alignment"] = size(unit * _SECTOR if is_aligned else _SECTOR)
    if load["alignment"] != size(_SECTOR):
        load["size_alignment"] = size(_SECTOR)
    return load


def _normal(mean: int, deviation: int) -> dict[str, Any]:
    """Return a normal distribution of sectors, in quarters of its deviation, up to three."""
    weights: dict[int, float] = {}
    for step in range(-12, 13):
        sectors = max(1, math.ceil(mean + deviation * step / 4))
        weights[sectors] = weights.get(sectors, 0.0) + math.exp(-((step / 4) ** 2) / 2)
    return {
        "type": "histogram",
        "sizes": [size(sectors * _SECTOR) for sectors in weights],
        "weights": [round(weight, 6) for weight in weights.values()],
    }


def _arrivals(given: Parameters, mean_sectors: int) -> dict[str, Any]:
    kinds = {"BANDWIDTH": True, "QUEUE_DEPTH": False}
    is_open = given.get("Synthetic_Generator_Type", "QUEUE_DEPTH").one_of(kinds)
    depth = given.get("Average_No_of_Reqs_in_Queue", "16")
    if not is_open:
        given.maybe("Bandwidth")
        return {"iodepth": depth.whole(1, 65_535)}
    bandwidth = given.get("Bandwidth", "65536").whole(1)
    gap = max(1, round(mean_sectors * _SECTOR * 1e9 / bandwidth))
    return {"inter_arrival": {"type": "exponential", "mean": time(gap)}}


def _trace(
    notes: _Notes, given: Parameters, beside: Path, directory: Path | None, flows: int
) -> dict[str, Any]:
    named = given.take("File_Path")
    if not named.text:
        raise named.fault("the name of a trace file")
    file = beside / named.text.replace("\\", "/")
    path = os.path.relpath(file, directory or ".")
    load: dict[str, Any] = {"type": "trace", "path": path, "format": "mqsim"}
    if not file.is_file():
        notes.approximate(named.name, f"{file} is not there yet")
    units = {"PICOSECOND": 1e-3, "NANOSECOND": 1.0, "MICROSECOND": 1e3}
    scale = given.get("Time_Unit", "NANOSECOND").one_of(units)
    if scale != 1.0:
        load["time_scale"] = scale
    executed = given.get("Percentage_To_Be_Executed", "100").whole(0, 100)
    if executed < 100:
        notes.lose(
            "Percentage_To_Be_Executed", "all requests are; workload.limit takes a number of them"
        )
    if given.get("Relay_Count", "1").whole(0) > 1:
        notes.lose("Relay_Count", "once; workload.duration replays a trace for a time")
    if flows > 1:
        notes.approximate(
            named.name, "MQSim gives each flow addresses of its own; a trace's are as they are"
        )
    return load
