"""Geometry and times of the flash, from what a sheet says and what is usual."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.sheet import formulas
from copyback.sheet.entry import Figure, Source
from copyback.sheet.formulas import RANDOM, HostLink, Shape, Times
from copyback.sheet.sheet import LINKS, USUAL, Cells, Interface
from copyback.words import units

if TYPE_CHECKING:
    from copyback.sheet.quantity import Quantity
    from copyback.sheet.sheet import Link, Sheet, Usual

#: What is taken where a sheet does not name it.
PAGE, ASIDE_SHARE, MOST_CHANNELS = 16 * 1024, 1 / 8, 8
GIB_PER_GB = 2.0**30 / 1e9
BUFFER_NS, BUFFER = 1e3, 16 * 2**20
#: What a figure may miss before it contradicts another one.
TOLERANCE = 0.05


def given(quantity: Quantity | int | None, option: str, default: Figure) -> Figure:
    """Return what the sheet says, or else a figure that stands for it."""
    if quantity is None:
        return default
    value = quantity if isinstance(quantity, int) else quantity.value
    return Figure(float(value), Source.GIVEN, f"{option} {quantity}")


def assumed(value: float, why: str) -> Figure:
    """Return a figure that is of the usual size."""
    return Figure(value, Source.ASSUMED, why)


def derived(value: float, why: str) -> Figure:
    """Return a figure that follows from others."""
    return Figure(value, Source.DERIVED, why)


def time_text(ns: float) -> str:
    """Return a time for people."""
    return units.time_us(ns / 1e3)


def bytes_text(size: float, each: str = "") -> str:
    """Return bytes for people, in decimal units as data sheets have them.

    >>> bytes_text(1.0995e12), bytes_text(490e6, "/s")
    ('1.10 TB', '490 MB/s')
    """
    number = f"{units.significant(size / 1e12)} T" if size >= 1e12 else units.rate(size)
    return f"{number}B{each}"


@dataclass(frozen=True)
class Flash:
    """Flash of a drive, its link, and where each number is from."""

    sheet: Sheet
    cells: Cells
    interface: Interface
    host: HostLink
    figures: dict[str, Figure]
    shape: Shape
    times: Times
    #: Blocks of a plane that are the SLC cache's own, and those that are lent to it.
    static_blocks: int
    lent_blocks: int

    @property
    def standard(self) -> Link:
        """Standard of the interface."""
        return LINKS[self.interface]

    @property
    def user(self) -> int:
        """Bytes that the host sees, in whole units of mapping."""
        return int(self.sheet.capacity.value / self.sheet.scale // RANDOM * RANDOM)

    @property
    def buffer(self) -> int:
        """Bytes of DRAM that hold writes."""
        return int(self.sheet.dram.value) if self.sheet.dram else BUFFER

    @property
    def soft_blocks(self) -> int:
        """Free blocks of a plane below which it is collected."""
        return max(4, math.ceil(0.01 * self.shape.blocks_per_plane))

    @property
    def amplified(self) -> float:
        """Write amplification of uniform random writes to the whole drive."""
        kept = self.soft_blocks + self.static_blocks
        used = self.shape.flash * (1 - kept / self.shape.blocks_per_plane)
        return formulas.amplification(max(used / self.user, 1.001), 1.0)


def flash_of(sheet: Sheet, cells: Cells, interface: Interface, host: HostLink) -> Flash:
    """Return the flash of a drive.

    Raises
    ------
    InputError
        If numbers of the sheet contradict one another.
    """
    if sheet.capacity.value < sheet.scale * RANDOM:
        raise InputError(
            f"--capacity {sheet.capacity}: found less than 4 KiB for each of --scale {sheet.scale}"
        )
    usual = USUAL[cells]
    figures: dict[str, Figure] = {}
    kind = f"usual for {cells.upper()}"
    figures["command"] = _command(sheet, interface, host)
    figures["bus"] = given(sheet.bus, "--bus", assumed(usual.bus, kind))
    figures["erase"] = _erase(sheet, assumed(usual.erase_ns, kind))
    figures["page"] = given(sheet.page, "--page", assumed(PAGE, "usual"))
    figures["planes"] = given(sheet.planes, "--planes", assumed(usual.planes, kind))
    figures["read"] = _read(sheet, usual, figures, host, LINKS[interface].depth)
    figures["pages"] = given(
        sheet.pages_per_block, "--pages-per-block", assumed(usual.pages_per_block, kind)
    )
    figures["flash"] = _size(sheet, cells)
    figures["dies"] = _dies(sheet, usual, figures, LINKS[interface].depth)
    figures["channels"] = _channels(sheet, int(figures["dies"].value))
    shape = _shape(sheet, figures)
    times = Times(figures["read"].value, 0.0, figures["erase"].value, figures["bus"].value)
    static, lent = _cache_blocks(sheet, cells, shape)
    flash = Flash(sheet, cells, interface, host, figures, shape, times, static, lent)
    figures["program"] = _program(flash, usual)
    return replace(flash, times=replace(times, program=figures["program"].value))


def _command(sheet: Sheet, interface: Interface, host: HostLink) -> Figure:
    link = LINKS[interface]
    takes = host.takes_ns(RANDOM) + BUFFER_NS
    if sheet.write_latency is None:
        return assumed(link.command_ns, f"usual for {interface.upper()}")
    left = sheet.write_latency.value - takes
    if left < 0:
        raise InputError(
            f"--write-latency {sheet.write_latency}: the link alone takes {time_text(takes)} of a "
            "write of 4 KiB; allowed: more than that, or a faster link"
        )
    return derived(
        left, f"--write-latency {sheet.write_latency} - {time_text(takes)} of link and buffer"
    )


def _erase(sheet: Sheet, usual: Figure) -> Figure:
    """Return the time of an erase, which is as much shorter as a block is smaller."""
    whole = given(sheet.erase, "--erase", usual)
    if sheet.scale == 1:
        return whole
    why = f"{time_text(whole.value)} ({whole.why}) / --scale {sheet.scale}, as blocks are smaller"
    return derived(whole.value / sheet.scale, why)


def _read(
    sheet: Sheet, usual: Usual, figures: dict[str, Figure], host: HostLink, depth: int
) -> Figure:
    """Return the time of a read of the array."""
    if sheet.read is not None:
        return given(sheet.read, "--read", assumed(0, ""))
    sent = formulas.COMMAND_NS + RANDOM * (1 + ASIDE_SHARE) / figures["bus"].value * 1e9
    if sheet.read_latency is not None:
        rest = figures["command"].value + host.takes_ns(RANDOM) + sent
        if sheet.read_latency.value <= rest:
            raise InputError(
                f"--read-latency {sheet.read_latency}: command, link and channel alone take "
                f"{time_text(rest)}; allowed: more than that"
            )
        return derived(
            sheet.read_latency.value - rest,
            f"--read-latency {sheet.read_latency} - {time_text(rest)} of command, link, channel",
        )
    if sheet.random_read is not None and sheet.dies is not None:
        busy = formulas.busy(sheet.dies, depth)
        most = sheet.dies * busy / sheet.random_read.value * 1e9
        if most < usual.read_ns:
            return derived(
                most,
                f"{sheet.dies} dies, {busy:.1%} busy at depth {depth} / --random-read "
                f"{sheet.random_read}",
            )
    return assumed(usual.read_ns, "usual for the cells")


def _size(sheet: Sheet, cells: Cells) -> Figure:
    """Return the bytes of flash."""
    if sheet.flash is not None and sheet.spare is not None:
        raise InputError(
            f"--flash {sheet.flash} and --spare {sheet.spare} say the same: give one of them"
        )
    if sheet.flash is not None:
        return given(sheet.flash, "--flash", assumed(0, ""))
    capacity = sheet.capacity.value
    cache = sheet.slc_static.value * cells.bits if sheet.slc_static else 0.0
    beside = f" + {cells.bits} x --slc-static {sheet.slc_static}" if cache else ""
    if sheet.spare is not None:
        return derived(
            capacity * (1 + sheet.spare.value) + cache,
            f"--capacity {sheet.capacity} x (1 + --spare {sheet.spare}){beside}",
        )
    return assumed(capacity * GIB_PER_GB + cache, f"1 GiB for each GB of capacity{beside}")


def _dies(sheet: Sheet, usual: Usual, figures: dict[str, Figure], depth: int) -> Figure:
    """Return the dies: those of the sheet, or as many as its rates and size need."""
    if sheet.dies is not None:
        return given(sheet.dies, "--dies", assumed(0, ""))
    die = bytes_text(usual.die_bytes)
    needs = [(figures["flash"].value / usual.die_bytes, f"flash / {die} a die, a usual one")]
    if sheet.random_read is not None:
        read = figures["read"].value
        working = sheet.random_read.value * read / 1e9
        if working >= depth:
            raise InputError(
                f"--random-read {sheet.random_read}: {depth} reads at a time of {time_text(read)} "
                f"give {units.rate(depth / read * 1e9)} IOPS at most; allowed: a shorter --read"
            )
        needs.append(
            (
                formulas.dies_for(working, depth),
                f"--random-read {sheet.random_read}, each {time_text(read)} of a die, at depth "
                f"{depth}",
            )
        )
    if sheet.program is not None and sheet.sequential_write is not None and not sheet.slc_cache:
        row = figures["planes"].value * figures["page"].value
        needs.append(
            (
                sheet.sequential_write.value * sheet.program.value / 1e9 / row,
                f"--sequential-write {sheet.sequential_write} x --program {sheet.program} / "
                "bytes of a die's planes",
            )
        )
    least, why = max(needs)
    step = MOST_CHANNELS if least > MOST_CHANNELS else 1
    dies = step * max(1, math.ceil(least / step - 0.01))
    return derived(dies, f"{why}: {least:.1f} or more")


def _channels(sheet: Sheet, dies: int) -> Figure:
    if sheet.channels is None:
        most = max(count for count in range(1, MOST_CHANNELS + 1) if dies % count == 0)
        return assumed(most, f"the most up to {MOST_CHANNELS} that divide {dies} dies")
    if dies % sheet.channels:
        raise InputError(
            f"--channels {sheet.channels}: {dies} dies do not divide over them; allowed: a divisor "
            f"of {dies}"
        )
    return given(sheet.channels, "--channels", assumed(0, ""))


def _shape(sheet: Sheet, figures: dict[str, Figure]) -> Shape:
    pages = max(1, round(figures["pages"].value / sheet.scale))
    page = int(figures["page"].value)
    shape = Shape(
        channels=int(figures["channels"].value),
        dies=int(figures["dies"].value),
        planes=int(figures["planes"].value),
        page=page,
        pages_per_block=pages,
        blocks_per_plane=1,
        aside=int(page * ASIDE_SHARE),
    )
    asked = figures["flash"].value / sheet.scale
    figures["blocks"] = given(
        sheet.blocks_per_plane,
        "--blocks-per-plane",
        derived(
            math.ceil(asked / shape.block_stripe),
            "flash / (dies x planes x pages x page), rounded up",
        ),
    )
    shape = replace(shape, blocks_per_plane=int(figures["blocks"].value))
    _check_size(sheet, shape, figures["flash"])
    return shape


def _check_size(sheet: Sheet, shape: Shape, flash: Figure) -> None:
    """Refuse a geometry that is not of the size that the sheet says."""
    have = shape.flash * sheet.scale
    product = (
        f"{shape.dies} dies x {shape.planes} planes x {shape.blocks_per_plane} blocks x "
        f"{shape.pages_per_block * sheet.scale} pages x {units.size(shape.page)} are "
        f"{bytes_text(have)} of flash"
    )
    if have <= sheet.capacity.value:
        raise InputError(
            f"--capacity {sheet.capacity}: {product}; allowed: more flash than capacity"
        )
    if sheet.blocks_per_plane is None or flash.source is Source.ASSUMED:
        return
    if abs(have / flash.value - 1) > TOLERANCE:
        raise InputError(
            f"--blocks-per-plane {sheet.blocks_per_plane}: {product}; {flash.why} "
            f"asks for {bytes_text(flash.value)}"
        )


def _cache_blocks(sheet: Sheet, cells: Cells, shape: Shape) -> tuple[int, int]:
    """Return the blocks of a plane that the SLC cache has, and those that it may be lent."""
    if sheet.slc_cache is None:
        if sheet.slc_static is not None:
            raise InputError("--slc-static: needs --slc-cache, the whole cache of which it is part")
        return 0, 0
    if cells is Cells.SLC:
        raise InputError("--slc-cache: the drive's cells are SLC already; allowed: mlc, tlc, qlc")
    of_a_block = shape.block_stripe * sheet.scale / cells.bits
    fixed = sheet.slc_static.value if sheet.slc_static is not None else 0.0
    if fixed > sheet.slc_cache.value:
        raise InputError(
            f"--slc-static {sheet.slc_static}: is more than the whole --slc-cache {sheet.slc_cache}"
        )
    return math.ceil(fixed / of_a_block), round((sheet.slc_cache.value - fixed) / of_a_block)


def _program(flash: Flash, usual: Usual) -> Figure:
    """Return the time of a program of the native cells."""
    sheet = flash.sheet
    if sheet.program is not None:
        return given(sheet.program, "--program", assumed(0, ""))
    stripe = f"{flash.shape.dies} dies x {flash.shape.planes} planes x {flash.shape.page} B"
    if sheet.slc_cache is not None:
        if sheet.sustained_write is None:
            return assumed(usual.program_ns, f"usual for {flash.cells.upper()}")
        return derived(
            flash.shape.stripe / sheet.sustained_write.value * 1e9,
            f"{stripe} / --sustained-write {sheet.sustained_write}",
        )
    found = [one for one in (_by_sequential(flash, stripe), _by_random(flash, stripe)) if one]
    if not found:
        return assumed(usual.program_ns, f"usual for {flash.cells.upper()}")
    return min(found, key=lambda one: one.value)


def _by_sequential(flash: Flash, stripe: str) -> Figure | None:
    """Return the longest program with which sequential writes are as fast as the sheet says."""
    asked = flash.sheet.sustained_write or flash.sheet.sequential_write
    if asked is None:
        return None
    option = "--sustained-write" if flash.sheet.sustained_write else "--sequential-write"
    return derived(flash.shape.stripe / asked.value * 1e9, f"{stripe} / {option} {asked}")


def _by_random(flash: Flash, stripe: str) -> Figure | None:
    """Return the program with which steady random writes are as fast as the sheet says."""
    asked = flash.sheet.random_write
    if asked is None:
        return None
    amplified = flash.amplified
    whole = flash.shape.stripe / (asked.value * RANDOM * amplified) * 1e9
    beside = formulas.collected_ns(flash.shape, flash.times, amplified)
    if whole <= beside:
        raise InputError(
            f"--random-write {asked}: {flash.shape.dies} dies have {time_text(whole)} for each "
            f"program at a write amplification of {amplified:.2f}, of which the reads, transfers "
            f"and erases of collections take {time_text(beside)}; allowed: fewer, or more --dies "
            "or --spare"
        )
    return derived(
        whole - beside,
        f"{stripe} / (--random-write {asked} x 4096 B x WA {amplified:.2f}) - {time_text(beside)} "
        "of collections",
    )
