"""MQSim's ``ssdconfig.xml``. A parameter means what MQSim's source (7ec40e3) does with it."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from copyback._core import InputError, size_bytes
from copyback.importers import xml
from copyback.importers.draft import Draft, size, time

if TYPE_CHECKING:
    from pathlib import Path

    from copyback.importers.parameter import Parameters

#: Collections that it lets run on a plane at once; a plane with fewer free blocks takes no writes.
_COLLECTIONS_OF_A_PLANE = 10

#: Commands that native command queueing has tags for.
_SATA_DEPTH = 32

#: Bytes that a PCIe packet carries at most, and those of its headers.
_PACKET, _PACKET_HEADERS = 128, 28

#: Bits of flash cells, and the parameters of the latencies of their pages.
_LATENCIES = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}

_ORDERS = {"".join(order): "".join(order) for order in itertools.permutations("CWDP")}

#: Parameters that say how it works and not what it models, or that its source does not use.
_WITHOUT_EFFECT = {
    "Enable_ResponseTime_Logging": "results hold response times; see metrics.requests",
    "ResponseTime_Logging_Period_Length": "see metrics.histogram_interval",
    "Memory_Type": "flash is the only kind",
    "Data_Cache_Sharing_Mode": "all flows share the cache",
    "CMT_Sharing_Mode": "all flows share the cached mapping table",
    "Prefered_suspend_erase_time_for_read": "reads suspend at once",
    "Preferred_suspend_erase_time_for_read": "reads suspend at once",
    "Preferred_suspend_erase_time_for_write": "writes suspend nothing",
    "Preferred_suspend_write_time_for_read": "reads suspend at once",
}


def device(data: bytes, path: Path) -> Draft:
    """Return the drive of a file."""
    top = xml.read(data, path)
    if top.tag != "Execution_Parameter_Set":
        raise InputError(
            f"{top.place}: found <{top.tag}>; allowed: <Execution_Parameter_Set>, as in MQSim's "
            "ssdconfig.xml"
        )
    parameters = top.parameters(path)
    draft = Draft(f"MQSim's {path.name}", str(path))
    for part in (_run, _host, _geometry, _timing, _mapping, _cache, _collections, _wear):
        part(draft, parameters)
    for name, why in _WITHOUT_EFFECT.items():
        if parameters.maybe(name):
            draft.lose(name, why)
    draft.finish(parameters, "MQSim")
    return draft


def _run(draft: Draft, given: Parameters) -> None:
    draft.set("seed", given.get("Seed", "123").whole(0, 2**63 - 1), "Seed")
    if given.get("Enabled_Preconditioning", "true").switch():
        draft.set("precondition.fill", 1.0)
        draft.set("precondition.overwrites", 1.0, "Enabled_Preconditioning")
        draft.approximate(
            "Enabled_Preconditioning",
            "MQSim computes how full the blocks of a used drive are; here the drive is written "
            "in order, then "
            'once over at random (overwrites = "until_steady" goes on until write amplification '
            "is steady)",
        )
    else:
        draft.set("precondition.fill", 0.0, "Enabled_Preconditioning")
        draft.set("precondition.overwrites", 0.0, "Enabled_Preconditioning")


def _host(draft: Draft, given: Parameters) -> None:
    interface = given.get("HostInterface_Type", "NVME").one_of({"NVME": "nvme", "SATA": "ncq"})
    draft.set("host.interface", interface, "HostInterface_Type")
    depth, fetched = given.get("IO_Queue_Depth", "1024"), given.get("Queue_Fetch_Size", "512")
    if interface == "nvme":
        draft.set("host.queue_depth", fetched.whole(1, 65_535), "Queue_Fetch_Size")
        depth.whole(1, 65_535)
        draft.lose(
            "IO_Queue_Depth", "requests that the drive has not fetched wait in the host, any number"
        )
    else:
        asked = depth.whole(1, 65_535)
        draft.set("host.queue_depth", min(asked, _SATA_DEPTH), "IO_Queue_Depth")
        if asked > _SATA_DEPTH:
            draft.approximate("IO_Queue_Depth", f"a drive with SATA queues {_SATA_DEPTH} commands")
        draft.lose("Queue_Fetch_Size", "of no effect for SATA")
    policies = {"OUT_OF_ORDER": None, "PRIORITY_OUT_OF_ORDER": "by class", "FLIN": "fairly"}
    policy = given.get("Transaction_Scheduling_Policy", "OUT_OF_ORDER").one_of(policies)
    draft.set("host.scheduling", "read_first", "Transaction_Scheduling_Policy")
    if policy is not None:
        draft.approximate(
            "Transaction_Scheduling_Policy",
            f"flows are not served {policy}; reads go before writes",
        )
    lane = given.get("PCIe_Lane_Bandwidth", "0.4").number(1e-6, 1e6)
    lanes = given.get("PCIe_Lane_Count", "4").whole(1, 1024)
    carried = lane * 1e9 * lanes * _PACKET / (_PACKET + _PACKET_HEADERS)
    names = "PCIe_Lane_Bandwidth", "PCIe_Lane_Count"
    draft.set("host.link_rate", f"{max(1, round(carried))}B/s", *names)
    draft.approximate(
        " and ".join(names),
        f"headers of {_PACKET_HEADERS} bytes with every {_PACKET} are taken off the rate",
    )
    if delay := given.maybe("SATA_Processing_Delay"):
        if interface == "ncq":
            draft.set("host.command_overhead", time(delay.whole(0, 60 * 10**9)), delay.name)
        else:
            draft.lose(delay.name, "of no effect for NVMe")


def _geometry(draft: Draft, given: Parameters) -> None:
    for key, name, default, most in (
        ("channels", "Flash_Channel_Count", "8", 4096),
        ("chips_per_channel", "Chip_No_Per_Channel", "4", 4096),
        ("dies_per_chip", "Die_No_Per_Chip", "2", 4096),
        ("planes_per_die", "Plane_No_Per_Die", "2", 32),
        ("blocks_per_plane", "Block_No_Per_Plane", "2048", 2**24),
        ("pages_per_block", "Page_No_Per_Block", "256", 65_535),
    ):
        draft.set(f"ssd.geometry.{key}", given.get(name, default).whole(1, most), name)
    page = given.get("Page_Capacity", "8192").whole(512, 2**30)
    draft.set("ssd.geometry.page_size", size(page), "Page_Capacity")
    metadata = given.get("Page_Metadat_Capacity", "1872").whole(0, 2**30)
    draft.lose(
        "Page_Metadat_Capacity",
        f'MQSim moves a page without it; ssd.geometry.spare_size = "{metadata}B" would move it '
        "over the channel",
    )


def _timing(draft: Draft, given: Parameters) -> None:
    technology = given.get("Flash_Technology", "MLC").one_of(_LATENCIES)
    for key, operation, default in (("read", "Read", "75000"), ("program", "Program", "750000")):
        names = {kind: f"Page_{operation}_Latency_{kind}" for kind in ("LSB", "CSB", "MSB")}
        all_times = {
            kind: given.get(name, default).whole(0, 60 * 10**9) for kind, name in names.items()
        }
        times = [all_times[kind] for kind in technology]
        used = ["Flash_Technology", *(names[kind] for kind in technology)]
        unused = [name for kind, name in names.items() if kind not in technology]
        for name in unused:
            draft.lose(name, "cells with so few bits have no such page (Flash_Technology)")
        if len(set(times)) == 1:
            draft.set(f"ssd.timing.{key}", time(times[0]), *used)
            continue
        draft.set(f"ssd.timing.{key}", [time(ns) for ns in times], *used)
        if len(times) == 3:
            draft.approximate(
                f"Page_{operation}_Latency_*",
                "the kinds of pages of a TLC block take turns; MQSim shares a block out as "
                "Yaakobi et al. found it",
            )
    erase = given.get("Block_Erase_Latency", "3800000")
    draft.set("ssd.timing.erase", time(erase.whole(0, 60 * 10**9)), erase.name)
    width = given.get("Flash_Channel_Width", "1").whole(1, 64)
    rate = given.get("Channel_Transfer_Rate", "300").whole(1, 10**6)
    draft.set(
        "ssd.timing.transfer_rate",
        f"{rate * width}MT/s",
        "Channel_Transfer_Rate",
        "Flash_Channel_Width",
    )
    cut = 1000 // rate
    if 1000 % rate and abs(1000 / rate - cut) > 0.01 * cut:
        runs = "takes no time" if cut == 0 else f"runs at {1000 / cut:.4g} MT/s"
        draft.approximate(
            "Channel_Transfer_Rate",
            f"MQSim cuts a transfer's time to whole nanoseconds, so that its channel {runs}; "
            "here at the rate given",
        )
    given.get("Flash_Comm_Protocol", "NVDDR2").one_of({"NVDDR2": True})
    draft.set("ssd.timing.command", "290ns", "Flash_Comm_Protocol")
    draft.set("ssd.timing.bus_arbitration", "data_first")
    draft.approximate(
        "Flash_Comm_Protocol",
        "the cycles of a read's command, which MQSim has from the timing of NV-DDR2; those of a "
        "program take "
        "71 ns more there, and a die's ready signal 20 ns",
    )
    _suspend(draft, given)


def _suspend(draft: Draft, given: Parameters) -> None:
    kinds = ("NONE", "PROGRAM", "PROGRAM_ERASE", "ERASE")
    kind = given.get("CMD_Suspension_Support", "ERASE").one_of({name: name for name in kinds})
    program = given.get("Suspend_Program_Time", "100000").whole(0, 60 * 10**9)
    erase = given.get("Suspend_Erase_Time", "700000").whole(0, 60 * 10**9)
    if kind == "PROGRAM_ERASE":
        table = {"type": "program_erase", "suspend": time(min(program, erase))}
        names = "CMD_Suspension_Support", "Suspend_Program_Time", "Suspend_Erase_Time"
        draft.set("ssd.commands.suspend", table, *names)
        if program != erase:
            draft.approximate(names[2], "one time for both; the shorter of the two is taken")
        return
    draft.set("ssd.commands.suspend", "none", "CMD_Suspension_Support")
    if kind != "NONE":
        draft.approximate(
            "CMD_Suspension_Support",
            "programs and erases can be suspended, or neither; neither (MQSim at 7ec40e3 never "
            "suspends, either)",
        )
    draft.lose("Suspend_Program_Time and Suspend_Erase_Time", "nothing is suspended")


def _mapping(draft: Draft, given: Parameters) -> None:
    mapping = given.get("Address_Mapping", "PAGE_LEVEL")
    if mapping.one_of({"PAGE_LEVEL": False, "HYBRID": True}):
        raise InputError(
            f"{mapping.place}: {mapping.name}: found 'HYBRID', of which MQSim has the name "
            "alone; allowed: PAGE_LEVEL"
        )
    spare = given.get("Overprovisioning_Ratio", "0.07").number(0.0, 0.99)
    draft.set("ssd.ftl.over_provisioning", spare, "Overprovisioning_Ratio")
    cache = given.get("CMT_Capacity", str(2 * 2**20)).whole(0, 2**60)
    if given.get("Ideal_Mapping_Table", "false").switch():
        draft.set("ssd.ftl.mapping", "page", "Address_Mapping", "Ideal_Mapping_Table")
        draft.lose("CMT_Capacity", "the whole table is in RAM (Ideal_Mapping_Table)")
    else:
        # MQSim keeps, with each entry, a bit for every sector of the page.
        page_bits = math.log2(_pages(draft))
        sectors = _page_bytes(draft) // 512
        table = {
            "type": "demand_paged",
            "cache": size(cache),
            "cached_entry": f"{math.ceil((2 * page_bits + sectors) / 8)}B",
            "entry": f"{math.ceil((page_bits + sectors) / 8)}B",
        }
        draft.set(
            "ssd.ftl.mapping", table, "Address_Mapping", "Ideal_Mapping_Table", "CMT_Capacity"
        )
    order = given.get("Plane_Allocation_Scheme", "CWDP").one_of(_ORDERS)
    draft.set("ssd.ftl.allocation", order, "Plane_Allocation_Scheme")


def _pages(draft: Draft) -> int:
    names = (
        "channels",
        "chips_per_channel",
        "dies_per_chip",
        "planes_per_die",
        "blocks_per_plane",
        "pages_per_block",
    )
    return math.prod(draft.values[f"ssd.geometry.{name}"] for name in names)


def _page_bytes(draft: Draft) -> int:
    return size_bytes(draft.values["ssd.geometry.page_size"])


def _cache(draft: Draft, given: Parameters) -> None:
    mechanism = given.get("Caching_Mechanism", "ADVANCED")
    mechanism.one_of({"SIMPLE": None, "ADVANCED": None})
    capacity = given.get("Data_Cache_Capacity", str(512 * 2**20)).whole(0, 2**60)
    row = given.get("Data_Cache_DRAM_Row_Size", "8192").whole(1, 2**30)
    rate = given.get("Data_Cache_DRAM_Data_Rate", "800").whole(1, 10**6)
    burst = given.get("Data_Cache_DRAM_Data_Busrt_Size", "4").whole(1, 2**20)
    if other := given.maybe("Data_Cache_DRAM_Data_Burst_Size"):
        draft.lose(other.name, "MQSim reads the name Data_Cache_DRAM_Data_Busrt_Size alone")
    opening = sum(
        given.get(f"Data_Cache_DRAM_{name}", "13").whole(0, 10**9) for name in ("tRCD", "tCL")
    )
    given.get("Data_Cache_DRAM_tRP", "13").whole(0, 10**9)
    page = min(_page_bytes(draft), row)
    latency = opening + round(page / burst * 1000 / rate)
    draft.set("ssd.buffer.capacity", size(capacity), "Data_Cache_Capacity")
    draft.set("ssd.buffer.latency", time(latency), "Data_Cache_DRAM_*")
    draft.approximate(
        "Data_Cache_DRAM_*", "the time of a page, for each request, however many pages it has"
    )
    draft.approximate(
        "Caching_Mechanism",
        "a buffer of pages, the least recently used destaged between ssd.buffer.high_watermark "
        "and low_watermark",
    )


def _collections(draft: Draft, given: Parameters) -> None:
    blocks = draft.values["ssd.geometry.blocks_per_plane"]
    share = given.get("GC_Exec_Threshold", "0.05").number(0.0, 1.0)
    hard = given.get("GC_Hard_Threshold", "0.005").number(0.0, 1.0)
    threshold = max(_COLLECTIONS_OF_A_PLANE, int(share * blocks))
    draft.set("ssd.gc.soft_threshold", {"blocks": threshold}, "GC_Exec_Threshold")
    if threshold > int(share * blocks):
        draft.approximate(
            "GC_Exec_Threshold", f"MQSim takes at least {_COLLECTIONS_OF_A_PLANE} blocks"
        )
    is_preemptible = given.get("Preemptible_GC_Enabled", "true").switch()
    if is_preemptible:
        draft.set("ssd.gc.preemption", "semi_preemptive", "Preemptible_GC_Enabled")
        draft.approximate(
            "Preemptible_GC_Enabled",
            "the scheme that MQSim names (Lee et al.); MQSim itself holds a collection back as "
            "long as any request waits",
        )
        stop = max(1, int(hard * blocks))
        draft.set("ssd.gc.hard_threshold", {"blocks": stop}, "GC_Hard_Threshold")
    else:
        draft.set("ssd.gc.preemption", "none", "Preemptible_GC_Enabled")
        draft.set("ssd.gc.hard_threshold", {"blocks": _COLLECTIONS_OF_A_PLANE})
        draft.lose(
            "GC_Hard_Threshold",
            "of no effect unless collections are preemptible; MQSim takes no writes below "
            f"{_COLLECTIONS_OF_A_PLANE} free "
            "blocks of a plane",
        )
    _victim(draft, given)
    copyback = given.get("Use_Copyback_for_GC", "false").switch()
    draft.set("ssd.gc.copyback", copyback, "Use_Copyback_for_GC")


def _victim(draft: Draft, given: Parameters) -> None:
    blocks = draft.values["ssd.geometry.blocks_per_plane"]
    name = "GC_Block_Selection_Policy"
    policies = ("GREEDY", "RGA", "RANDOM", "RANDOM_P", "RANDOM_PP", "FIFO")
    policy = given.get(name, "RGA").one_of({policy: policy for policy in policies})
    if policy == "RGA":
        draft.set("ssd.gc.victim", {"type": "rga", "d": max(1, int(math.log2(blocks)))}, name)
    elif policy == "RANDOM":
        draft.set("ssd.gc.victim", "random", name)
        draft.approximate(
            name, "a block without an invalid page is collected; MQSim then waits for the next"
        )
    elif policy in ("RANDOM_P", "RANDOM_PP"):
        draft.set("ssd.gc.victim", "random+", name)
        if policy == "RANDOM_PP":
            draft.approximate(
                name, "random+: drawn again until the block has one invalid page, not many"
            )
    else:
        draft.set("ssd.gc.victim", policy.lower(), name)
        if policy == "FIFO":
            draft.approximate(
                name,
                "every block in its turn; MQSim's source drops a block that cannot be collected "
                "yet "
                '({ type = "fifo", ineligible = "drop", queued_when = "opened" })',
            )


def _wear(draft: Draft, given: Parameters) -> None:
    if given.get("Dynamic_Wearleveling_Enabled", "true").switch():
        draft.set("ssd.ftl.free_blocks", "least_worn", "Dynamic_Wearleveling_Enabled")
    else:
        draft.set("ssd.ftl.free_blocks", "fifo", "Dynamic_Wearleveling_Enabled")
    is_static = given.get("Static_Wearleveling_Enabled", "true").switch()
    threshold = given.get("Static_Wearleveling_Threshold", "100").whole(0, 10_000_000)
    names = "Static_Wearleveling_Enabled", "Static_Wearleveling_Threshold"
    draft.set("ssd.wear.static_threshold", threshold if is_static else 0, *names)
    cycles = given.get("Block_PE_Cycles_Limit", "10000").whole(1, 10_000_000)
    draft.set("ssd.endurance.rated_cycles", cycles, "Block_PE_Cycles_Limit")
    draft.approximate(
        "Block_PE_Cycles_Limit", "blocks are rated for it; they do not fail beyond it"
    )
