"""Rates that a drive reaches by the closed forms, beside those of the sheet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.sheet import formulas
from copyback.sheet.flash import BUFFER_NS, TOLERANCE, bytes_text, time_text
from copyback.sheet.formulas import RANDOM, SEQUENTIAL
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback.sheet.flash import Flash
    from copyback.sheet.quantity import Quantity


@dataclass(frozen=True)
class Rate:
    """Rate by the closed forms: bytes or requests a second, or nanoseconds."""

    name: str
    value: float
    kind: str
    bound: str
    asked: Quantity | None

    def __str__(self) -> str:
        sheet = f"; the sheet says {self.asked}" if self.asked else ""
        return f"{self.name}: {_text(self.value, self.kind)} ({self.bound}){sheet}"


def _text(value: float, kind: str) -> str:
    if kind == "time":
        return time_text(value)
    return bytes_text(value, "/s") if kind == "rate" else f"{units.rate(value).strip()} IOPS"


def sequential_write(flash: Flash, program_ns: float) -> tuple[float, str]:
    """Return the bytes a second of large writes, and what bounds them."""
    return min(
        (flash.host.rate_of(SEQUENTIAL), "the link"),
        (formulas.channels_per_second(flash.shape, flash.times), "the channels"),
        (
            formulas.programs_per_second(flash.shape, program_ns),
            f"{flash.shape.dies} dies x {flash.shape.planes} planes x "
            f"{units.size(flash.shape.page)} / {time_text(program_ns)}",
        ),
    )


def rates(flash: Flash, cache_ns: float | None) -> Iterator[Rate]:
    """Yield what is to be expected of the drive."""
    sheet, depth = flash.sheet, flash.standard.depth
    link_reads = (1e9 / flash.host.takes_ns(RANDOM), "the link")
    dies = (formulas.reads_per_second(flash.shape, flash.times, depth), "dies and channels")
    carried = (
        formulas.channels_per_second(flash.shape, flash.times),
        "the channels",
    )
    link = (flash.host.rate_of(SEQUENTIAL), "the link")
    yield Rate("sequential reads", *_kind(min(link, carried), "rate"), sheet.sequential_read)
    first = cache_ns if cache_ns is not None else flash.times.program
    name = "sequential writes" if cache_ns is None else "sequential writes into the cache"
    asked = sheet.sequential_write if cache_ns is not None else _steady(flash)
    yield Rate(name, *_kind(sequential_write(flash, first), "rate"), asked)
    if cache_ns is not None:
        past = sequential_write(flash, flash.times.program)
        yield Rate("sequential writes past the cache", *_kind(past, "rate"), sheet.sustained_write)
    yield Rate(
        f"random reads of 4 KiB at depth {depth}",
        *_kind(min(link_reads, dies), "iops"),
        sheet.random_read,
    )
    if cache_ns is None:
        amplified = flash.amplified
        writes = formulas.random_writes_per_second(flash.shape, flash.times, amplified)
        steady = (writes, f"dies and channels, write amplification {amplified:.2f}")
        yield Rate(
            "random writes of 4 KiB, steady",
            *_kind(min(link_reads, steady), "iops"),
            sheet.random_write,
        )
    yield from _latencies(flash)


def _kind(found: tuple[float, str], kind: str) -> tuple[float, str, str]:
    return found[0], kind, found[1]


def _steady(flash: Flash) -> Quantity | None:
    return flash.sheet.sustained_write or flash.sheet.sequential_write


def _latencies(flash: Flash) -> Iterator[Rate]:
    command = flash.figures["command"].value + flash.host.takes_ns(RANDOM)
    read = command + flash.times.read + flash.times.transfer(flash.shape, RANDOM)
    yield Rate(
        "a read of 4 KiB alone", read, "time", "command, link, array", flash.sheet.read_latency
    )
    yield Rate(
        "a write of 4 KiB alone",
        command + BUFFER_NS,
        "time",
        "command, link, buffer",
        flash.sheet.write_latency,
    )


def check(flash: Flash, cache_ns: float | None) -> None:
    """Refuse a sheet whose sequential writes its dies or channels cannot take."""
    if cache_ns is None:
        _check(flash, "--sequential-write", flash.sheet.sequential_write, flash.times.program)
        _check(flash, "--sustained-write", flash.sheet.sustained_write, flash.times.program)
        return
    _check(flash, "--sequential-write", flash.sheet.sequential_write, cache_ns)
    _check(flash, "--sustained-write", flash.sheet.sustained_write, flash.times.program)
    if cache_ns > flash.times.program:
        raise InputError(
            f"--slc-cache: a program of it takes {time_text(cache_ns)}, longer than one of "
            f"{flash.cells.upper()}, {time_text(flash.times.program)}; allowed: a higher "
            "--sequential-write, or a longer --program"
        )


def _check(flash: Flash, option: str, asked: Quantity | None, program_ns: float) -> None:
    if asked is None:
        return
    reached, bound = sequential_write(flash, program_ns)
    if reached < asked.value * (1 - TOLERANCE):
        raise InputError(
            f"{option} {asked}: {bound} give {bytes_text(reached, '/s')}; allowed: a shorter "
            "--program, more --dies or --planes, a faster --bus, or --slc-cache"
        )
