"""A configuration and a result in words and rows, shared by the terminal and the report."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from copyback._core import size_bytes
from copyback.words import units

if TYPE_CHECKING:
    from copyback.result import Result
    from copyback.summary import ResponseSummary, Summary

#: Parts of a response time: the label, and what it means.
PARTS: dict[str, tuple[str, str]] = {
    "service": ("Service", "the request's own commands, array operations and transfers"),
    "bus": ("Bus", "waiting for a channel or the host link"),
    "buffer": ("Buffer", "in the write buffer, or waiting for room there"),
    "translation": ("Mapping", "until the page's mapping is in RAM, where its table is in flash"),
    "host_queue": ("Host queue", "outside the device, because its queue was full or it was off"),
    "queue_behind_io": ("Behind host I/O", "waiting for other requests' page operations"),
    "late": ("Late conflicts", "behind requests that were there only because GC delayed them"),
    "gc_same_plane": ("GC, same plane", "waiting for a collection on the plane it needs"),
    "gc_other_plane": ("GC, same die", "waiting for a collection on another plane of the die"),
}

#: Classes of requests, in the order of tables; reads and writes together come last.
OPERATIONS = ("read", "write", "flush", "trim", "all")

#: Parts of a response time that garbage collection causes.
GC_PARTS = {"gc_same_plane", "gc_other_plane", "late"}


#: Where a response time comes from: the prefix of its class in `distribution.parquet`, the key in
#: `summary.json`, and what is said of it beside the operation.
RESPONSES = (("", "response_us", ""), ("measured_", "measured_response_us", ", measured"))


@dataclass(frozen=True)
class Response:
    """Response times of one operation, simulated or as the trace holds them."""

    curve: str
    operation: str
    label: str
    times: ResponseSummary


def responses(summary: Summary) -> list[Response]:
    """Return the response times of each operation that has any; those of the trace come last."""
    return [
        Response(f"{prefix}{operation}", operation, f"{operation}{suffix}", times)
        for prefix, key, suffix in RESPONSES
        for operation in OPERATIONS
        if (times := (summary.get(key) or {}).get(operation)) and times.count
    ]


@dataclass(frozen=True)
class Part:
    """One part of a mean response time."""

    key: str
    label: str
    meaning: str
    mean_us: float
    share: float


def parts(means: Mapping[str, float]) -> list[Part]:
    """Return the parts of a response time in a fixed order; unknown ones come last."""
    total = math.fsum(means.values())
    order = [*(key for key in PARTS if key in means), *(key for key in means if key not in PARTS)]
    return [
        Part(
            key,
            *PARTS.get(key, (key.replace("_", " ").capitalize(), "")),
            mean_us=means[key],
            share=means[key] / total if total else 0.0,
        )
        for key in order
    ]


def breakdowns(summary: Summary) -> dict[str, list[Part]]:
    """Return the parts for each of `OPERATIONS` that has any."""
    by_class = summary.breakdown_by_class_us.to_dict() | {"all": summary.breakdown_us.to_dict()}
    means = {operation: by_class.get(operation, {}) for operation in OPERATIONS}
    return {operation: parts(of) for operation, of in means.items() if any(of.values())}


def dies(config: Mapping[str, Any]) -> int:
    """Return the number of dies of the drive."""
    shape = config.get("ssd", {}).get("geometry", {})
    keys = ("channels", "chips_per_channel", "dies_per_chip")
    return math.prod(int(shape.get(key, 1)) for key in keys)


def planes(config: Mapping[str, Any]) -> int:
    """Return the number of planes of the drive."""
    shape = config.get("ssd", {}).get("geometry", {})
    return dies(config) * int(shape.get("planes_per_die", 1))


def device(config: Mapping[str, Any]) -> str:
    """Return the drive in a line."""
    ssd = config.get("ssd", {})
    shape = ssd.get("geometry", {})
    pages = (
        planes(config)
        * int(shape.get("blocks_per_plane", 0))
        * int(shape.get("pages_per_block", 0))
    )
    page = size_bytes(shape["page_size"]) if "page_size" in shape else None
    facts = []
    if page and pages:
        facts.append(f"{units.size(pages * page)} of flash")
    facts.append(
        f"{_number(shape.get('channels', 1), 'channel')}, {_number(dies(config), 'die')}, "
        f"{_number(planes(config), 'plane')}"
    )
    if page:
        facts.append(f"{units.count(shape.get('pages_per_block'))} × {units.size(page)} a block")
    unit = ssd.get("ftl", {}).get("mapping_unit")
    if unit is not None:
        facts.append(f"mapped by {unit}, each counted as a page")
    spare = ssd.get("ftl", {}).get("over_provisioning")
    if spare is not None:
        percent = f"{100 * spare:.3g} %" if isinstance(spare, int | float) else str(spare)
        facts.append(f"{percent} over-provisioning")
    return " · ".join(facts)


def collector(config: Mapping[str, Any]) -> str:
    """Return the collection policy in a line."""
    gc = config.get("ssd", {}).get("gc", {})
    facts = [f"victim {_choice(gc.get('victim', 'greedy'))}"]
    for key in ("preemption", "width", "idle"):
        value = _choice(gc.get(key, "none"))
        if value not in {"none", "serial"}:
            facts.append(f"{key} {value}")
    if gc.get("zero_cost"):
        facts.append("zero cost")
    elif gc.get("copyback"):
        facts.append("copyback")
    if "soft_threshold" in gc:
        facts.append(f"soft threshold {_threshold(gc['soft_threshold'])}")
    return " · ".join(facts)


#: The placement of a drive that says nothing about it.
USUAL_PLACEMENT = "host_and_gc_apart"


def placement_name(config: Mapping[str, Any]) -> str:
    """Return the placement of the drives with its parameters."""
    return _choice(config.get("ssd", {}).get("ftl", {}).get("placement", USUAL_PLACEMENT))


def placement(config: Mapping[str, Any]) -> str | None:
    """Return the placement in a line; None if it is the usual one."""
    name = placement_name(config)
    return None if name == USUAL_PLACEMENT else name


#: Layouts of an array in words.
LAYOUTS = {
    "jbod": "JBOD",
    "raid0": "RAID-0",
    "raid1": "RAID-1",
    "raid10": "RAID-10",
    "raid5": "RAID-5",
    "raid6": "RAID-6",
}

#: Kinds of `array.failures`.
FAILURES = {
    "at": "at set times",
    "random": "at random",
    "end_of_life": "by wear",
}


def array(config: Mapping[str, Any]) -> str | None:
    """Return the array in a line; None of a single drive."""
    array = config.get("array", {})
    devices = int(array.get("devices", 1))
    if devices < 2:
        return None
    layout = str(array.get("layout"))
    facts = [f"{LAYOUTS.get(layout, layout)} of {devices} drives"]
    if layout == "raid10":
        facts.append(f"{array.get('copies', 2)} {array.get('arrangement', 'near')} copies")
    if layout not in {"jbod", "raid1"}:
        facts.append(f"stripe unit {array['stripe']}")
    if layout in {"raid1", "raid10"}:
        chosen = str(array.get("mirror_reads", "shortest_queue"))
        facts.append(f"reads {chosen.replace('_', ' ')}")
    if array.get("failed"):
        facts.append(f"drive {', '.join(map(str, array['failed']))} lost")
    failures = _choice(array.get("failures", "none"))
    if failures != "none":
        facts.append(f"failures {FAILURES.get(failures.split()[0], failures)}")
    if array.get("slow"):
        facts.append(f"{len({slow['drive'] for slow in array['slow']})} slow for a while")
    if array.get("spares"):
        facts.append(f"{array['spares']} spare")
    rebuild = _choice(array.get("rebuild", "none"))
    if rebuild != "none":
        facts.append(f"rebuild {rebuild}")
    scrub = _choice(array.get("scrub", "none"))
    if scrub != "none":
        facts.append(f"scrub {scrub}")
    policy = _choice(array.get("consistency_policy", "resync"))
    if policy.split()[0] != "resync":
        facts.append(f"consistency policy {policy}")
    facts.append(_choice(array.get("coordination", "uncoordinated")).replace("_", " "))
    if array.get("reads_around_gc"):
        facts.append("reads around GC")
    return " · ".join(facts)


@dataclass(frozen=True)
class Drive:
    """One drive of an array: its service times, its collections, and how often it was the last.

    Attributes
    ----------
    years
        How long it lasts at this load; None if no rated cycles are configured, or it was not
        written.
    """

    label: str
    commands: int
    service: ResponseSummary
    write_amplification: float | None
    erases: int
    collecting: float
    ended_last: float
    years: float | None


def drives(result: Result) -> list[Drive]:
    """Return the drives of an array; none of a single drive."""
    summary = result.summary
    notes = _marks(result)
    found = summary.devices or []
    requests = max(sum(drive.requests_ended_last for drive in found), 1)
    simulated_us = max(summary.throughput.simulated_s * 1e6, 1e-3)
    return [
        Drive(
            label=f"{drive.device}{notes.get(drive.device, '')}",
            commands=drive.commands.count,
            service=drive.service_us.all,
            write_amplification=drive.write_amplification,
            erases=drive.gc.erases,
            collecting=min(drive.collecting.us / simulated_us, 1.0),
            ended_last=drive.requests_ended_last / requests,
            years=drive.endurance.years_at_this_load if drive.endurance else None,
        )
        for drive in found
    ]


def _marks(result: Result) -> dict[int, str]:
    """Return what is said behind the numbers of drives that are lost, spare, or a journal."""
    array, found = result.config.get("array", {}), result.summary.array
    devices = int(array.get("devices", 1))
    spares = range(devices, devices + int(array.get("spares", 0)))
    journal = range(spares.stop, len(result.summary.devices or []))
    failed = found.failures if found is not None and found.failures else []
    return {
        **dict.fromkeys(spares, " (spare)"),
        **dict.fromkeys(journal, " (journal)"),
        **dict.fromkeys(array.get("failed", []), " (rebuilt)" if is_rebuilt(result) else " (lost)"),
        **{failure.drive: " (failed)" for failure in failed},
    }


def is_rebuilt(result: Result) -> bool:
    """Whether the drives that were lost from the start hold all that they should at the end."""
    found = result.summary.array
    failed = result.config.get("array", {}).get("failed", [])
    return bool(failed) and found is not None and not found.drives_missing


#: Groups of "so many drives collect together", besides none.
MOST_GROUPS = 8


def together(summary: Summary) -> list[tuple[str, float]]:
    """Return the share of time with none, one, two ... drives collecting; of many, in ranges."""
    shares = summary.collecting_together or []
    if not shares:
        return []
    width = -(-(len(shares) - 1) // MOST_GROUPS)
    groups = [("none", shares[0])]
    for first in range(1, len(shares), width):
        last = min(first + width, len(shares)) - 1
        label = str(first) if first == last else f"{first} to {last}"
        groups.append((label, math.fsum(shares[first : last + 1])))
    return groups


def steadiness(summary: Summary) -> str:
    """Return mean, spread and extremes of the bandwidth over windows in a line."""
    found = summary.bandwidth
    if not found.windows:
        return f"no window of {units.time_s(found.window_s)} has ended"
    facts = [f"{units.decimal(found.mean_mib_per_s)} MiB/s on average"]
    if found.coefficient_of_variation is not None:
        facts.append(f"coefficient of variation {units.factor(found.coefficient_of_variation)}")
    facts.append(
        f"{units.decimal(found.min_mib_per_s)} to {units.decimal(found.max_mib_per_s)} over "
        f"{_number(found.windows, 'window')} of {units.time_s(found.window_s)}"
    )
    return " · ".join(facts)


def workload(config: Mapping[str, Any]) -> str:
    """Return the workload in a line."""
    load = config.get("workload", {})
    kind = load.get("type", "workload")
    if kind == "trace":
        facts = [f"trace {PurePath(str(load.get('path', '?'))).name}"]
        if load.get("devices"):
            facts.append(f"devices {', '.join(load['devices'])}")
        window = [f"{key} {load[key]}" for key in ("from", "until") if key in load]
        if window:
            facts.append(" ".join(window))
        if load.get("time_scale", 1.0) != 1.0:
            facts.append(f"time × {load['time_scale']:g}")
        if "duration" in load:
            facts.append(f"repeated for {load['duration']}")
        return " · ".join(facts)
    if kind == "synthetic":
        return " · ".join(["synthetic", *_synthetic(load)])
    if kind == "flows":
        flows = load.get("flows", [])
        return _number(len(flows), "flow") + (" at once" if all(map(_at_once, flows)) else "")
    return str(kind)


def _at_once(flow: Mapping[str, Any]) -> bool:
    return not flow.get("starts_after") and flow.get("starts_at", "0s") == "0s"


#: Where requests go, in words; others go by their names.
_ADDRESSES = {"hot_cold": "hot and cold", "random_map": "each block once a pass"}


def _synthetic(load: Mapping[str, Any]) -> list[str]:
    """Return what is asked of a generator; what is usual goes without saying."""
    facts = []
    read, trim = load.get("read_share"), load.get("trim_share")
    if isinstance(read, int | float):
        facts.append(f"{100 * read:.3g} % reads")
    if isinstance(trim, int | float) and trim:
        facts.append(f"{100 * trim:.3g} % trims")
    if "request_size" in load:
        unit = load.get("size_alignment", load.get("alignment"))
        facts.append(_sizes(load["request_size"]) + _rounding(load["request_size"], unit))
    address = load.get("address", "uniform")
    if address != "uniform":
        facts.append(_ADDRESSES.get(_kind(address), _kind(address)))
    if load.get("bursts", "none") != "none":
        facts.append("in bursts")
    if load.get("rate", "none") != "none":
        facts.append("at a limited rate")
    if load.get("thinktime", "none") != "none":
        facts.append("with pauses")
    if "duration" in load:
        facts.append(f"for {load['duration']}")
    return facts


def _rounding(size: Any, unit: Any) -> str:
    """Return what one size is rounded up to, if it is no multiple of a unit."""
    if not isinstance(size, str) or unit is None or size_bytes(size) % size_bytes(unit) == 0:
        return ""
    return f", rounded up to multiples of {unit}"


def _sizes(size: Any) -> str:
    """Return how large requests are in a few words."""
    if isinstance(size, Mapping) and size.get("type") == "by_operation":
        return f"reads {_size(size.get('read'))}, writes {_size(size.get('write'))}"
    return f"{_size(size)} requests"


def _size(size: Any) -> str:
    if not (isinstance(size, Mapping) and size.get("type") == "histogram"):
        return _choice(size)
    sizes = sorted(size.get("sizes", []), key=size_bytes)
    return " to ".join(dict.fromkeys([sizes[0], sizes[-1]])) if sizes else "histogram"


def _kind(choice: Any) -> str:
    """Return the name of a choice without its parameters."""
    return str(choice.get("type", "")) if isinstance(choice, Mapping) else str(choice)


def is_closed_loop(config: Mapping[str, Any]) -> bool:
    """Return whether requests of a configuration, or some of them, come when others have ended."""
    load = config.get("workload", {})
    flows = load.get("flows") if load.get("type") == "flows" else [load]
    return any(flow.get("iodepth") is not None for flow in flows or [])


def title(result: Result) -> str:
    """Return what was simulated in a few words."""
    config = result.config
    load = config.get("workload", {})
    if load.get("type") == "trace":
        name = PurePath(str(load.get("path", "trace"))).name
        return re.sub(r"\.[A-Za-z]+$", "", re.sub(r"\.(gz|bz2|xz|zst)$", "", name)) or name
    return workload(config)


def _number(value: Any, noun: str) -> str:
    return f"{units.count(value)} {noun}{'' if value == 1 else 's'}"


def _choice(value: Any) -> str:
    """Return a choice with its parameters: ``{type = "rga", d = 10}`` is ``rga (d 10)``.

    A switch is named if it is on.
    """
    if isinstance(value, Mapping):
        if value.get("type") == "python":
            parameters = ", ".join(f"{key} {item}" for key, item in _parameters(value))
            name = str(value["policy"]).rpartition(":")[2]
            return f"{name} ({parameters})" if parameters else name
        if "type" in value:
            rest = ", ".join(
                key if item is True else f"{key} {_choice(item)}"
                for key, item in value.items()
                if key != "type" and item is not False
            )
            return f"{value['type']} ({rest})" if rest else str(value["type"])
        return ", ".join(f"{key} {_choice(item)}" for key, item in value.items())
    return str(value)


def value_text(value: Any) -> str:
    """Return a value of a sweep as people read it: of a policy in Python, its class.

    >>> value_text('{ type = "python", policy = "mine.py:Oldest", parameters = { share = 0.1 } }')
    'Oldest (share 0.1)'
    """
    text = str(value)
    if not text.startswith("{"):
        return text
    try:
        choice = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return _choice(choice) if choice.get("type") == "python" else text


def _parameters(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return what a policy in Python is made with."""
    settings = {key: value[key] for key in ("poll", "inside_moves") if value.get(key)}
    return list({**value.get("parameters", {}), **settings}.items())


def _threshold(value: Any) -> str:
    if isinstance(value, Mapping):
        return _number(value.get("blocks"), "block")
    return f"{100 * value:.3g} %" if isinstance(value, int | float) else str(value)
