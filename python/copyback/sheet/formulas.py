"""Closed forms of what a drive reaches, and of what its parameters must be to reach it."""

from __future__ import annotations

import math
from dataclasses import dataclass

#: Bytes of a random request, and of a sequential one, as data sheets measure them.
RANDOM, SEQUENTIAL = 4096.0, 131072.0


def amplification(flash: float, user: float) -> float:
    """Return the write amplification of uniform random writes, with victims that are emptiest.

    The closed form of Desnoyers (SYSTOR 2012) and others: a / (a + W(-a exp(-a))) with a the flash
    over the user's part of it and W Lambert's function, found here by halving.

    >>> round(amplification(1.07, 1.0), 1), round(amplification(1.28, 1.0), 1)
    (7.8, 2.5)
    """
    ratio = flash / user
    low, high = 0.0, 1.0
    for _ in range(60):
        valid = (low + high) / 2
        # The share of a victim that is valid, u, solves u = exp(-(1 - u) x a).
        low, high = (valid, high) if math.exp(-(1 - valid) * ratio) > valid else (low, valid)
    return 1 / (1 - low)


@dataclass(frozen=True)
class Shape:
    """Geometry of a drive: what works at the same time, and in which units."""

    channels: int
    dies: int
    planes: int
    page: int
    pages_per_block: int
    blocks_per_plane: int
    #: Bytes beside those of a page that travel with it.
    aside: int

    @property
    def stripe(self) -> float:
        """Bytes that all planes of all dies program at once."""
        return float(self.dies * self.planes * self.page)

    @property
    def block_stripe(self) -> float:
        """Bytes of one block of every plane."""
        return self.stripe * self.pages_per_block

    @property
    def flash(self) -> float:
        """Bytes of flash."""
        return self.block_stripe * self.blocks_per_plane


@dataclass(frozen=True)
class Times:
    """Times of a die's operations in nanoseconds, and the bytes a second of a channel."""

    read: float
    program: float
    erase: float
    bus: float

    def transfer(self, shape: Shape, size: float) -> float:
        """Nanoseconds of a channel that a part of a page takes, its spare area included."""
        return COMMAND_NS + size * (1 + shape.aside / shape.page) / self.bus * 1e9


#: Time of a command on a channel.
COMMAND_NS = 300.0


def programs_per_second(shape: Shape, program_ns: float) -> float:
    """Return the bytes a second that all dies program."""
    return shape.stripe / program_ns * 1e9


def channels_per_second(shape: Shape, times: Times) -> float:
    """Return the bytes a second that all channels carry."""
    return shape.channels * shape.page / times.transfer(shape, shape.page) * 1e9


def busy(dies: float, depth: int) -> float:
    """Return the share of dies that work if so many requests are outstanding, each at any die.

    For operations of one length: 1 + r - sqrt(1 + r^2) with r requests for each die (Karol, Hluchyj
    and Morgan, IEEE Transactions on Communications 1987).

    >>> round(busy(16, 16), 3)
    0.586
    """
    each = depth / dies
    return 1 + each - math.sqrt(1 + each**2)


def dies_for(working: float, depth: int) -> float:
    """Return the dies of which so many work at a time: the inverse of `busy`.

    >>> round(dies_for(busy(24, 32) * 24, 32), 6)
    24.0
    """
    return working * (2 * depth - working) / (2 * (depth - working))


def reads_per_second(shape: Shape, times: Times, depth: int) -> float:
    """Return the random reads a second of dies and channels; a transfer overlaps the next read."""
    dies = shape.dies * busy(shape.dies, depth) / times.read * 1e9
    return min(dies, shape.channels / times.transfer(shape, RANDOM) * 1e9)


def collected_ns(shape: Shape, times: Times, amplified: float) -> float:
    """Return what a program costs a die beside itself in steady random writes.

    Of all programs a share 1 - 1/WA moves a page, which is read and sent first; each block is
    erased once for all of its pages.
    """
    moved = 1 - 1 / amplified
    sent = shape.planes * times.transfer(shape, shape.page)
    return moved * (times.read + sent) + times.erase / shape.pages_per_block


def random_writes_per_second(shape: Shape, times: Times, amplified: float) -> float:
    """Return the random writes a second that the drive keeps up once it collects."""
    die = times.program + collected_ns(shape, times, amplified)
    # Each page of the host is sent once, each that is moved to the controller and back.
    sent = channels_per_second(shape, times) / (2 * amplified - 1)
    return min(programs_per_second(shape, die) / amplified, sent) / RANDOM


@dataclass(frozen=True)
class HostLink:
    """Link to the host: bytes a second, and nanoseconds that each request takes of it beside."""

    rate: float
    overhead_ns: float

    def takes_ns(self, size: float) -> float:
        """Nanoseconds of a request."""
        return self.overhead_ns + size / self.rate * 1e9

    def rate_of(self, size: float) -> float:
        """Bytes a second of requests of one size."""
        return size / self.takes_ns(size) * 1e9


def link_of(sequential: float, requests: float) -> HostLink:
    """Return the link that carries so many bytes in large requests and so many small ones a second.

    Two equations: each request takes an overhead and its bytes over the rate.
    """
    large, small = SEQUENTIAL / sequential * 1e9, 1e9 / requests
    rate = (SEQUENTIAL - RANDOM) / (large - small) * 1e9
    return HostLink(rate, small - RANDOM / rate * 1e9)
