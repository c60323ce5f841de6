"""Victim and schedule policies written in Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.policies.load import SCHEDULES, VICTIMS, registered
from processes import ending

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

SOURCE = '''
import numpy as np
import copyback
from copyback import Admit, Point


class Greedy(copyback.VictimPolicy):
    """Fewest valid pages; of those, the block that reached that number first."""

    def choose(self, plane):
        fewest = np.flatnonzero(plane.valid_pages == plane.valid_pages.min())
        return fewest[plane.changed_at[fewest].argmin()]


class Fifo(copyback.VictimPolicy):
    def choose(self, plane):
        blocks = np.flatnonzero(plane.closed)
        return blocks[plane.closed_at[blocks].argmin()]


class CostBenefit(copyback.VictimPolicy):
    """As the built-in one: of equals the one with fewer valid pages."""

    def choose(self, plane):
        pages = self.device.pages_per_block
        blocks = np.flatnonzero(plane.closed & (plane.valid_pages < pages))
        order = np.lexsort((plane.changed_at[blocks], plane.valid_pages[blocks]))
        blocks = blocks[order]
        valid = plane.valid_pages[blocks].astype(float)
        if valid[0] == 0:
            return blocks[0]
        age = (plane.clock - plane.changed_at[blocks]).astype(float)
        return blocks[((pages - valid) / (2.0 * valid) * age).argmax()]


class Drawn(copyback.VictimPolicy):
    """The block with the fewest valid pages of some that are drawn."""

    def __init__(self, device, random, d=3):
        super().__init__(device, random)
        self.d = d

    def choose(self, plane):
        drawn = self.random.choice(np.flatnonzero(plane.closed), self.d)
        return drawn[plane.valid_pages[drawn].argmin()]


class Partial(copyback.SchedulePolicy):
    def __init__(self, device, random, steps=1):
        super().__init__(device, random)
        self.steps = steps

    def admitted(self, situation):
        is_their_turn = situation.point is Point.BETWEEN_MOVES and situation.steps >= self.steps
        waits = situation.write_finds_no_block
        return Admit.ALL if is_their_turn and not waits else Admit.NOBODY


class SemiPreemptive(copyback.SchedulePolicy):
    def admitted(self, situation):
        between = situation.point is Point.BETWEEN_MOVES
        return Admit.ALL if between else Admit.WRITES
'''


@pytest.fixture(autouse=True)
def _policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


WORST = """
class P(copyback.SchedulePolicy):
    def admitted(self, situation):
        return Admit.ALL

    def plane_to_collect(self, die, planes):
        return planes[-1]
