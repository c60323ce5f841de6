"""Coordinators of arrays written in Python."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import copyback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conftest import RunCli

EXAMPLES = Path(__file__).parents[1] / "examples" / "policies"

#: Those of the paper that the example has not, by messages that its schemes do not need.
OTHERS = '''
class SoftLimit(Harmonia):
    """The built-in proactive_soft_limit."""

    def __init__(self, array, random, period_us=10_000, quorum=0.5, outstanding=0):
        super().__init__(array, random)
        self.period, self.quorum, self.most = period_us * 1000, quorum, outstanding
        self.awaited, self.is_busy = [], False
        self.wake_at = self.period
        self.begins = True

    def heard(self, drive, message, moment):
        if isinstance(message, State):
            if self.drives[drive] != COLLECTING:
                self.drives[drive] = ENROLLED if message.below_register else CONTENT
            if drive in self.awaited:
                self.awaited.remove(drive)
            return None if self.awaited else self.act(moment)
        if isinstance(message, Done):
            self.done(drive, message.runs_short)

    def act(self, moment):
        short = list(self.drives.values()).count(ENROLLED)
        if short >= self.quorum * len(self.drives) and moment.outstanding <= self.most:
            return self.force((ENROLLED,), self.array.target, self.array.most_blocks)
        return []

    def ask(self, moment):
        orders = self.act(moment) if self.awaited else []
        self.awaited = list(self.array.speaking)
        if self.is_busy:
            self.wake_at = (moment.time_ns // self.period + 1) * self.period
        return orders + [Report(drive) for drive in self.awaited]

    wake = ask

    def became_busy(self, moment):
        self.is_busy = True
        if self.wake_at is None:
            self.wake_at = (moment.time_ns // self.period + 1) * self.period

    def became_quiet(self, moment):
        self.is_busy = False
        return None if self.awaited else self.act(moment)


class Turns(Harmonia):
    """One drive after the other, in windows: built-in staggered, but for its sleep."""

    def __init__(self, array, random, window_us=100_000):
        super().__init__(array, random)
        self.window, self.current, self.wake_at = window_us * 1000, None, window_us * 1000

    def heard(self, drive, message, moment):
        if isinstance(message, Done):
            self.done(drive, False)

    def wake(self, moment):
        orders = [] if self.current is None else [Stop(self.current)]
        self.current = moment.time_ns // self.window % self.array.drives
        self.wake_at = moment.time_ns + self.window
        self.drives[self.current] = COLLECTING
        return [*orders, Collect(self.current, self.array.target, self.array.most_blocks)]
'''


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (EXAMPLES / "harmonia.py").read_text(encoding="utf-8")
    imported = "from copyback.policies import Report, State, Stop\n"
    (tmp_path / "harmonia.py").write_text(source + imported + OTHERS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def array(tiny: dict[str, Any]) -> dict[str, Any]:
    """Return a small array that has idle times, bursts and drives that run short."""
    tiny["workload"]["requests"] = 6000
    tiny["workload"]["bursts"] = {"type": "on_off", "on": "20ms", "off": "60ms"}
    tiny["array"] = {
        "layout": "raid0",
        "devices": 4,
        "stripe": "4KiB",
        "protocol": {"register_margin": {"blocks": 1}, "target_margin": {"blocks": 2}},
    }
    tiny["metrics"] = {"requests": True, "messages": True, "collections": True}
    return tiny


def named(policy: str, **parameters: Any) -> dict[str, Any]:
    return {"type": "python", "policy": f"harmonia.py:{policy}", "parameters": parameters}


def facts(result: copyback.Result) -> dict[str, Any]:
    """Return the summary without what tells of the machine, or of the configuration's text."""
    told = result.summary.to_dict()
    return {key: told[key] for key in told if key not in {"simulator", "config_digest", "notes"}}


def assert_same(one: copyback.Result, other: copyback.Result) -> None:
    assert facts(one) == facts(other)
    for table in ("series", "requests", "messages", "collections"):
        assert one.to_polars(table).equals(other.to_polars(table)), table


SCHEMES = {
    "ReactiveInclusive": "reactive_inclusive",
    "ReactiveSelective": "reactive_selective",
    "ProactiveIdle": {"type": "proactive_idle", "check": "1ms", "idle": "10ms"},
}

ARRAYS: dict[str, dict[str, Any]] = {
    "raid0": {},
    "raid5": {"layout": "raid5", "queue_depth": 8},
    "raid6, a lost drive": {"layout": "raid6", "failed": [1], "devices": 5},
    "raid5, rebuilt": {
        "layout": "raid5",
        "failed": [2],
        "rebuild": {"type": "rate", "rate": "1MiB/s", "unit": "8KiB"},
    },
    "raid5, read around": {"layout": "raid5", "reads_around_gc": True},
    "slow messages": {"protocol": {"latency": "700us"}},
    "silent drives": {"protocol": {"silent": [0, 3]}},
    "rounds": {"protocol": {"round": {"type": "blocks", "blocks": 1}}},
}


