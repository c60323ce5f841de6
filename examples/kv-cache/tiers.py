"""A cache of KV blocks in two tiers, DRAM and an SSD, and what it asks of the SSD.

`make_trace.py` reads requests and writes what comes out of here as a trace.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

#: When a block is written to the SSD: as soon as it is computed, when DRAM has no more room for it,
#: or then only if it was asked for again meanwhile.
Admission = Literal["through", "evicted", "reused"]
#: Which block the SSD gives up: the one that was used longest ago, or the one that was written
#: longest ago. By age of writing, slots are overwritten in their order: the tier is a log.
Eviction = Literal["lru", "fifo"]


class Operation(NamedTuple):
    """What the cache asks of the SSD: to read, write or trim the block in a slot."""

    milliseconds: int
    kind: Literal["read", "write", "trim"]
    slot: int


@dataclass
class Counts:
    """Blocks that requests asked for, by where they were found, and those written and trimmed."""

    in_dram: int = 0
    on_ssd: int = 0
    computed: int = 0
    written: int = 0
    trimmed: int = 0

    @property
    def asked(self) -> int:
        """Return how many blocks were asked for."""
        return self.in_dram + self.on_ssd + self.computed


class Slots:
    """The blocks on the SSD, each in a slot; `ahead` slots are trimmed before they are needed."""

    def __init__(self, slots: int, eviction: Eviction, ahead: int) -> None:
        self.slot_of: OrderedDict[int, int] = OrderedDict()
        self._free = deque(range(slots))
        self._eviction = eviction
        self._ahead = ahead

    def use(self, block: int) -> int:
        """Return the slot of a block that is there, which is now the last used."""
        if self._eviction == "lru":
            self.slot_of.move_to_end(block)
        return self.slot_of[block]

    def put(self, block: int) -> int:
        """Give a block a slot, and return it."""
        if not self._free:
            self._evict()
        self.slot_of[block] = self._free.popleft()
        return self.slot_of[block]

    def trim_ahead(self) -> list[int]:
        """Evict until enough slots are free, and return those to be trimmed."""
        return [self._evict() for _ in range(self._ahead - len(self._free))]

    def _evict(self) -> int:
        _, slot = self.slot_of.popitem(last=False)
        self._free.append(slot)
        return slot


@dataclass
class Cache:
    """Both tiers, what they counted, and the operations of the SSD in their order."""

    dram_blocks: int
    ssd: Slots
    admission: Admission
    counts: Counts = field(default_factory=Counts)
    operations: list[Operation] = field(default_factory=list)
    #: Blocks in DRAM, least recently used first, and whether each was asked for again.
    _dram: OrderedDict[int, bool] = field(default_factory=OrderedDict)

    def serve(self, milliseconds: int, blocks: list[int]) -> None:
        """Serve a request at this time for these blocks, each of which needs all before it."""
        known = {block for block in blocks if block in self._dram or block in self.ssd.slot_of}
        found = next((at for at, block in enumerate(blocks) if block not in known), len(blocks))
        for block in blocks[:found]:
            self._load(milliseconds, block)
        self.counts.computed += len(blocks) - found
        # The last block first: so none is evicted before those that need it.
        for block in reversed(blocks):
            self._dram[block] = block in known
            self._dram.move_to_end(block)
            if self.admission == "through":
                self._store(milliseconds, block)
        while len(self._dram) > self.dram_blocks:
            evicted, reused = self._dram.popitem(last=False)
            if self.admission == "evicted" or (self.admission == "reused" and reused):
                self._store(milliseconds, evicted)

    def _load(self, milliseconds: int, block: int) -> None:
        if block in self._dram:
            self.counts.in_dram += 1
        else:
            self.counts.on_ssd += 1
            self.operations.append(Operation(milliseconds, "read", self.ssd.use(block)))

    def _store(self, milliseconds: int, block: int) -> None:
        """Write a block to the SSD, unless it is there."""
        if block in self.ssd.slot_of:
            self.ssd.use(block)
            return
        self.operations.append(Operation(milliseconds, "write", self.ssd.put(block)))
        self.counts.written += 1
        for slot in self.ssd.trim_ahead():
            self.operations.append(Operation(milliseconds, "trim", slot))
            self.counts.trimmed += 1
