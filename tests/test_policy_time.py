"""Policies in Python that hang, and those that do something else the second time."""

from __future__ import annotations

import gc
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import copyback

if TYPE_CHECKING:
    from conftest import RunCli

HANGING = """
import time
import copyback


class Victims(copyback.VictimPolicy):
    time_limit = 0.3

    def choose(self, plane):
        while True:
            pass


class Schedule(copyback.SchedulePolicy):
    time_limit = 0.3

    def admitted(self, situation):
        while True:
            try:
                while True:
                    pass
            except Exception:
                pass


class Places(copyback.PlacementPolicy):
    time_limit = 0.3

    def place_host(self, pages, ages, now, hint):
        return 0

    def place_moved(self, pages, ages, now, left):
        return looks_for_ever()


class Coordinates(copyback.CoordinationPolicy):
    time_limit = 0.3

    def heard(self, drive, message, moment):
        while True:
            pass


class SleepsInC(copyback.VictimPolicy):
    time_limit = 0.3

    def choose(self, plane):
        time.sleep(1.0)
        return 0


def looks_for_ever():
    while True:
        pass
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def named(class_: str, **more: Any) -> dict[str, Any]:
    return {"type": "python", "policy": f"mine.py:{class_}", **more}


def write(text: str) -> None:
    Path("mine.py").write_text(textwrap.dedent(text), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "hook"),
    [
        ({"ssd__gc__victim": named("Victims")}, "choose"),
        ({"ssd__gc__victim": named("SleepsInC")}, "choose"),
        ({"ssd__gc__preemption": named("Schedule")}, "admitted"),
        ({"ssd__ftl__placement": named("Places", classes=2, host_classes=1)}, "place_moved"),
        (
            {
                "array__layout": "raid0",
                "array__devices": 2,
                "array__coordination": named("Coordinates"),
            },
            "heard",
        ),
    ],
)
def test_a_call_that_hangs_ends_the_run_in_a_line(
    tiny: dict[str, Any], changes: dict[str, Any], hook: str
) -> None:
    write(HANGING)
    told = rf"mine\.py:\w+: {hook}: NoAnswerError: none after 0\.3 s; .* \(.*mine\.py:\d+\)"
    with pytest.raises(copyback.InputError, match=told):
        copyback.run(tiny, **changes)
    assert stops_looking()


def stops_looking() -> bool:
    """Wait until nobody looks after policies any more: they are gone."""
    gc.collect()
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if not any(thread.name == "copyback-policies" for thread in threading.enumerate()):
            return True
        time.sleep(0.1)
    return False


def test_the_command_line_tells_it_in_a_line(tiny_toml: Path, cli: RunCli, tmp_path: Path) -> None:
    write(HANGING)
    told = cli(
        "run",
        str(tiny_toml),
        "--out",
        str(tmp_path / "out"),
        "--set",
        f'ssd.gc.victim={{ type = "python", policy = "{tmp_path / "mine.py"}:Victims" }}',
        status=2,
    )
    assert "NoAnswerError" in told.stderr
    assert "Traceback" not in told.stderr
    assert not (tmp_path / "out").exists()


#: Each call is short, all of them together are not.
SHORT_CALLS = """
import time
import copyback


class Slow(copyback.VictimPolicy):
    time_limit = 0.4
    slept = 0

    def choose(self, plane):
        if self.slept < 20:
            time.sleep(0.05)
            self.slept += 1
        return plane.valid_pages.argmin()


def run(config):
    return copyback.run(config, ssd__gc__victim={"type": "python", "policy": "mine.py:Slow"})
"""


def test_many_short_calls_are_no_long_one(tiny: dict[str, Any]) -> None:
    write(SHORT_CALLS)
    begun = time.monotonic()
    copyback.run(tiny, ssd__gc__victim=named("Slow"))
    assert time.monotonic() - begun > 1


def test_the_file_may_run_the_simulation_itself(tiny: dict[str, Any]) -> None:
    write(SHORT_CALLS)
    found: dict[str, Any] = {}
    source = Path("mine.py").absolute()
    exec(compile(source.read_text(encoding="utf-8"), source, "exec"), found)
    assert found["run"](tiny).summary.gc.collections > 0


@pytest.mark.parametrize("limit", ["'soon'", "0", "-1", "True", "float('nan')"])
def test_what_is_no_time_limit(tiny: dict[str, Any], limit: str) -> None:
    write(HANGING + f"\nVictims.time_limit = {limit}\n")
    with pytest.raises(copyback.InputError, match=r"time_limit: found .*; allowed: seconds, above"):
        copyback.run(tiny, ssd__gc__victim=named("Victims"))


DRAWS = """
import random
import copyback


class Draws(copyback.VictimPolicy):
    def choose(self, plane):
        return self.drawn(plane.closed.nonzero()[0])

    def drawn(self, blocks):
        return blocks[random.randrange(len(blocks))]


class DrawsItsOwn(Draws):
    def drawn(self, blocks):
        return blocks[self.random.integers(len(blocks))]
"""


def test_an_audited_sweep_sees_policies_that_do_not_repeat(tiny: dict[str, Any]) -> None:
    write(DRAWS)
    tiny["audit"] = True
    tiny["ssd"]["gc"] = {"victim": named("DrawsItsOwn")}
    over = {"workload.requests": [1000, 1500]}
    copyback.compare(tiny, over=over, jobs=2)
    tiny["ssd"]["gc"] = {"victim": named("Draws")}
    told = r"mine\.py:Draws: a second run .* differs in .*summary\.json"
    with pytest.warns(UserWarning, match=told), pytest.raises(copyback.InputError):
        copyback.compare(tiny, over=over, jobs=2)
    tiny["audit"] = False
    copyback.compare(tiny, over=over, jobs=2)
