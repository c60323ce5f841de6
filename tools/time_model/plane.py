"""The blocks of a plane, and which page lies where."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from time_model.device import Device


@dataclass(eq=False)
class Block:
    """A block.

    Attributes
    ----------
    pages
        The logical page that each page was programmed with.
    valid
        Offsets of those that are the newest version.
    since
        A number that grows: when the block got as few valid pages as it has.
    """

    pages: list[int] = field(default_factory=list)
    valid: set[int] = field(default_factory=set)
    since: int = 0


class Plane:
    """A plane: an open block for the host, one for moved pages, and the others.

    Attributes
    ----------
    free
        Blocks that are empty and not open, in the order of their erases.
    collected
        The block that is being collected.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self.free = deque(Block() for _ in range(device.blocks))
        self.closed: list[Block] = []
        self.open_host: Block | None = None
        self.open_moved: Block | None = None
        self.collected: Block | None = None
        self.where: dict[int, tuple[Block, int]] = {}
        self._changes = 0

    def is_short(self) -> bool:
        """Whether the plane is below its threshold."""
        return len(self.free) < self._device.soft

    def may_open(self) -> bool:
        """Whether the host may open a block."""
        return len(self.free) >= self._device.hard and len(self.free) > 1

    def accepts(self) -> bool:
        """Whether a write of the host finds room."""
        return self.open_host is not None or self.may_open()

    def next_offset(self) -> int:
        """Return where in its block the next page of the host goes."""
        return 0 if self.open_host is None else len(self.open_host.pages)

    def write(self, page: int) -> None:
        """Write a page of the host."""
        if self.open_host is None:
            self.open_host = self.free.popleft()
        block = self.open_host
        self._put(block, page)
        if len(block.pages) == self._device.pages:
            self._close(block)
            self.open_host = self.free.popleft() if self.may_open() else None

    def move(self, page: int) -> None:
        """Write a page that is moved."""
        if self.open_moved is None:
            self.open_moved = self.free.popleft()
        self._put(self.open_moved, page)
        if len(self.open_moved.pages) == self._device.pages:
            self._close(self.open_moved)
            self.open_moved = None

    def erase(self) -> None:
        """Erase the block that is being collected."""
        assert self.collected is not None
        assert not self.collected.valid
        self.free.append(Block())
        self.collected = None
        if self.open_host is None and self.may_open():
            self.open_host = self.free.popleft()

    def victim(self) -> Block | None:
        """Return the block with fewest valid pages, of equals the one that has had so few longest.

        None: no block has an invalid page, or there is no room for what would be moved.
        """
        best = min(self.closed, key=lambda block: (len(block.valid), block.since), default=None)
        if best is None or len(best.valid) == self._device.pages:
            return None
        room = len(self.free) * self._device.pages
        if self.open_moved is not None:
            room += self._device.pages - len(self.open_moved.pages)
        return best if len(best.valid) <= room else None

    def begin(self, victim: Block) -> None:
        """Begin to collect a block."""
        self.closed.remove(victim)
        self.collected = victim

    def _put(self, block: Block, page: int) -> None:
        old = self.where.get(page)
        if old is not None:
            old[0].valid.discard(old[1])
            self._changes += 1
            old[0].since = self._changes
        self.where[page] = block, len(block.pages)
        block.valid.add(len(block.pages))
        block.pages.append(page)

    def _close(self, block: Block) -> None:
        self._changes += 1
        block.since = self._changes
        self.closed.append(block)
