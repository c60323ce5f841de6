"""A signal that asks a command to stop, and whose exception is lost on its way."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from copyback.process import stopping
from copyback.simulation.driver import Pace

if TYPE_CHECKING:
    from collections.abc import Callable


class _Endless:
    """Work that is never done."""

    def advance(self, events: int) -> bool:
        assert events > 0
        return False


def _cleanly(work: Callable[[], None]) -> None:
    with stopping.cleanly():
        work()


def _lose() -> None:
    with pytest.raises(stopping.Stopped):
        signal.raise_signal(signal.SIGTERM)


def _go_on() -> None:
    _lose()
    pace = Pace()
    while not pace.advance(_Endless()):  # type: ignore[arg-type]
        pass


def _fail_to_import() -> None:
    _lose()
    message = "numpy._core.multiarray failed to import"
    raise ImportError(message)


@pytest.mark.parametrize("work", [_go_on, _fail_to_import])
def test_it_stops_nonetheless(work: Callable[[], None]) -> None:
    with pytest.raises(stopping.Stopped) as stopped:
        _cleanly(work)
    assert stopped.value.number == signal.SIGTERM


def test_the_next_command_is_not_asked_any_more() -> None:
    with pytest.raises(stopping.Stopped):
        _cleanly(_go_on)
    _cleanly(stopping.check)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
