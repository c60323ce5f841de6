"""What every kind of host does with its requests: let them come, and begin to measure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from time_model.clock import Clock
    from time_model.host import AnyDrive, Request, Setup, Target


class Requests(ABC):
    """Requests that come to drives.

    Attributes
    ----------
    responses
        Of reads (True) and of writes; ns.
    before
        What the drives had done when the measured part began.
    """

    def __init__(
        self,
        setup: Setup,
        clock: Clock,
        drives: Sequence[AnyDrive],
        target: Target,
        requests: deque[Request],
    ) -> None:
        self.responses: dict[bool, list[int]] = {True: [], False: []}
        self.before: Counter[str] = Counter()
        self._setup = setup
        self._clock = clock
        self._drives = drives
        self._target = target
        self._requests = requests
        self._waiting: deque[tuple[int, Request]] = deque()
        self._inside = 0
        self._is_measured = False

    @abstractmethod
    def begin(self) -> None:
        """Let the first requests come."""

    @abstractmethod
    def is_over(self) -> bool:
        """Say whether nothing that is measured is to come."""

    @abstractmethod
    def _come(self, request: Request) -> None:
        """Take a request that has come."""

    def _plan(self) -> None:
        if self._requests:
            self._clock.after(self._requests[0].time - self._clock.now, self._arrive)

    def _arrive(self) -> None:
        request = self._requests.popleft()
        self._plan()
        self._begin_to_measure()
        self._come(request)

    def _begin_to_measure(self) -> None:
        if not self._is_measured and self._clock.now >= self._setup.ramp:
            self._is_measured = True
            self.before = sum((drive.counts for drive in self._drives), Counter())
