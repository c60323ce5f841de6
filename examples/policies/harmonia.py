"""MAY I: coordinators of arrays as Harmonia has them (Kim, Lee, Oral, Dillow, Wang, Shipman).

They do what the built-in ``reactive_inclusive``, ``reactive_selective`` and ``proactive_idle`` do:
docs/guide/policies-in-python.md has the command that compares them.
"""

import copyback
from copyback.policies import Collect, Done, MustCollect

CONTENT, ENROLLED, COLLECTING = range(3)


class Harmonia(copyback.CoordinationPolicy):
    """What the schemes remember of each drive."""

    def __init__(self, array, random):
        super().__init__(array, random)
        self.drives = dict.fromkeys(array.speaking, CONTENT)

    def enrol(self, drive):
        """Note that a drive runs short; one that collects says so again when it is done."""
        if self.drives[drive] == CONTENT:
            self.drives[drive] = ENROLLED
        return self.drives[drive] == ENROLLED

    def done(self, drive, runs_short):
        if self.drives[drive] == COLLECTING:
            self.drives[drive] = ENROLLED if runs_short else CONTENT

    def force(self, state, *how_far):
        """Order the drives in a state to collect."""
        drives = [drive for drive, its in self.drives.items() if its in state]
        self.drives.update(dict.fromkeys(drives, COLLECTING))
        return [Collect(drive, *how_far) for drive in drives]


class ReactiveInclusive(Harmonia):
    """A drive that runs short makes all of them collect."""

    def __init__(self, array, random, regardless=True):
        super().__init__(array, random)
        self.regardless = regardless

    def heard(self, drive, message, moment):
        if isinstance(message, Done):
            self.done(drive, False)
        elif self.enrol(drive):
            limits = self.array.target, self.array.most_blocks, self.regardless
            return self.force((CONTENT, ENROLLED), *limits)
        return None


class ReactiveSelective(Harmonia):
    """Drives that run short enrol; the first that must collect makes these collect with it."""

    def heard(self, drive, message, moment):
        if isinstance(message, Done):
            self.done(drive, message.runs_short)
        elif self.enrol(drive) and isinstance(message, MustCollect):
            return self.force((ENROLLED,), self.array.target, self.array.most_blocks)
        return None


class ProactiveIdle(ReactiveSelective):
    """As that one; and those enrolled collect all there is when the array has been idle."""

    def __init__(self, array, random, check_ms=1, idle_ms=10):
        super().__init__(array, random)
        self.check, self.idle = round(check_ms * 1e6), round(idle_ms * 1e6)
        self.look_after(0)

    def look_after(self, quiet_since):
        """Be woken at the first check at which the array has been quiet for longer than `idle`."""
        self.wake_at = ((quiet_since + self.idle) // self.check + 1) * self.check

    def became_quiet(self, moment):
        self.look_after(moment.time_ns)

    def became_busy(self, moment):
        self.wake_at = None

    def wake(self, moment):
        return self.force((ENROLLED,), None)
