"""SepBIT (Wang et al., FAST 2022) as a class, for docs/guide/policies-in-python.md."""

import numpy as np

import copyback
from copyback import FOREVER

COLLECTED = 16  # blocks of class 0 that a mean is taken over


class SepBit(copyback.PlacementPolicy):
    """WHERE: two classes for the host, four for what is moved, by when a page is likely to die."""

    watched = (0,)  # chosen is told of blocks of this class
    moves_depend_on_pages = False  # the bounds change with chosen alone

    def __init__(self, device, random):
        super().__init__(device, random)
        self.queue = self.pages = 0  # length of the queue of recent writes, pages that hold data
        self.lives = self.collected = 0  # of blocks of class 0 since the mean was taken
        self.mean = FOREVER  # life of the blocks of class 0 that were collected last
        self.bounds = None  # ages at which moved pages change their class

    def place_host(self, pages, ages, now, hint):
        young = min(self.queue, self.mean)
        if len(pages) == 1:
            return ages.item() >= young
        # No sooner: as long as the mean holds, the queue does not come to be shorter than both.
        turns_old = now + young - ages
        lives_long = turns_old <= now  # until it is written: the queue grows by one a write at most
        turns_old[lives_long] = FOREVER
        return lives_long, turns_old

    def place_moved(self, pages, ages, now, left):
        if left == 0 or self.bounds is None:
            return 2 if left == 0 else 3, FOREVER
        classes = self.bounds.searchsorted(ages, side="right")
        return classes, self.bounds.take(classes) - (ages - now)

    def wrote(self, pages, ages, now):
        if self.pages < self.device.logical_pages:
            self.pages += ages.tolist().count(FOREVER)
        if self.queue == self.mean:
            return
        grown = min(self.queue + len(pages), self.mean, self.pages)
        shrunk = min(self.queue, max(self.queue - len(pages), self.mean))
        self.queue = max(grown, shrunk)

    def trimmed(self, pages, ages, now):
        self.pages -= len(pages) - ages.tolist().count(FOREVER)

    def chosen(self, block, now):
        self.lives += now - block.opened
        self.collected += 1
        if self.collected < COLLECTED:
            return False
        self.mean, self.lives, self.collected = self.lives // COLLECTED, 0, 0
        # Below class 3 is nothing.
        self.bounds = np.array([-1, -1, -1, 4 * self.mean, 16 * self.mean, 2 * FOREVER])
        return True  # answers do not hold any more
