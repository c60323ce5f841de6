"""SSDsim's ``page.parameters``. A parameter means what SSDsim's source (f411289) does with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.importers.draft import Draft, size, time
from copyback.importers.parameter import Parameter, Parameters

if TYPE_CHECKING:
    from pathlib import Path

#: Which digits static_allocation may have, and the order that the source then takes.
_STATIC = {"0": "WDPC", "1": "CWDP", "2": "CPWD", "3": "CDWP", "4": "CPDW", "5": "CDPW"}

#: Bits of "advanced command".
_COPYBACK, _TWO_PLANE_PROGRAM, _INTERLEAVE, _TWO_PLANE_READ = 2, 4, 8, 16

#: Cycles of the write clock that the source takes for the command and addresses of a read or
#: program.
_COMMAND_CYCLES = 7

_CYCLES = (
    "CLS CLH CS CH WP ALS ALH DS DH WH ADL AR CLR RR RP "
    "WB REA CEA RHZ CHZ RHOH RLOH COH REH IR RHW WHR RST DBSY"
)

_WITHOUT_EFFECT = {
    "subpage page": "pages are read and written whole",
    "subpage capacity": "pages are read and written whole",
    "flash operating current": "energy is not modelled",
    "flash supply voltage": "energy is not modelled",
    "dram active current": "energy is not modelled",
    "dram standby current": "energy is not modelled",
    "dram refresh current": "energy is not modelled",
    "dram voltage": "energy is not modelled",
    "gc": "SSDsim's source does not use it",
    "gc threshold": "of no effect without active write; gc hard threshold counts",
    "buffer management": "SSDsim's source does not use it",
    "scheduling algorithm": "SSDsim's source does not use it; it serves reads before writes",
    "advanced command priority": "commands are joined whenever they can be",
    "advanced command priority2": "commands are joined whenever they can be",
    "greed MPW command": "commands are joined whenever they can be",
    "greed CB command": "a page is moved whether or not its offset suits",
    "wear leveling": "SSDsim's source does not use it",
}


def device(data: bytes, path: Path) -> Draft:
    """Return the drive of a file."""
    draft = Draft(f"SSDsim's {path.name}", str(path))
    given = _read(data, path, draft)
    for part in (_geometry, _timing, _mapping, _host, _collections, _start):
        part(draft, given)
    for name, why in _WITHOUT_EFFECT.items():
        if given.maybe(name):
            draft.lose(name, why)
    cycles = [name for name in (f"t_{cycle}" for cycle in _CYCLES.split()) if given.maybe(name)]
    if cycles:
        words = (
            f"t_RC, t_WC, t_R, t_PROG and t_BERS say how long commands take ({len(cycles)} others)"
        )
        draft.lose(f"{cycles[0]} ... {cycles[-1]}", words)
    draft.finish(given, "SSDsim")
    return draft


def _read(data: bytes, path: Path, draft: Draft) -> Parameters:
    found: dict[str, Parameter] = {}
    # Comments of these files are in several encodings; what counts is ASCII.
    for number, line in enumerate(data.decode("latin-1").split("\n"), 1):
        # As its own reader: a line that begins so is passed over.
        if line.startswith(("#", " ")):
            continue
        text = line.partition("#")[0]
        name, equals, value = text.partition("=")
        if not equals:
            continue
        name = name.strip()
        parameter = Parameter(name, value.partition(";")[0].strip(), f"{path}:{number}")
        if name in found:
            raise InputError(
                f"{parameter.place}: {name}: given twice; first in line "
                f"{found[name].place.rpartition(':')[2]}"
            )
        found[name] = parameter
    if not found:
        raise InputError(f"{path}: no line of it is NAME = VALUE; as in SSDsim's page.parameters")
    for name in [name for name in found if not re.fullmatch(r"[ -~]{1,60}", name)]:
        odd = found.pop(name)
        draft.lose(odd.place, "not readable")
    return Parameters(found, str(path))


def _geometry(draft: Draft, given: Parameters) -> None:
    channels = given.take("channel number").whole(1, 4096)
    draft.set("ssd.geometry.channels", channels, "channel number")
    total = given.take("chip number")
    chips = total.whole(1, 2**24)
    counts = [given.maybe(f"chip number[{index}]") for index in range(channels)]
    for index in range(channels, 4096):
        # Those of channels that the drive does not have.
        if not given.maybe(f"chip number[{index}]"):
            break
    here = [count for count in counts if count is not None]
    first = here[0].whole(1, 4096) if here else max(1, chips // channels)
    for count in here:
        if count.whole(0, 4096) != first:
            raise count.fault(f"{first}, as on the other channels: channels are alike here")
    if first * channels != chips:
        raise total.fault(f"{first * channels}: {channels} channels of {first} chips")
    names = ("chip number", "chip number[0]") if here else ("chip number",)
    draft.set("ssd.geometry.chips_per_channel", first, *names)
    for key, name, most in (
        ("dies_per_chip", "die number", 4096),
        ("planes_per_die", "plane number", 32),
        ("blocks_per_plane", "block number", 2**24),
        ("pages_per_block", "page number", 65_535),
    ):
        draft.set(f"ssd.geometry.{key}", given.take(name).whole(1, most), name)
    page = given.take("page capacity").whole(512, 2**30)
    draft.set("ssd.geometry.page_size", size(page), "page capacity")


def _timing(draft: Draft, given: Parameters) -> None:
    for key, name in (("read", "t_R"), ("program", "t_PROG"), ("erase", "t_BERS")):
        draft.set(f"ssd.timing.{key}", time(given.take(name).whole(0, 60 * 10**9)), name)
    write, read = (given.take(name).whole(1, 10**6) for name in ("t_WC", "t_RC"))
    cycle = max(write, read)
    draft.set("ssd.timing.transfer_rate", f"{round(1e9 / cycle)}B/s", "t_WC", "t_RC")
    if write != read:
        draft.approximate("t_WC and t_RC", "one rate both ways; the slower of the two is taken")
    draft.set("ssd.timing.command", time(_COMMAND_CYCLES * write), "t_WC")
    draft.approximate(
        "t_WC",
        f"a command takes {_COMMAND_CYCLES} cycles; a write's response includes the program, "
        "and collections "
        "take their time, which SSDsim leaves out without advanced commands",
    )


def _mapping(draft: Draft, given: Parameters) -> None:
    mapping = given.get("address mapping", "1")
    mapping.one_of({"1": "page"})
    draft.set("ssd.ftl.mapping", "page", "address mapping")
    draft.set(
        "ssd.ftl.over_provisioning", given.take("overprovide").number(0.0, 0.99), "overprovide"
    )
    is_static = given.get("allocation", "0").one_of({"0": False, "1": True})
    order = given.get("static_allocation", "1")
    is_half = given.get("dynamic_allocation", "0").one_of({"0": False, "1": True})
    if is_static:
        draft.lose("dynamic_allocation", "allocation is static")
        draft.set("ssd.ftl.allocation", order.one_of(_STATIC), "allocation", "static_allocation")
    else:
        draft.set("ssd.ftl.allocation", "dynamic", "allocation", "dynamic_allocation")
        draft.lose("static_allocation", "allocation is dynamic")
        if is_half:
            draft.approximate(
                "dynamic_allocation",
                "the channel is chosen as well; in SSDsim a page's number fixes it",
            )
    draft.set("ssd.ftl.placement", "one_class")
    cycles = given.get("erase limit", "100000").whole(1, 10_000_000)
    draft.set("ssd.endurance.rated_cycles", cycles, "erase limit")


def _host(draft: Draft, given: Parameters) -> None:
    draft.set("host.queue_depth", given.get("queue_length", "5").whole(1, 65_535), "queue_length")
    capacity = given.get("dram capacity", "0").whole(0, 2**60)
    draft.set("ssd.buffer.capacity", size(capacity), "dram capacity")
    if capacity:
        draft.set("ssd.buffer.latency", "1us")
        draft.approximate(
            "dram capacity",
            "pages, the least recently used destaged from ssd.buffer.high_watermark on; SSDsim "
            "writes back when it is full",
        )


def _collections(draft: Draft, given: Parameters) -> None:
    share = given.take("gc hard threshold").number(0.0, 1.0)
    blocks = draft.values["ssd.geometry.blocks_per_plane"]
    draft.set(
        "ssd.gc.soft_threshold", {"blocks": max(1, round(share * blocks))}, "gc hard threshold"
    )
    draft.set("ssd.gc.threshold_unit", "free_pages", "gc hard threshold")
    draft.set("ssd.gc.hard_threshold", {"blocks": 1})
    draft.set("ssd.gc.victim", "greedy")
    commands = given.get("advanced command", "0").whole(0, 31)
    draft.set("ssd.gc.copyback", bool(commands & _COPYBACK), "advanced command")
    planes = commands & (_TWO_PLANE_PROGRAM | _TWO_PLANE_READ)
    draft.set("ssd.commands.multi_plane", bool(planes), "advanced command")
    if planes not in (0, _TWO_PLANE_PROGRAM | _TWO_PLANE_READ):
        draft.approximate(
            "advanced command", "reads and programs of several planes are joined, or neither"
        )
    if not commands & _INTERLEAVE and draft.values["ssd.geometry.dies_per_chip"] > 1:
        draft.approximate("advanced command", "dies of a chip always work at the same time")
    active = given.maybe("active write")
    if active is not None and active.whole(0, 1):
        draft.lose(active.name, "collections do not begin in idle time (see ssd.gc.idle)")


def _start(draft: Draft, given: Parameters) -> None:
    is_aged = given.get("aged", "0").one_of({"0": False, "1": True})
    ratio = given.get("aged ratio", "0").number(0.0, 1.0)
    fill = min(1.0, ratio / (1 - draft.values["ssd.ftl.over_provisioning"])) if is_aged else 0.0
    draft.set("precondition.fill", round(fill, 6), "aged", "aged ratio")
    draft.set("precondition.overwrites", 0.0)
    if is_aged:
        draft.approximate(
            "aged",
            "as many pages are written and hold data; in SSDsim they are invalid from the start",
        )
    else:
        draft.lose("aged ratio", "the drive starts empty (aged)")
