"""What a drive is: numbers and choices, as docs/reference names them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Yields(Enum):
    """When a collection lets the host go first (`ssd.gc.preemption`)."""

    NEVER = "none"
    BETWEEN_OPERATIONS = "semi_preemptive"
    AFTER_STEPS = "partial"


class Mapped(Enum):
    """When a write gets its physical page.

    Attributes
    ----------
    AT_SERVICE
        When its die takes it, as docs/concepts says of Copyback.
    AT_ARRIVAL
        When it comes, as in MQSim (`Address_Mapping_Unit_Page_Level.cpp`).
    """

    AT_SERVICE = "service"
    AT_ARRIVAL = "arrival"


@dataclass(frozen=True)
class Link:
    """What a host's link takes of a request, ns.

    Attributes
    ----------
    before_read, before_write
        Until the drive knows of it, and has its data.
    after_read, after_write
        Until the host has its data, and knows of its end.
    """

    before_read: int
    before_write: int
    after_read: int
    after_write: int


@dataclass(frozen=True)
class Device:
    """A drive. Times in nanoseconds.

    Attributes
    ----------
    channels, chips, dies, planes, blocks, pages
        Of the drive, a channel, a chip, a die, a plane and a block.
    order
        What varies first over successive logical pages: letters of channel (C), way (W), die (D)
        and plane (P).
    read, program, erase
        Times in the array.
    command, page_transfer
        What a read or program takes of the channel for its command, and a page for its data.
    data_first
        Whether data from a chip go before what goes to one; else behind.
    overhead
        What the controller takes for each command, before anything else.
    link
        What the host's link takes, in place of that; None: nothing.
    spare
        Share of the physical pages that the host does not see.
    soft
        A plane with fewer free blocks is collected.
    hard
        A plane with fewer free blocks opens none for the host.
    copyback
        Whether pages are moved without the channel.
    yields, steps, poll
        When a collection yields; after how many steps, where that counts; what each look at the
        queue takes, where it looks between operations.
    suspends, suspend_time, resume_time, most_suspends
        Whether reads suspend programs and erases, what that takes, and how often one is at most.
    cache_pages, cache_latency, high, low
        Pages of the write buffer (0: none), what it takes to place or find data there, and at
        which shares of it destaging begins and ends.
    mapped
        When a write gets its physical page.
    loses
        With pages mapped at arrival: whether requests for a page that is being moved never end;
        else they go on once it has been moved.
    rests
        With pages mapped at arrival: whether a page that was written within the last second, at
        most, rests in the buffer; else it leaves at once, as every page.
    """

    channels: int = 1
    chips: int = 1
    dies: int = 1
    planes: int = 1
    blocks: int = 64
    pages: int = 32
    order: str = "CWDP"
    read: int = 50_000
    program: int = 500_000
    erase: int = 3_000_000
    command: int = 0
    page_transfer: int = 0
    data_first: bool = False
    overhead: int = 0
    link: Link | None = None
    spare: float = 0.2
    soft: int = 4
    hard: int = 1
    copyback: bool = False
    yields: Yields = Yields.NEVER
    steps: int = 1
    poll: int = 0
    suspends: bool = False
    suspend_time: int = 0
    resume_time: int = 0
    most_suspends: int = 16
    cache_pages: int = 0
    cache_latency: int = 0
    high: float = 0.75
    low: float = 0.5
    mapped: Mapped = Mapped.AT_SERVICE
    loses: bool = True
    rests: bool = True

    def all_dies(self) -> int:
        """Count the dies of the drive."""
        return self.channels * self.chips * self.dies

    def logical_pages(self) -> int:
        """Count the pages that the host sees: equally many of each plane."""
        per_plane = int(self.blocks * self.pages * (1 - self.spare) + 1e-9)
        return per_plane * self.all_dies() * self.planes

    def place(self, page: int) -> tuple[int, int]:
        """Return the die and the plane of a logical page."""
        size = {"C": self.channels, "W": self.chips, "D": self.dies, "P": self.planes}
        at = {}
        for letter in self.order:
            page, at[letter] = divmod(page, size[letter])
        return (at["C"] * self.chips + at["W"]) * self.dies + at["D"], at["P"]

    def channel_of(self, die: int) -> int:
        """Return the channel of a die."""
        return die // (self.chips * self.dies)