"""


def named(policy: str, **more: Any) -> dict[str, Any]:
    return {"type": "python", "policy": f"mine.py:{policy}", **more}


def assert_same(one: copyback.Result, other: copyback.Result) -> None:
    assert one.summary.gc == other.summary.gc
    assert one.summary.response_us == other.summary.response_us
    assert one.series.equals(other.series)


ARRAY = {"array__layout": "raid5", "array__devices": 3}


@pytest.mark.parametrize(
    ("policy", "built_in", "changes"),
    [
        ("Greedy", "greedy", {}),
        ("Greedy", "greedy", {"audit": True}),
        ("Greedy", "greedy", {"audit": True, **ARRAY}),
        ("Greedy", "greedy", {"ssd__ftl__mapping": "superblock"}),
        ("Fifo", "fifo", {"audit": True}),
        ("Fifo", "fifo", {"ssd__ftl__mapping": "log_block"}),
        ("CostBenefit", "cost_benefit", {"audit": True}),
    ],
)
def test_a_victim_policy_does_what_the_built_in_one_does(
    tiny: dict[str, Any], policy: str, built_in: str, changes: dict[str, Any]
) -> None:
    theirs = copyback.run(tiny, ssd__gc__victim=built_in, **changes)
    assert theirs.summary.gc.collections > 0
    assert_same(copyback.run(tiny, ssd__gc__victim=named(policy), **changes), theirs)


@pytest.mark.parametrize(
    ("mine", "built_in"),
    [
        (
            named("Partial", parameters={"steps": 3}),
            {"type": "partial", "steps": 3},
        ),
        (
            named("SemiPreemptive", poll="600ns", inside_moves=True),
            {"type": "semi_preemptive", "poll": "600ns"},
        ),
    ],
)
@pytest.mark.parametrize("changes", [{}, {"audit": True, **ARRAY}])
def test_a_schedule_policy_does_what_the_built_in_one_does(
    tiny: dict[str, Any], mine: Any, built_in: Any, changes: dict[str, Any]
) -> None:
    theirs = copyback.run(tiny, ssd__gc__preemption=built_in, **changes)
    assert theirs.summary.gc.preemptions > 0
    assert_same(copyback.run(tiny, ssd__gc__preemption=mine, **changes), theirs)


def test_a_schedule_policy_may_choose_the_plane(tiny: dict[str, Any]) -> None:
    write(WORST)
    theirs = copyback.run(tiny, ssd__gc__preemption="semi_preemptive")
    mine = copyback.run(tiny, audit=True, ssd__gc__preemption=named("P", poll="600ns"))
    assert mine.summary.gc.collections > 0
    assert mine.summary.gc != theirs.summary.gc


def test_chance_follows_from_the_seed(tiny: dict[str, Any]) -> None:
    def run(seed: int) -> copyback.Result:
        return copyback.run(tiny, seed=seed, ssd__gc__victim=named("Drawn", parameters={"d": 2}))

    first = run(1)
    assert_same(run(1), first)
    tiny["precondition"]["overwrites"] = 0.0
    drawn = copyback.run(tiny, seed=1, ssd__gc__victim=named("Drawn"))
    assert (
        drawn.summary.gc != copyback.run(tiny, seed=1, ssd__gc__victim=named("Greedy")).summary.gc
    )


def write(source: str) -> None:
    from pathlib import Path

    Path("mine.py").write_text(
        "import numpy as np\nimport copyback\nfrom copyback import Admit\n\n\n"
        + textwrap.dedent(source),
        encoding="utf-8",
    )


VICTIM = "class P(copyback.VictimPolicy):\n    def choose(self, plane):\n        "
SCHEDULE = "class P(copyback.SchedulePolicy):\n    def admitted(self, situation):\n        "


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (VICTIM + "return 1 // 0", r"choose: ZeroDivisionError: .* \(.*mine\.py:8\)"),
        (VICTIM + "return [][plane.index]", r"choose: IndexError: .* \(.*mine\.py:8\)"),
        (VICTIM + "return np.argmin([])", r"choose: ValueError: .* \(.*mine\.py:8\)"),
        (VICTIM + "plane.valid_pages[0] = 1", r"ValueError: assignment destination is read-only"),
        (VICTIM + "return None", r"choose: found None; allowed: a closed block of the plane"),
        (VICTIM + "return 'x'", r"choose: found 'x'; allowed: .* \(.*mine\.py:7\)"),
        (VICTIM + "return 1.0", r"choose: found 1\.0; allowed"),
        (VICTIM + "return np.zeros((9, 9))", r"choose: found array\(.*; allowed: a closed block"),
        (VICTIM + "raise SystemExit(5)", r"choose: SystemExit: 5 \(.*mine\.py:8\)"),
        (VICTIM + "return -1", r"choose: found -1; allowed: .*, 0 to 31"),
        (VICTIM + "return 32", r"choose: found 32; allowed: .*, 0 to 31"),
        (
            VICTIM + "return np.flatnonzero(~plane.closed)[0]",
            r"choose: found .*\d+.*; allowed: a closed block, of plane \d now \d+ of 32",
        ),
        (
            VICTIM + "return np.where(plane.closed, plane.valid_pages.astype(int), -1).argmax()",
            r"P: choose: found \d+ blocks in a row of plane \d, .* nothing is gained",
        ),
        ("class P(copyback.VictimPolicy): pass", r"the class has no choose, which it must have"),
        ("class P: pass", r"found <class '.*P'>; allowed: a class derived from copyback\.Vict"),
        ("P = 3", r"found 3; allowed: a class"),
        ("Q = 3", r"there is no P in .*mine\.py"),
        ("import nothing_like_it", r"import: ModuleNotFoundError: .* \(.*mine\.py:6\)"),
        ("class P(:", r"import: SyntaxError: .* \(.*mine\.py:6\)"),
        (
            VICTIM + "pass\n    def __init__(self, device, random): raise KeyError('no')",
            r"__init__: KeyError: 'no' \(.*mine\.py:9\)",
        ),
    ],
)
def test_what_is_wrong_with_a_victim_policy(
    tiny: dict[str, Any], source: str, problem: str
) -> None:
    write(source)
    with pytest.raises(copyback.InputError, match=problem) as caught:
        copyback.run(tiny, ssd__gc__victim=named("P"))
    assert str(caught.value).startswith("ssd.gc.victim")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (SCHEDULE + "raise RuntimeError", r"admitted: RuntimeError \(.*mine\.py:8\)"),
        (SCHEDULE + "return True", r"admitted: found True; allowed: a copyback\.Admit"),
        (SCHEDULE + "return np.ones(3)", r"admitted: found array\(.*; allowed: a copyback\.Admit"),
        (SCHEDULE + "return None", r"admitted: found None; allowed: a copyback\.Admit"),
        (
            SCHEDULE + "return Admit.ALL\n    def plane_to_collect(self, die, planes): return 7",
            r"plane_to_collect: found 7; allowed: one of \(\d",
        ),
        (
            SCHEDULE + "return Admit.ALL\n    def plane_to_collect(self, *_): return np.ones(2)",
            r"plane_to_collect: found array\(.*; allowed: one of \(\d",
        ),
        (
            SCHEDULE + "return Admit.ALL\n    def plane_to_collect(self, die, planes): planes.x",
            r"plane_to_collect: AttributeError: .* \(.*mine\.py:9\)",
        ),
        (VICTIM + "return 1", r"allowed: a class derived from copyback\.SchedulePolicy"),
    ],
)
def test_what_is_wrong_with_a_schedule_policy(
    tiny: dict[str, Any], source: str, problem: str
) -> None:
    write(source)
    with pytest.raises(copyback.InputError, match=problem) as caught:
        copyback.run(tiny, ssd__gc__preemption=named("P"))
    assert str(caught.value).startswith("ssd.gc.preemption.policy: ")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("victim", "problem"),
    [
        (named("Drawn", parameters={"e": 2}), r"parameters: .*'e'; allowed: d"),
        (named("Greedy", parameters={"d": 2}), r"parameters: .*'d'; allowed: none"),
        (named("Drawn", parameters={"d": {"x": 1}}), r"parameters\.d: found .*; allowed: a number"),
        (named("Drawn", parameters={"d-": 1}), r"found a name that no parameter has"),
        ({"type": "python", "policy": "absent.py:P"}, r"absent\.py:P: No such file or directory"),
        ({"type": "python", "policy": "absent.module:P"}, r"import: ModuleNotFoundError: "),
        ({"type": "python", "policy": "absent"}, r"no installed package has registered that"),
        ({"type": "python", "policy": "mine.py"}, r'found "mine\.py"; allowed: "file\.py:Class"'),
        ({"type": "python", "policy": ""}, r'found ""; allowed: "file\.py:Class"'),
        ({"type": "python"}, r"the key \"policy\" is missing"),
    ],
)
def test_what_is_wrong_with_a_name(tiny: dict[str, Any], victim: Any, problem: str) -> None:
    with pytest.raises(copyback.InputError, match=problem):
        copyback.run(tiny, ssd__gc__victim=victim)


def test_a_schedule_policy_begins_at_once(tiny: dict[str, Any]) -> None:
    gc = {"preemption": named("Partial"), "start": "before_operation"}
    with pytest.raises(copyback.InputError, match=r'found "before_operation"; allowed: "at_once"'):
        copyback.run({**tiny, "ssd": {**tiny["ssd"], "gc": gc}})


def test_the_command_line_tells_it_in_a_line(tiny_toml: Path, cli: RunCli, tmp_path: Path) -> None:
    write(VICTIM + "return 1 // 0")
    setting = 'ssd.gc.victim={ type = "python", policy = "mine.py:P" }'
    done = cli("run", tiny_toml, "--set", setting, "--out", "out", status=2)
    (line,) = done.stderr.splitlines()
    assert line.startswith("copyback: error: ssd.gc.victim.policy: ")
    assert line.endswith("mine.py:8)")
    assert not (tmp_path / "out").exists()
    saving = cli("precondition", tiny_toml, "--set", setting, "--save", "x.state", status=2)
    assert "choose: ZeroDivisionError" in saving.stderr
    assert not (tmp_path / "x.state").exists()


#: Looks at all that it is told, draws, and learns.
LEARNS = """
class P(copyback.VictimPolicy):
    def __init__(self, device, random):
        super().__init__(device, random)
        self.asked, self.last, self.worn = 0, {}, np.zeros(device.planes)

    def choose(self, plane):
        self.asked += 1
        self.worn[plane.index] = plane.erase_count.sum() + plane.changed_at.sum() % 7
        drawn = self.random.choice(np.flatnonzero(plane.closed), 3)
        drawn = np.append(drawn, plane.valid_pages.argmin())
        weight = (self.asked + int(self.worn.sum()) + self.last.get(plane.index, 0)) % 4
        self.last[plane.index] = int(plane.closed_at.max() + plane.clock)
        return drawn[weight] if self.asked % 3 else drawn[3]