@pytest.mark.parametrize("policy", SCHEMES)
@pytest.mark.parametrize("change", ARRAYS)
def test_the_example_does_what_the_built_in_ones_do(
    array: dict[str, Any], policy: str, change: str
) -> None:
    protocol = {**array["array"]["protocol"], **ARRAYS[change].get("protocol", {})}
    array["array"] = {**array["array"], **ARRAYS[change], "protocol": protocol}
    theirs = copyback.run(array, audit=True, array__coordination=SCHEMES[policy])
    assert theirs.summary.gc.forced > 0
    assert_same(copyback.run(array, audit=True, array__coordination=named(policy)), theirs)


@pytest.mark.parametrize("regardless", [True, False])
def test_an_order_says_how_far(array: dict[str, Any], regardless: bool) -> None:
    mine = named("ReactiveInclusive", regardless=regardless)
    theirs = {"type": "reactive_inclusive", "regardless": regardless}
    assert_same(
        copyback.run(array, array__coordination=mine),
        copyback.run(array, array__coordination=theirs),
    )


def test_drives_are_asked_how_they_stand(array: dict[str, Any]) -> None:
    result = copyback.run(array, audit=True, array__coordination=named("SoftLimit", period_us=2000))
    messages = result.to_polars("messages")["message"].to_list()
    assert {"report", "state", "collect"} <= set(messages)
    assert messages.count("report") == messages.count("state")
    assert result.summary.gc.forced > 0


def test_drives_are_stopped(array: dict[str, Any]) -> None:
    theirs = {"type": "staggered", "window": "5ms"}
    # It never sleeps.
    del array["workload"]["bursts"]
    mine = copyback.run(array, audit=True, array__coordination=named("Turns", window_us=5000))
    messages = mine.to_polars("messages")["message"].to_list()
    assert {"stop", "collect", "done"} <= set(messages)
    built_in = copyback.run(array, array__coordination=theirs).to_polars("messages")
    assert set(built_in["message"].to_list()) >= {"stop", "collect"}


def test_a_saved_device_is_that_of_any_coordination(array: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "array.state"
    copyback.precondition(array, save=file, array__coordination=named("ProactiveIdle"))
    mine = copyback.run(array, state=file, array__coordination=named("ProactiveIdle"))
    assert_same(mine, copyback.run(array, array__coordination=SCHEMES["ProactiveIdle"]))


@pytest.mark.parametrize("policy", SCHEMES)
def test_a_checkpoint_holds_what_it_remembers(
    array: dict[str, Any], policy: str, tmp_path: Path
) -> None:
    from copyback._core import Simulation
    from copyback.inputs.configuration import load
    from copyback.simulation.driver import suppliers_of

    array["array"]["coordination"] = named(policy)
    config = load(array)

    def ended(simulation: Simulation) -> str | None:
        while not simulation.advance(100_000):
            pass
        return simulation.summary()

    simulation = Simulation(config, None, suppliers_of(config))
    while simulation.progress().requests < 2500:
        simulation.advance(500)
    file = tmp_path / "run.checkpoint"
    simulation.write_checkpoint(file, "")
    resumed, found = Simulation.resume(config, file, suppliers_of(config))
    assert found.requests >= 2500
    assert ended(resumed) == ended(simulation)
    edited = (tmp_path / "harmonia.py").read_text(encoding="utf-8") + "\n# Edited.\n"
    (tmp_path / "harmonia.py").write_text(edited, encoding="utf-8")
    with pytest.raises(copyback.InputError, match=r"written with another text of the policy"):
        Simulation.resume(config, file, suppliers_of(config))


HEAD = """
import copyback
from copyback.policies import *


class P(copyback.CoordinationPolicy):
"""

HEARD = "def heard(self, drive, message, moment):\n    "


def write(body: str) -> None:
    Path("mine.py").write_text(HEAD + textwrap.indent(body, "    "), encoding="utf-8")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (HEARD + "return 1 // 0", r"heard: ZeroDivisionError: .* \(.*mine\.py:8\)"),
        (
            HEARD + "return 3",
            r"heard: found 3; allowed: Collect, Stop .*mine\.py:7",
        ),
        (HEARD + "return Stop(drive)", r"found Stop\(.*; allowed: Collect, Stop .* in a list"),
        (HEARD + "return [None]", r"heard: found None; allowed: Collect, Stop and Report"),
        (HEARD + "return [Stop(7)]", r"found Stop\(drive=7\); allowed: .* that speak: 0, 1, 3"),
        (HEARD + "return [Stop(2)]", r"found Stop\(drive=2\); allowed: .* that speak: 0, 1, 3"),
        (HEARD + "return [Stop('x')]", r"found Stop\(drive='x'\); allowed: orders to drives"),
        (
            HEARD + "return [Collect(0, 0)]",
            r"Collect\(.*; allowed: free_blocks None, or from",
        ),
        (HEARD + "return [Collect(0, 10**9)]", r"allowed: free_blocks None, or from 1 to \d"),
        (HEARD + "return [Collect(0, 1.5)]", r"allowed: free_blocks None, or from 1 to \d"),
        (HEARD + "return [Collect(0, 3, 0)]", r"allowed: at_most None, or at least 1"),
        (HEARD + "return [Collect(0, 3, None, 2)]", r"allowed: regardless True or False"),
        (HEARD + "self.wake_at = moment.time_ns", r"wake: found \d+; allowed: as wake_at None, or"),
        (HEARD + "self.wake_at = 1e18", r"wake: found 1e\+18; allowed: as wake_at None"),
        (
            HEARD + "return [Collect(drive, None, 1)]\n"
            "def became_quiet(self, moment): return [Collect(one, None, 1) for one in (0, 1, 3)]",
            r"P: found \d+ orders at one instant, .*; allowed: not to order again",
        ),
        (
            HEARD + "pass\ndef sent(self, drive, size): return [Stop(drive)]",
            r"sent: found \[Stop\(drive=\d\)\]; allowed: None: instant_ends",
        ),
        (
            HEARD + "pass\ndef instant_ends(self, moment): return moment.when",
            r"instant_ends: AttributeError: .*'when'.*mine\.py:9",
        ),
        ("pass", r"the class has no heard, which it must have"),
        (HEARD + "pass\ndef __init__(self, array): pass", r"parameters: too many positional"),
    ],
)
def test_what_is_wrong_with_a_coordinator(array: dict[str, Any], body: str, problem: str) -> None:
    write(body)
    array["array"]["protocol"]["silent"] = [2]
    array["array"]["coordination"] = {"type": "python", "policy": "mine.py:P"}
    with pytest.raises(copyback.InputError, match=problem) as caught:
        copyback.run(array)
    assert str(caught.value).startswith("array.coordination")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"type": "python"}, r"the key \"policy\" is missing"),
        ({"type": "python", "policy": "mine.py"}, r'found "mine\.py"; allowed: "file\.py:Class"'),
        (named("ProactiveIdle", nap=3), r"parameters: .*'nap'; allowed: check_ms, idle_ms"),
        (named("Collect"), r"allowed: a class derived from copyback\.CoordinationPolicy"),
    ],
)
def test_what_is_wrong_with_its_name(array: dict[str, Any], table: Any, problem: str) -> None:
    with pytest.raises(copyback.InputError, match=problem):
        copyback.run(array, array__coordination=table)


