"""``copyback init``."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import TYPE_CHECKING, Annotated, Any

import typer

from copyback.sheet import quantity
from copyback.sheet.quantity import Quantity  # noqa: TC001 - Typer reads it
from copyback.sheet.sheet import Cells, Interface

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from enum import StrEnum

    from copyback.sheet.drive import Drive


def _size(help_: str) -> Any:
    return typer.Option(metavar="SIZE", parser=quantity.size, help=help_)


def _time(help_: str) -> Any:
    return typer.Option(metavar="TIME", parser=quantity.time, help=help_)


def _rate(help_: str) -> Any:
    return typer.Option(metavar="RATE", parser=quantity.rate, help=help_)


def _iops(help_: str) -> Any:
    return typer.Option(metavar="IOPS", parser=quantity.iops, help=help_)


def _count(help_: str) -> Any:
    return typer.Option(metavar="N", min=1, help=help_)


#: What is asked in a terminal, in this order: names of options, how each is read, the question.
QUESTIONS: tuple[tuple[str, Callable[[str], Any] | type[StrEnum], str], ...] = (
    ("capacity", quantity.size, "Capacity, such as 960GB"),
    ("interface", Interface, "Interface: sata, sas or nvme"),
    ("cells", Cells, "Cells: slc, mlc, tlc or qlc"),
    ("spare", quantity.share, "Spare flash, as a share of the capacity, such as 7%"),
    ("sequential_read", quantity.rate, "Sequential reads, such as 3500MB/s"),
    ("sequential_write", quantity.rate, "Sequential writes, such as 3300MB/s"),
    ("random_read", quantity.iops, "Random reads of 4 KiB a second, such as 600K"),
    ("random_write", quantity.iops, "Random writes of 4 KiB a second, such as 33K"),
    ("slc_cache", quantity.size, "SLC cache, such as 42GB"),
    ("sustained_write", quantity.rate, "Sequential writes past that cache, such as 1700MB/s"),
    ("endurance", quantity.written, "Endurance, such as 600TBW"),
    ("dies", quantity.count, "Dies"),
    ("read", quantity.time, "Time to read a page, such as 60us"),
    ("program", quantity.time, "Time to program a page, such as 600us"),
    ("erase", quantity.time, "Time to erase a block, such as 3.5ms"),
    ("scale", quantity.count, "How many times smaller to simulate it; 16 prepares in seconds"),
)


def init(
    out: Annotated[Path, typer.Argument(metavar="OUT.toml", help="The file to write.")],
    capacity: Annotated[Quantity | None, _size("What the host sees, such as 960GB.")] = None,
    interface: Annotated[Interface | None, typer.Option(help="To the host; else nvme.")] = None,
    cells: Annotated[Cells | None, typer.Option(help="Kind of flash; else tlc.")] = None,
    spare: Annotated[
        Quantity | None,
        typer.Option(
            metavar="SHARE",
            parser=quantity.share,
            help="Flash beyond the capacity, as a share of the capacity: 7%.",
        ),
    ] = None,
    flash: Annotated[Quantity | None, _size("Flash in all, such as 1TiB, not --spare.")] = None,
    sequential_read: Annotated[Quantity | None, _rate("Large reads, such as 3500MB/s.")] = None,
    sequential_write: Annotated[
        Quantity | None, _rate("Large writes, into an SLC cache if there is one.")
    ] = None,
    sustained_write: Annotated[Quantity | None, _rate("Large writes past the SLC cache.")] = None,
    random_read: Annotated[Quantity | None, _iops("Reads of 4 KiB a second, such as 480K.")] = None,
    random_write: Annotated[
        Quantity | None, _iops("Writes of 4 KiB a second once the drive collects.")
    ] = None,
    read_latency: Annotated[Quantity | None, _time("One read of 4 KiB at a time.")] = None,
    write_latency: Annotated[Quantity | None, _time("One write of 4 KiB at a time.")] = None,
    slc_cache: Annotated[Quantity | None, _size("SLC cache of an empty drive.")] = None,
    slc_static: Annotated[
        Quantity | None, _size("The part of it that a full drive has, too.")
    ] = None,
    endurance: Annotated[
        Quantity | None,
        typer.Option(
            metavar="TBW", parser=quantity.written, help="What may be written, such as 600TBW."
        ),
    ] = None,
    cycles: Annotated[int | None, _count("Cycles that a block is rated for.")] = None,
    channels: Annotated[int | None, _count("Channels.")] = None,
    dies: Annotated[int | None, _count("Dies of the whole drive.")] = None,
    planes: Annotated[int | None, _count("Planes of a die.")] = None,
    page: Annotated[Quantity | None, _size("Page, such as 16KiB.")] = None,
    pages_per_block: Annotated[int | None, _count("Pages of an erase block.")] = None,
    blocks_per_plane: Annotated[int | None, _count("Blocks of a plane.")] = None,
    read: Annotated[Quantity | None, _time("tR: a page is read in this time.")] = None,
    program: Annotated[Quantity | None, _time("tPROG: a page is programmed in it.")] = None,
    erase: Annotated[Quantity | None, _time("tBERS: a block is erased in it.")] = None,
    bus: Annotated[
        Quantity | None,
        typer.Option(
            metavar="RATE", parser=quantity.transfers, help="A channel, such as 1200MT/s."
        ),
    ] = None,
    dram: Annotated[Quantity | None, _size("DRAM that holds writes; else 16MiB.")] = None,
    scale: Annotated[
        int | None,
        _count("Simulate a drive this many times smaller: as fast, of smaller blocks."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file.")] = False,
) -> None:
    """Write a commented configuration for a drive of your own, from what its data sheet says.

    Give what you know. The rest is derived, or assumed, and the file says which. In a terminal, and
    without --capacity, each number is asked for.
    """
    named = {key: value for key, value in locals().items() if key not in ("out", "force")}
    known = {key: value for key, value in named.items() if value is not None}
    _write(out, known, force=force)


def _write(out: Path, known: dict[str, Any], *, force: bool) -> None:
    """Derive the drive and write its file, which appears whole or not at all."""
    from copyback._core import InputError
    from copyback.data.destination import check_file, is_stream, staged_file
    from copyback.sheet.drive import drive_of
    from copyback.sheet.sheet import Sheet

    check_file(out)
    if out.exists() and not is_stream(out) and not force:
        raise InputError(f"{out}: is there already; --force overwrites it")
    if "capacity" not in known:
        known |= _asked(known)
    drive = drive_of(Sheet(**known))
    with staged_file(out) as staged:
        staged.write_text(drive.to_toml(_command(out, known)), encoding="utf-8")
    _show(drive, out)


def _asked(known: Mapping[str, Any]) -> dict[str, Any]:
    """Ask for what is not known; nothing is an answer, too, but for the capacity."""
    from copyback._core import InputError

    if not sys.stdin.isatty():
        raise InputError("--capacity: not given; allowed: a size such as 960GB")
    typer.echo("Press Enter where you do not know: it is derived or assumed.")
    answers = {}
    for key, parse, question in QUESTIONS:
        if key not in known:
            default = None if key == "capacity" else ""
            answers[key] = typer.prompt(
                question, default=default, show_default=False, value_proc=_reader(parse)
            )
    return {key: value for key, value in answers.items() if value is not None}


def _reader(parse: Callable[[str], Any] | type[StrEnum]) -> Callable[[str], Any]:
    """Return what reads an answer; a wrong one is asked for again."""

    def read(text: str) -> Any:
        if not text.strip():
            return None
        if isinstance(parse, type):
            return _choice(parse, text.strip().lower())
        return parse(text)

    return read


def _choice(kinds: type[StrEnum], text: str) -> StrEnum:
    """Return one of some kinds."""
    found = next((kind for kind in kinds if kind.value == text), None)
    if found is None:
        raise typer.BadParameter(f"found {text!r}; allowed: {', '.join(kinds)}")
    return found


def _command(out: Path, known: Mapping[str, Any]) -> str:
    """Return the command that writes the same file without a question."""
    import shlex

    options = [(f"--{key.replace('_', '-')}", str(value)) for key, value in known.items()]
    return shlex.join(["copyback", "init", out.name, *(word for one in options for word in one)])


def _show(drive: Drive, out: Path) -> None:
    """Say what was derived and assumed, what to expect, and what to do next."""
    from copyback.data.destination import written
    from copyback.inputs.configuration import to_toml
    from copyback.sheet.entry import Source
    from copyback.words import console, units

    rows = [("Drive", drive.summary())]
    rows += _labelled(
        "Derived",
        [
            f"{one.key} = {to_toml(one.value)}: {one.why}"
            for one in drive.entries
            if one.source is Source.DERIVED
        ],
    )
    rows += _labelled("Assumed", [f"{keys}: {why}" for why, keys in _assumed(drive).items()])
    rows += _labelled("Expect", [str(rate) for rate in drive.rates])
    memory = f"about {units.size(drive.memory)} in a run"
    less = "" if drive.flash.sheet.scale > 1 else "; --scale 16 takes a 16th of it, and of the time"
    rows += [("Memory", memory + less), ("Saved", written(out)), ("Next", f"copyback run {out}")]
    console.show(console.facts_grid(rows))


def _labelled(label: str, lines: list[str]) -> list[tuple[str, str]]:
    """Return rows of which the first has a label."""
    return [(label if index == 0 else "", line) for index, line in enumerate(lines)]


def _assumed(drive: Drive) -> dict[str, str]:
    """Return what was assumed, by the reason."""
    from copyback.inputs.configuration import to_toml
    from copyback.sheet.entry import Source

    found: dict[str, list[str]] = {}
    for one in drive.entries:
        if one.source is Source.ASSUMED:
            found.setdefault(one.why, []).append(f"{one.key} = {to_toml(one.value)}")
    return {why: ", ".join(keys) for why, keys in found.items()}