"""


@pytest.mark.parametrize("change", [{}, ARRAY, {"ssd__ftl__mapping": "log_block"}])
@pytest.mark.parametrize("source", ["", LEARNS])
def test_a_prepared_drive_holds_what_it_has_learned(
    tiny: dict[str, Any], tmp_path: Path, source: str, change: dict[str, Any]
) -> None:
    if source:
        write(source)
    victim = named("P" if source else "Drawn")
    file = tmp_path / "drive.state"
    copyback.precondition(tiny, save=file, ssd__gc__victim=victim, **change)
    mine = copyback.run(tiny, state=file, audit=True, ssd__gc__victim=victim, **change)
    assert_same(mine, copyback.run(tiny, ssd__gc__victim=victim, **change))


def test_a_prepared_drive_goes_with_its_policy(tiny: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "drive.state"
    copyback.precondition(tiny, save=file, ssd__gc__victim=named("Drawn"))
    for other in (named("Fifo"), named("Drawn", parameters={"d": 2}), "greedy"):
        with pytest.raises(copyback.InputError, match="prepared for another device"):
            copyback.run(tiny, state=file, ssd__gc__victim=other)
    (tmp_path / "mine.py").write_text(SOURCE + "\n# Edited.\n", encoding="utf-8")
    with pytest.raises(copyback.InputError, match="written with another text of the policy"):
        copyback.run(tiny, state=file, ssd__gc__victim=named("Drawn"))


#: Says something else the more it has seen, and draws.
SCHEDULE_LEARNS = """
class P(copyback.SchedulePolicy):
    def __init__(self, device, random):
        super().__init__(device, random)
        self.seen, self.of_die = 0, {}

    def admitted(self, situation):
        self.seen += situation.waiting_reads + situation.steps
        draws = int(self.random.integers(2))
        yields = (self.seen + draws + self.of_die.get(situation.die, 0)) % 3 == 0
        return Admit.ALL if yields and not situation.write_finds_no_block else Admit.NOBODY

    def plane_to_collect(self, die, planes):
        self.of_die[die] = self.of_die.get(die, 0) + 1
        return planes[self.seen % len(planes)]
