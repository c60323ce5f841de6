"""Two policies for garbage collection, written for docs/guide/policies-in-python.md."""

import copyback
from copyback import Admit, Point


class OldestDirty(copyback.VictimPolicy):
    """WHO: the block that was filled first, of those that lost a share of their pages."""

    def __init__(self, device, random, share=0.2):
        super().__init__(device, random)
        self.most_valid = (1 - share) * device.pages_per_block

    def choose(self, plane):
        dirty = (plane.closed & (plane.valid_pages <= self.most_valid)).nonzero()[0]
        if dirty.size == 0:
            return plane.valid_pages.argmin()
        return dirty[plane.closed_at[dirty].argmin()]


class ReadsFirst(copyback.SchedulePolicy):
    """WHEN: reads go before collections; writes only if nothing else is to be moved before long."""

    def __init__(self, device, random, pages=8):
        super().__init__(device, random)
        self.pages = pages

    def admitted(self, situation):
        if situation.point is Point.BEFORE_WRITE or situation.write_finds_no_block:
            return Admit.NOBODY
        return Admit.READS if situation.pages_left <= self.pages else Admit.ALL
