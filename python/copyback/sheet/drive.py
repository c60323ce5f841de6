"""Configuration of a drive of one's own: every key that is written, with where it is from."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback._core import Config, InputError
from copyback.importers.draft import size, time
from copyback.inputs.configuration import to_toml
from copyback.sheet import formulas, link, promised
from copyback.sheet.entry import Entry, Figure, Source
from copyback.sheet.flash import Flash, bytes_text, derived, flash_of
from copyback.sheet.formulas import RANDOM
from copyback.sheet.sheet import USUAL, Cells, Interface
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback.sheet.promised import Rate
    from copyback.sheet.sheet import Sheet

_WIDTH = 96
#: Part of what the drive keeps up that the workload of the file asks for.
LOAD, READ_SHARE = 0.5, 0.7
#: Requests of it, and victims of each die, or fillings of the buffer, for which there are more.
REQUESTS, VICTIMS, FILLINGS = 200_000, 30, 60
#: Bytes of the simulator for each unit of mapping.
TABLE_BYTES = 8


@dataclass(frozen=True)
class Drive:
    """Configuration in the making, and what is to be expected of it."""

    flash: Flash
    entries: list[Entry]
    rates: list[Rate]

    def nested(self) -> dict[str, Any]:
        """Return the configuration as a dictionary of tables."""
        root: dict[str, Any] = {}
        for entry in self.entries:
            *tables, last = entry.key.split(".")
            table = root
            for name in tables:
                table = table.setdefault(name, {})
            table[last] = entry.value
        return root

    @property
    def memory(self) -> float:
        """Bytes that a simulation of it takes, about."""
        return self.flash.shape.flash / RANDOM * TABLE_BYTES

    def to_toml(self, command: str) -> str:
        """Return the configuration as a file that says of each key where it is from."""
        return "\n".join([*self._header(command), *self._tables(), ""])

    def summary(self) -> str:
        """Return what the drive is, in a sentence."""
        shape, scale = self.flash.shape, self.flash.sheet.scale
        part = "" if scale == 1 else f"1/{scale} of it here, in blocks of fewer pages: "
        return (
            f"{bytes_text(self.flash.sheet.capacity.value)} of {bytes_text(shape.flash * scale)} "
            f"of {self.flash.cells.upper()} flash; {part}{shape.channels} channels, {shape.dies} "
            f"dies of {shape.planes} planes, {shape.blocks_per_plane} blocks of "
            f"{shape.pages_per_block} pages of {units.size(shape.page)}"
        )

    def _header(self, command: str) -> Iterator[str]:
        yield from _wrapped(f"{self.summary()}.")
        yield from ("#", "# Written by:")
        yield from (f"#   {line}" for line in _lines(command, _WIDTH - 2))
        yield "#"
        yield from _wrapped(
            "A comment says where the keys below it are from. Given: what you said. Derived: what "
            "follows from it, with the formula. Assumed: of the usual size; change it if you know "
            "better."
        )
        yield from ("#", "# What to expect, by closed forms:")
        for rate in self.rates:
            yield from _wrapped(f"- {rate}")

    def _tables(self) -> Iterator[str]:
        table = comment = ""
        for entry in self.entries:
            home, _, name = entry.key.rpartition(".")
            if home != table:
                table, comment = home, ""
                yield from ("", f"[{table}]")
            if str(entry) != comment:
                comment = str(entry)
                yield from _wrapped(comment)
            yield f"{name} = {to_toml(entry.value)}"


def _wrapped(text: str) -> Iterator[str]:
    for index, line in enumerate(_lines(text, _WIDTH)):
        yield f"# {'' if index == 0 else '  '}{line}"


def _lines(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


def drive_of(sheet: Sheet) -> Drive:
    """Return the configuration of a drive from what a sheet says of it.

    Raises
    ------
    InputError
        If numbers of the sheet contradict one another, or make no drive that can run.
    """
    cells = sheet.cells or Cells.TLC
    interface = sheet.interface or Interface.NVME
    host = link.link(sheet, interface)
    flash = flash_of(sheet, cells, interface, host)
    cache = _cache_program(flash)
    promised.check(flash, cache.value if cache else None)
    drive = Drive(
        flash,
        [
            *_geometry(flash),
            *_timing(flash),
            *_rules(flash),
            *(_cache(flash, cache) if cache else ()),
            *_around(flash),
            *link.entries(sheet, interface, host),
            *_endurance(flash),
            *_load(flash),
        ],
        list(promised.rates(flash, cache.value if cache else None)),
    )
    _check(drive)
    return drive


def _check(drive: Drive) -> None:
    """Refuse what cannot be run, in the words of the configuration."""
    try:
        Config.load(json=json.dumps(drive.nested()))
    except InputError as fault:
        first = str(fault).splitlines()[0].removeprefix("config: ")
        raise InputError(f"the sheet makes no drive that can run: {first}") from None


def _entry(key: str, value: Any, figure: Figure) -> Entry:
    return Entry(key, value, figure.source, figure.why)


def _ns(figure: Figure) -> str:
    return time(round(figure.value))


def _geometry(flash: Flash) -> Iterator[Entry]:
    shape, figures, scale = flash.shape, flash.figures, flash.sheet.scale
    home = "ssd.geometry"
    yield _entry(f"{home}.channels", shape.channels, figures["channels"])
    chips = derived(0, f"{shape.dies} dies ({figures['dies'].why}) / {shape.channels} channels")
    yield _entry(f"{home}.chips_per_channel", shape.dies // shape.channels, chips)
    yield Entry(f"{home}.dies_per_chip", 1, Source.ASSUMED, "a chip here is a die")
    yield _entry(f"{home}.planes_per_die", shape.planes, figures["planes"])
    yield _entry(f"{home}.blocks_per_plane", shape.blocks_per_plane, figures["blocks"])
    pages = figures["pages"]
    if scale > 1:
        pages = derived(0, f"{pages.value:g} ({pages.why}) / --scale {scale}")
    yield _entry(f"{home}.pages_per_block", shape.pages_per_block, pages)
    yield _entry(f"{home}.page_size", size(shape.page), figures["page"])
    yield Entry(f"{home}.spare_size", size(shape.aside), Source.ASSUMED, "an eighth of a page")


def _timing(flash: Flash) -> Iterator[Entry]:
    figures, home = flash.figures, "ssd.timing"
    for key in ("read", "program", "erase"):
        yield _entry(f"{home}.{key}", _ns(figures[key]), figures[key])
    command = f"{formulas.COMMAND_NS:g}ns"
    yield Entry(f"{home}.command", command, Source.ASSUMED, "usual")
    bus = f"{round(figures['bus'].value / 1e6)}MT/s"
    yield _entry(f"{home}.transfer_rate", bus, figures["bus"])
    yield Entry(f"{home}.register", "double", Source.ASSUMED, "cache programs, as most dies have")


def _rules(flash: Flash) -> Iterator[Entry]:
    """Yield how the controller works, which no sheet says."""
    usual = Source.ASSUMED, "as presets of drives that are sold"
    yield Entry("ssd.commands.multi_plane", True, *usual)
    yield Entry("ssd.commands.suspend", "program_erase", *usual)
    yield Entry("ssd.ftl.mapping", "page", *usual)
    if flash.shape.page > RANDOM:
        yield Entry("ssd.ftl.mapping_unit", "4KiB", *usual)
    yield Entry("ssd.ftl.allocation", "dynamic", *usual)
    hidden = 1 - (flash.user + RANDOM / 2) / flash.shape.flash
    share = flash.shape.flash / flash.user - 1
    why = (
        f"1 - {bytes_text(flash.user)} / {bytes_text(flash.shape.flash)} of flash "
        f"({flash.figures['flash'].why}); {share:.1%} of the capacity"
    )
    yield Entry("ssd.ftl.over_provisioning", round(hidden, 12), Source.DERIVED, why)
    yield Entry("ssd.ftl.free_blocks", "least_worn", *usual)
    yield Entry("ssd.gc.victim", "greedy", *usual)
    if flash.shape.planes > 1 and flash.shape.page > RANDOM:
        yield Entry("ssd.gc.width", "superblock", *usual)
    yield Entry("ssd.gc.preemption", "paced", *usual)
    yield Entry("ssd.gc.soft_threshold", {"blocks": flash.soft_blocks}, *usual)
    yield Entry("ssd.gc.hard_threshold", {"blocks": 2}, *usual)
    yield Entry("ssd.gc.copyback", False, *usual)


def _cache_program(flash: Flash) -> Figure | None:
    """Return the time of a program into the SLC cache; None without one."""
    if flash.sheet.slc_cache is None:
        return None
    asked = flash.sheet.sequential_write
    if asked is None:
        return Figure(USUAL[Cells.SLC].program_ns, Source.ASSUMED, "usual for SLC")
    shape = flash.shape
    return derived(
        shape.stripe / asked.value * 1e9,
        f"program: {shape.dies} dies x {shape.planes} planes x {shape.page} B / "
        f"--sequential-write {asked}",
    )


def _cache(flash: Flash, program: Figure) -> Iterator[Entry]:
    sheet, home = flash.sheet, "ssd.slc_cache"
    row = f"{bytes_text(flash.shape.block_stripe * sheet.scale / flash.cells.bits)} a block of all"
    own = f"--slc-static {sheet.slc_static} / {row}" if sheet.slc_static else "all of it is lent"
    source = Source.DERIVED if sheet.slc_static else Source.ASSUMED
    yield Entry(f"{home}.static", {"blocks": flash.static_blocks}, source, own)
    lent = f"the rest of --slc-cache {sheet.slc_cache} / {row}"
    yield Entry(f"{home}.dynamic", {"blocks": flash.lent_blocks}, Source.DERIVED, lent)
    yield _entry(f"{home}.native_bits", flash.cells.bits, derived(0, f"{flash.cells.upper()}"))
    idle = "usual: an idle second begins to fold"
    yield Entry(f"{home}.fold_after_idle", "1s", Source.ASSUMED, idle)
    read = min(USUAL[Cells.SLC].read_ns, flash.times.read)
    times = {
        "read": time(round(read)),
        "program": _ns(program),
        "erase": _ns(flash.figures["erase"]),
    }
    yield _entry(f"{home}.timing", times, program)


def _around(flash: Flash) -> Iterator[Entry]:
    dram = flash.sheet.dram
    source, why = (Source.GIVEN, f"--dram {dram}") if dram else (Source.ASSUMED, "DRAM for writes")
    yield Entry("ssd.buffer.capacity", size(flash.buffer), source, why)
    yield Entry("ssd.buffer.latency", "1us", Source.ASSUMED, "DRAM")
    yield _entry("host.command_overhead", _ns(flash.figures["command"]), flash.figures["command"])


def _endurance(flash: Flash) -> Iterator[Entry]:
    """Yield the rated cycles, if the sheet lets them be known."""
    sheet = flash.sheet
    whole = flash.shape.flash * sheet.scale
    if sheet.endurance is not None and sheet.cycles is not None:
        most = sheet.cycles * whole
        if sheet.endurance.value > most:
            raise InputError(
                f"--endurance {sheet.endurance}: {sheet.cycles} cycles of {bytes_text(whole)} of "
                f"flash are {bytes_text(most)}, whatever the write amplification"
            )
    key = "ssd.endurance.rated_cycles"
    if sheet.cycles is not None:
        yield Entry(key, sheet.cycles, Source.GIVEN, f"--cycles {sheet.cycles}")
    elif sheet.endurance is not None:
        cycles = max(1, round(sheet.endurance.value / whole))
        why = f"--endurance {sheet.endurance} / {bytes_text(whole)} of flash"
        yield Entry(key, cycles, Source.DERIVED, f"{why}, at a write amplification of 1: the least")


def _load(flash: Flash) -> Iterator[Entry]:
    """Yield a small workload that the drive keeps up with."""
    full = flash.sheet.slc_cache is None
    fill, overwrites = (1.0, 2.0) if full else (0.5, 1.0)
    state = "a drive in use" if full else "half full, and in use: free blocks are lent to the cache"
    yield Entry("precondition.fill", fill, Source.ASSUMED, state)
    yield Entry("precondition.overwrites", overwrites, Source.ASSUMED, state)
    writes = formulas.random_writes_per_second(flash.shape, flash.times, flash.amplified)
    reads = min(
        formulas.reads_per_second(flash.shape, flash.times, flash.standard.depth),
        1e9 / flash.host.takes_ns(RANDOM),
    )
    gap = ((1 - READ_SHARE) / writes + READ_SHARE / reads) / LOAD
    why = "an example: replace it by yours (--trace FILE, --workload NAME)"
    yield Entry("workload.type", "synthetic", Source.ASSUMED, why)
    victims = VICTIMS * flash.shape.block_stripe / flash.amplified
    written = max(victims, FILLINGS * flash.buffer) / RANDOM
    requests = max(REQUESTS, round(written / (1 - READ_SHARE), -3))
    enough = f"{VICTIMS} victims of each die and {FILLINGS} buffers, so that averages settle"
    rounds = {"type": "until_settled", "round": int(requests)}
    yield Entry("workload.requests", rounds, Source.DERIVED, f"rounds of {enough}")
    yield Entry("workload.request_size", "4KiB", Source.ASSUMED, "an example")
    yield Entry("workload.read_share", READ_SHARE, Source.ASSUMED, "an example")
    yield Entry("workload.sequential_share", 0.0, Source.ASSUMED, "an example")
    if not full:
        yield Entry("workload.footprint", fill, Source.ASSUMED, "what is filled")
    arrivals = {"type": "exponential", "mean": f"{max(1, round(gap * 1e9))}ns"}
    yield Entry(
        "workload.inter_arrival", arrivals, Source.DERIVED, "half of what the drive keeps up"
    )