def test_what_a_coordinator_sees(array: dict[str, Any]) -> None:
    write(
        textwrap.dedent(
            """
            def __init__(self, array, random):
                super().__init__(array, random)
                assert array == Array(4, (0, 1, 3), 3, 4, None, array.reserve, 0), array
                self.sizes = 0

            def heard(self, drive, message, moment):
                assert drive in self.array.speaking
                assert 0 <= moment.outstanding < 1024
                assert not isinstance(message, RunsShort) or message.writable >= 0

            def sent(self, drive, size):
                assert drive in range(4)
                assert size % 512 == 0
                self.sizes += size
            """
        )
    )
    array["array"]["protocol"]["silent"] = [2]
    array["array"]["coordination"] = {"type": "python", "policy": "mine.py:P"}
    theirs = copyback.run(array, array__coordination="uncoordinated")
    mine = copyback.run(array)
    assert mine.summary.response_us == theirs.summary.response_us


def test_a_file_is_found_beside_the_configuration(cli: RunCli, tmp_path: Path) -> None:
    text = (EXAMPLES / "array.toml").read_text(encoding="utf-8").replace("20000", "300")
    table = '\ncoordination = { type = "python", policy = "harmonia.py:ReactiveSelective" }\n'
    home = tmp_path / "elsewhere"
    home.mkdir()
    (tmp_path / "harmonia.py").rename(home / "harmonia.py")
    (home / "array.toml").write_text(text.replace("[array]", "[array]" + table), encoding="utf-8")
    done = cli("run", home / "array.toml")
    assert "ReactiveSelective" in done.stdout


def test_a_comparison_names_coordinators(array: dict[str, Any], tmp_path: Path) -> None:
    array["workload"]["requests"] = 300
    over: Mapping[str, Any] = {
        "array.coordination": [
            {"type": "python", "policy": str(tmp_path / "harmonia.py:ReactiveSelective")},
            "reactive_selective",
        ]
    }
    compared = copyback.compare(array, over=over, out=tmp_path / "out", jobs=1)
    mine, theirs = compared.frame["response_us.all.mean"].to_list()
    assert mine == theirs
    assert "ReactiveSelective" in compared.frame["array.coordination"][0]


def test_the_guide_has_the_example() -> None:
    guide = EXAMPLES.parents[1] / "docs" / "guide" / "policies-in-python.md"
    source = (EXAMPLES / "harmonia.py").read_text(encoding="utf-8")
    told = guide.read_text(encoding="utf-8")
    for part in ("class Harmonia", "class ReactiveSelective", "class ProactiveIdle"):
        text = source[source.index(part) :]
        assert text.split("\n\n\n")[0].rstrip() in told
