"""Data sheet of a drive: what it may say, and what is assumed where it says nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from copyback.sheet.quantity import Quantity


class Cells(StrEnum):
    """Kind of flash, by the bits that a cell holds."""

    SLC = "slc"
    MLC = "mlc"
    TLC = "tlc"
    QLC = "qlc"

    @property
    def bits(self) -> int:
        """Bits of a cell."""
        return list(Cells).index(self) + 1


class Interface(StrEnum):
    """Interface to the host."""

    SATA = "sata"
    SAS = "sas"
    NVME = "nvme"


@dataclass(frozen=True)
class Sheet:
    """Numbers of a drive, as far as they are known; all but the capacity may be left out."""

    capacity: Quantity
    interface: Interface | None = None
    cells: Cells | None = None
    #: Flash of the drive; or the spare, as a share of the capacity.
    flash: Quantity | None = None
    spare: Quantity | None = None
    channels: int | None = None
    dies: int | None = None
    planes: int | None = None
    page: Quantity | None = None
    pages_per_block: int | None = None
    blocks_per_plane: int | None = None
    read: Quantity | None = None
    program: Quantity | None = None
    erase: Quantity | None = None
    bus: Quantity | None = None
    sequential_read: Quantity | None = None
    sequential_write: Quantity | None = None
    #: Sequential writes once the SLC cache is full.
    sustained_write: Quantity | None = None
    random_read: Quantity | None = None
    random_write: Quantity | None = None
    read_latency: Quantity | None = None
    write_latency: Quantity | None = None
    slc_cache: Quantity | None = None
    #: The part of the SLC cache that is not lent by free blocks.
    slc_static: Quantity | None = None
    dram: Quantity | None = None
    endurance: Quantity | None = None
    cycles: int | None = None
    #: Times that the simulated drive is smaller: as many dies and blocks, of fewer pages.
    scale: int = 1


@dataclass(frozen=True)
class Usual:
    """Numbers of a kind of flash that are usual where its vendor's are not public."""

    read_ns: float
    program_ns: float
    erase_ns: float
    bus: float
    planes: int
    pages_per_block: int
    die_bytes: float


#: Of the size that vendors and ISSCC papers name; TLC is the preset tlc-unbuffered's.
USUAL = {
    Cells.SLC: Usual(25e3, 200e3, 1.5e6, 400e6, 2, 128, 8 * 2.0**30),
    Cells.MLC: Usual(50e3, 600e3, 3.5e6, 533e6, 2, 512, 16 * 2.0**30),
    Cells.TLC: Usual(60e3, 600e3, 3.5e6, 1200e6, 4, 1152, 64 * 2.0**30),
    Cells.QLC: Usual(90e3, 2.0e6, 10e6, 1200e6, 4, 1024, 128 * 2.0**30),
}


@dataclass(frozen=True)
class Link:
    """Host interface: its rate, what it takes from a request to its start, its queue."""

    name: str
    rate: float
    config: str
    duplex: str
    depth: int
    command_ns: float


LINKS = {
    Interface.SATA: Link("SATA, 6 Gb/s", 600e6, "ncq", "half", 32, 20e3),
    Interface.SAS: Link("SAS, 12 Gb/s", 1200e6, "tcq", "full", 128, 15e3),
    Interface.NVME: Link("PCIe 3.0 x4", 3.5e9, "nvme", "full", 128, 10e3),
}