"""


@pytest.mark.parametrize(
    ("key", "source"), [("ssd.gc.victim", LEARNS), ("ssd.gc.preemption", SCHEDULE_LEARNS)]
)
def test_a_checkpoint_holds_what_it_has_learned(
    tiny: dict[str, Any], tmp_path: Path, key: str, source: str
) -> None:
    from copyback._core import Simulation
    from copyback.inputs.configuration import load
    from copyback.simulation.driver import suppliers_of

    write(source)
    config = load(tiny, settings=[(key, '{ type = "python", policy = "mine.py:P" }')])

    def ended(simulation: Simulation) -> str | None:
        while not simulation.advance(100_000):
            pass
        return simulation.summary()

    preparing = Simulation(config, None, suppliers_of(config))
    preparing.advance(2000)
    file = tmp_path / "run.checkpoint"
    preparing.write_checkpoint(file, "")
    whole = ended(preparing)
    resumed, found = Simulation.resume(config, file, suppliers_of(config))
    assert found.is_preparing
    while resumed.progress().requests < 1000:
        resumed.advance(100)
    resumed.write_checkpoint(file, "")
    assert ended(resumed) == whole
    again, found = Simulation.resume(config, file, suppliers_of(config))
    assert found.requests >= 1000
    assert ended(again) == whole
    write(source + "\n# Edited.\n")
    with pytest.raises(copyback.InputError, match="written with another text of the policy"):
        Simulation.resume(config, file, suppliers_of(config))


def test_what_no_file_can_hold_is_told(tiny: dict[str, Any], tmp_path: Path) -> None:
    write(VICTIM + "self.odd = {plane}; return plane.valid_pages.argmin()")
    file = tmp_path / "drive.state"
    with pytest.raises(
        copyback.InputError,
        match=r"P: state: TypeError: found set at state\['odd'\]",
    ):
        copyback.precondition(tiny, save=file, ssd__gc__victim=named("P"))
    assert not file.exists()


def test_a_sweep_prepares_its_drives_once(tiny: dict[str, Any], tmp_path: Path) -> None:
    tiny["workload"]["requests"] = 300
    over: dict[str, list[Any]] = {
        "ssd.gc.victim": [{**named("Fifo"), "policy": str(tmp_path / "mine.py:Fifo")}, "fifo"],
        "workload.requests": [300, 400],
    }
    first = copyback.compare(tiny, over=over, out=tmp_path / "out", jobs=2)
    mine, theirs = first.frame["write_amplification"][:2], first.frame["write_amplification"][2:]
    assert mine.to_list() == theirs.to_list()
    (tmp_path / "mine.py").write_text(SOURCE + "\n# Edited.\n", encoding="utf-8")
    assert copyback.compare(tiny, over=over, out=tmp_path / "out", jobs=2).reused == 2


def test_a_file_is_found_beside_the_configuration(tiny: dict[str, Any], tmp_path: Path) -> None:
    from copyback.inputs import configuration

    home = tmp_path / "elsewhere"
    home.mkdir()
    (tmp_path / "mine.py").rename(home / "mine.py")
    shape = {**tiny, "ssd": {**tiny["ssd"], "gc": {"victim": named("Fifo")}}}
    lines = [f"{key} = {configuration.to_toml(value)}" for key, value in shape.items()]
    (home / "tiny.toml").write_text("\n".join(lines), encoding="utf-8")
    result = copyback.run(home / "tiny.toml")
    assert_same(result, copyback.run(tiny, ssd__gc__victim="fifo"))
    # The resolved configuration runs from anywhere, and its digest does not tell where it lay.
    (tmp_path / "again.toml").write_text(result.config_toml, encoding="utf-8")
    assert_same(copyback.run(tmp_path / "again.toml"), result)
    (home / "mine.py").rename(tmp_path / "mine.py")
    (home / "tiny.toml").rename(tmp_path / "tiny.toml")
    moved = copyback.run(tmp_path / "tiny.toml").summary
    assert moved.config_digest == result.summary.config_digest


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_policy_that_does_not_end(tiny_toml: Path, tmp_path: Path) -> None:
    write(VICTIM + "\n        print('asked', flush=True)\n        while True: pass")
    setting = 'ssd.gc.victim={ type = "python", policy = "mine.py:P" }'
    command = [sys.executable, "-m", "copyback", "run", str(tiny_toml), "--set", setting]
    with ending(
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
        )
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "asked\n"
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert told == "copyback: error: interrupted\n"


OVER = 'ssd.gc.victim=greedy,{ type = "python", policy = "mine.py:Fifo" },fifo'


def test_a_comparison_goes_on_and_notices_an_edited_policy(
    tiny_toml: Path, cli: RunCli, tmp_path: Path
) -> None:
    def compare() -> tuple[copyback.Comparison, str]:
        done = cli("compare", tiny_toml, "--over", OVER, "--out", "sweep", "--jobs", "1")
        return copyback.Comparison.load(tmp_path / "sweep"), done.stdout

    found, told = compare()
    assert "3 runs)" in told
    _, mine, fifo = found.frame["write_amplification"].to_list()
    assert mine == fifo
    assert "3 runs, 3 of them from before" in compare()[1]
    edited = SOURCE.replace("closed_at[blocks].argmin()", "valid_pages[blocks].argmin()")
    (tmp_path / "mine.py").write_text(edited, encoding="utf-8")
    found, told = compare()
    assert "3 runs, 2 of them from before" in told
    assert found.frame["write_amplification"][1] != fifo


def test_a_package_registers_policies(tiny_toml: Path, cli: RunCli, tmp_path: Path) -> None:
    site = tmp_path / "site"
    package, facts = site / "firsts", site / "firsts-1.0.dist-info"
    package.mkdir(parents=True)
    facts.mkdir()
    (package / "__init__.py").write_text(SOURCE, encoding="utf-8")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: firsts\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(
        "[copyback.victims]\nfirst-in = firsts:Fifo\nlost = firsts:Absent\n\n"
        "[copyback.schedules]\nstep-by-step = firsts:Partial\n"
    )
    env = {"PYTHONPATH": str(site)}
    listed = cli("show", "policies", env=env).stdout
    assert "first-in" in listed
    assert "step-by-step" in listed
    run = ["run", str(tiny_toml), "--json", "--set"]
    mine = cli(*run, 'ssd.gc.victim={ type = "python", policy = "first-in" }', env=env)
    assert '"write_amplification"' in mine.stdout
    refused = cli(
        *run, 'ssd.gc.victim={ type = "python", policy = "lost" }', env=env, status=2
    ).stderr
    assert "import: AttributeError" in refused


def test_nothing_is_registered_by_copyback_itself() -> None:
    assert not registered(VICTIMS)
    assert not registered(SCHEDULES)


def test_what_a_policy_sees(tiny: dict[str, Any]) -> None:
    write(
        """
        class P(copyback.VictimPolicy):
            def choose(self, plane):
                pages = self.device.pages_per_block
                assert self.device == copyback.Device(0, 2, 2, 32, 16, 1536), self.device
                assert self.device.planes == 4
                assert plane.valid_pages.shape == plane.closed.shape == (32,)
                assert (plane.valid_pages[~plane.closed] == pages).all()
                assert (plane.valid_pages[plane.closed] <= pages).all()
                assert (plane.closed_at <= plane.changed_at).all()
                assert plane.changed_at.max() <= plane.clock
                assert not plane.valid_pages.flags.owndata
                self.seen = getattr(self, "seen", {})
                assert self.seen.setdefault(plane.index, plane) is plane
                worn = plane.erase_count[plane.closed]
                assert worn.max() <= sum(plane.erase_count) + 1
                return plane.valid_pages.argmin()
        """
    )
    summary = copyback.run(tiny, audit=True, ssd__gc__victim=named("P")).summary
    assert summary.gc.collections > 0
