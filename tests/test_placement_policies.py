"""Placement policies written in Python."""

from __future__ import annotations

import json
import random
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import copyback
from conftest import tiny_config
from copyback.inputs import configuration
from copyback.policies.load import PLACEMENTS, Named
from copyback.policies.state import packed, unpacked
from test_checkpoint import run_in_pieces

if TYPE_CHECKING:
    from conftest import RunCli

EXAMPLE = Path(__file__).parents[1] / "examples" / "policies" / "sep_bit.py"
SEP_BIT = {
    "type": "python",
    "policy": f"{EXAMPLE}:SepBit",
    "classes": 6,
    "host_classes": 2,
}

#: Told nothing, and promises nothing.
APART = """
class P(copyback.PlacementPolicy):
    def place_host(self, pages, ages, now, hint):
        return [0] * len(pages)

    def place_moved(self, pages, ages, now, left):
        return [1] * len(pages)
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def sorted_drive() -> dict[str, Any]:
    return roomy(tiny_config())


def roomy(config: dict[str, Any]) -> dict[str, Any]:
    """Give a drive room for the open blocks of six classes, and writes that are worth sorting."""
    config["ssd"]["geometry"] |= {"planes_per_die": 1, "blocks_per_plane": 48}
    config["ssd"]["ftl"]["over_provisioning"] = 0.35
    config["workload"] |= {
        "address": {"type": "hot_cold", "pages": 0.2, "requests": 0.8},
        "read_share": 0.1,
    }
    config["precondition"]["overwrites"] = 2.0
    return config


def write(source: str) -> None:
    text = "import numpy as np\nimport copyback\nfrom copyback import FOREVER\n\n\n"
    Path("mine.py").write_text(text + textwrap.dedent(source), encoding="utf-8")


def named(**more: Any) -> dict[str, Any]:
    return {"type": "python", "policy": "mine.py:P", "classes": 2, "host_classes": 1, **more}


def assert_same(one: copyback.Result, other: copyback.Result) -> None:
    assert one.summary.placement == other.summary.placement
    assert_same_but_for_memory(one, other)


def assert_same_but_for_memory(one: copyback.Result, other: copyback.Result) -> None:
    assert one.summary.gc == other.summary.gc
    assert one.summary.response_us == other.summary.response_us
    assert one.series.equals(other.series)


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 60


ARRAY = {"array__layout": "raid5", "array__devices": 3}
CUTS = {
    "ssd__power__cuts": {"type": "random", "mean_interval": "80ms", "count": 5},
    "ssd__power__protection": "none",
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"ssd__geometry__channels": 1},
        {"ssd__geometry__planes_per_die": 2},
        {"workload__request_size": "128KiB", "workload__requests": 300},
        {"ssd__gc__copyback": False},
        {"ssd__gc__preemption": "semi_preemptive"},
        {"ssd__gc__victim": "cost_benefit"},
        {"ssd__ftl__mapping": {"type": "demand_paged", "cache": "2KiB"}},
        {"ssd__buffer__capacity": "256KiB"},
        {"workload__trim_share": 0.05},
        ARRAY,
        CUTS,
    ],
    ids=lambda changes: ",".join(changes) or "plain",
)
def test_the_example_does_what_the_built_in_one_does(
    sorted_drive: dict[str, Any], changes: dict[str, Any]
) -> None:
    theirs = copyback.run(sorted_drive, audit=True, ssd__ftl__placement="sepbit", **changes)
    assert theirs.summary.gc.collections > 0
    mine = copyback.run(sorted_drive, audit=True, ssd__ftl__placement=SEP_BIT, **changes)
    assert_same(mine, theirs)


def drawn(number: int) -> dict[str, Any]:
    """Draw a configuration: a drive, how it collects, and what is written to it."""
    draw = random.Random(number)
    config = roomy(tiny_config()) | {"seed": number}
    config["ssd"]["geometry"] |= {
        "channels": draw.choice([1, 2, 3]),
        "dies_per_chip": draw.choice([1, 2]),
        "pages_per_block": draw.choice([8, 16, 24]),
        "planes_per_die": draw.choice([1, 2]),
    }
    config["ssd"]["ftl"]["allocation"] = draw.choice(
        ["dynamic", "CWDP", {"order": "PDWC", "plane": "most_free"}]
    )
    config["ssd"]["gc"] = {
        "victim": draw.choice(["greedy", "cost_benefit", "fifo", {"type": "rga", "d": 4}]),
        "preemption": draw.choice(["none", "semi_preemptive", {"type": "partial", "steps": 3}]),
        "copyback": draw.choice([True, False]),
    }
    config["workload"] |= {
        "requests": 1500,
        "request_size": draw.choice(["4KiB", "16KiB", "64KiB"]),
        "trim_share": draw.choice([0.0, 0.05]),
        "sequential_share": draw.choice([0.0, 0.3]),
        "inter_arrival": {"type": "exponential", "mean": draw.choice(["100us", "1ms"])},
    }
    return config


@pytest.mark.parametrize("number", range(8))
def test_on_drawn_drives_too(number: int) -> None:
    config = drawn(number)
    theirs = copyback.run(config, audit=True, ssd__ftl__placement="sepbit")
    mine = copyback.run(config, audit=True, ssd__ftl__placement=SEP_BIT)
    assert_same(mine, theirs)


def test_one_that_promises_nothing_does_what_the_built_in_one_does(
    sorted_drive: dict[str, Any],
) -> None:
    write(APART)
    mine = copyback.run(sorted_drive, audit=True, ssd__ftl__placement=named())
    theirs = copyback.run(sorted_drive, ssd__ftl__placement="host_and_gc_apart")
    assert_same_but_for_memory(mine, theirs)


#: DAC, and nothing of it promised but where it is true: a level is of the page alone.
DAC = """
class P(copyback.PlacementPolicy):
    def __init__(self, device, random, classes=6):
        super().__init__(device, random)
        self.levels = np.full(device.logical_pages, -1)
        self.top = classes - 1

    def place_host(self, pages, ages, now, hint):
        return np.minimum(self.levels[pages] + 1, self.top), FOREVER

    def place_moved(self, pages, ages, now, left):
        return np.maximum(self.levels[pages] - 1, 0), FOREVER

    def wrote(self, pages, ages, now):
        for page in pages:
            self.levels[page] = min(self.levels[page] + 1, self.top)

    def moved(self, pages, left):
        self.levels[pages] = np.maximum(self.levels[pages] - 1, 0)

    def trimmed(self, pages, ages, now):
        self.levels[pages] = -1
"""


@pytest.mark.parametrize(
    "changes", [{}, {"workload__trim_share": 0.05}, {"ssd__gc__victim": "fifo"}]
)
def test_classes_may_take_both(sorted_drive: dict[str, Any], changes: dict[str, Any]) -> None:
    write(DAC)
    theirs = copyback.run(sorted_drive, ssd__ftl__placement="dac", **changes)
    policy = {"type": "python", "policy": "mine.py:P", "classes": 6}
    mine = copyback.run(sorted_drive, audit=True, ssd__ftl__placement=policy, **changes)
    assert mine.summary.gc == theirs.summary.gc
    assert mine.series.equals(theirs.series)


HEAD = "class P(copyback.PlacementPolicy):\n    "
HOST = HEAD + "def place_host(self, pages, ages, now, hint):\n        "
MOVED = "\n    def place_moved(self, pages, ages, now, left):\n        "
FINE = MOVED + "return np.ones(len(pages), int), FOREVER"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (HOST + "return 1 // 0" + FINE, r"place_host: ZeroDivisionError: .* \(.*mine\.py:8\)"),
        (
            HOST + "return [7] * len(pages)" + FINE,
            r"place_host: found 7; allowed: classes from 0 to 0 \(",
        ),
        (
            HOST + "return [-1] * len(pages)" + FINE,
            r"place_host: found -1; allowed: classes from 0 to 0 \(",
        ),
        (HOST + "return None" + FINE, r"place_host: found None; allowed: a class for each page"),
        (HOST + "return 'x'" + FINE, r"place_host: found 'x'; allowed: a class for each page"),
        (HOST + "return pages * 0.5" + FINE, r"place_host: found array\(.*; allowed: a class for"),
        (HOST + "return []" + FINE, r"place_host: found \[\]; allowed: a class for each page"),
        (HOST + "return pages * 0, 'x'" + FINE, r"place_host: found 'x'; allowed: as the second"),
        (HOST + "return pages * 0, [5, 6]" + FINE, r"place_host: found \[5, 6\]; allowed: as the"),
        (HOST + "return pages * 0, FOREVER" + MOVED + "return pages.x", r"place_moved: Attribute"),
        (HOST + "return pages * 0" + MOVED + "return pages * 0", r"place_moved: found 0; allowed"),
        (HOST + "pass", r"the class has no place_moved, which it must have"),
        (HOST + "raise SystemExit(5)" + FINE, r"place_host: SystemExit: 5 \(.*mine\.py:8\)"),
        (
            HOST + "return pages * 0" + FINE + "\n    def chosen(self, block, now): block.x",
            r"chosen: AttributeError: .* \(.*mine\.py:11\)",
        ),
        (
            HOST + "return pages * 0" + FINE + "\n    def wrote(self, pages, ages, now): pages.x",
            r"wrote: AttributeError: .* \(.*mine\.py:11\)",
        ),
        (
            HOST
            + "return pages * 0"
            + FINE
            + "\n    def sealed(self, b): self.blocks.classes[0] = 1",
            r"sealed: ValueError: assignment destination is read-only",
        ),
        (
            HOST + "pass" + FINE + "\n    def __init__(self, *_): raise KeyError('no')",
            r"__init__: KeyError: 'no' \(.*mine\.py:11\)",
        ),
        ("class P: pass", r"allowed: a class derived from copyback\.PlacementPolicy"),
    ],
)
def test_what_is_wrong_with_a_placement(
    sorted_drive: dict[str, Any], source: str, problem: str
) -> None:
    write(source)
    with pytest.raises(copyback.InputError, match=problem) as caught:
        copyback.run(sorted_drive, ssd__ftl__placement=named())
    assert str(caught.value).startswith("ssd.ftl.placement.policy: ")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("placement", "problem"),
    [
        (named(host_classes=2), r"host_classes: found 2; allowed: fewer than classes, which is 2"),
        (named(classes=0), r"placement\.classes: found 0"),
        (named(classes=129), r"placement\.classes: found 129"),
        (named(parameters={"d": 1}), r"parameters: .*'d'; allowed: none"),
        (named(policy="mine.py"), r'found "mine\.py"; allowed: "file\.py:Class"'),
    ],
)
def test_what_is_wrong_with_its_table(
    sorted_drive: dict[str, Any], placement: Any, problem: str
) -> None:
    write(APART)
    with pytest.raises(copyback.InputError, match=problem):
        copyback.run(sorted_drive, ssd__ftl__placement=placement)


def test_what_is_wrong_with_what_it_says_of_moves(sorted_drive: dict[str, Any]) -> None:
    write(APART + "\n    moves_depend_on_pages = np.arange(2)\n")
    with pytest.raises(copyback.InputError, match=r"P: moves_depend_on_pages: ValueError: "):
        copyback.run(sorted_drive, ssd__ftl__placement=named())


def test_the_command_line_tells_it_in_a_line(tiny_toml: Path, cli: RunCli, tmp_path: Path) -> None:
    write(HOST + "return [9] * len(pages)" + FINE)
    policy = 'ssd.ftl.placement={ type = "python", policy = "mine.py:P", classes = 2 }'
    done = cli("run", tiny_toml, "--set", policy, "--out", tmp_path / "out", status=2)
    assert re.fullmatch(
        r"copyback: error: .*found 9; allowed: classes from 0 to 1 .*\n", done.stderr
    )
    assert not (tmp_path / "out").exists()


def test_what_a_placement_sees(sorted_drive: dict[str, Any]) -> None:
    write(
        """
        class P(copyback.PlacementPolicy):
            def place_host(self, pages, ages, now, hint):
                assert self.device.logical_pages > pages.max() >= 0
                assert len(set(pages.tolist())) == len(pages) == len(ages)
                assert ((ages > 0) & ((ages <= now) | (ages == FOREVER))).all()
                assert hint in (None, 0), hint
                blocks = self.blocks
                of_class, of_none = blocks.classes >= 0, blocks.classes < 0
                assert len(of_class) == self.device.planes * self.device.blocks_per_plane
                assert (blocks.opened_at[of_class] <= now).all()
                assert (blocks.opened_at[of_none] == FOREVER).all()
                full = blocks.sealed_at < FOREVER
                assert (blocks.opened_at[full] <= blocks.sealed_at[full]).all()
                assert not blocks.classes.flags.writeable
                return np.zeros(len(pages), dtype=np.uint8)

            def place_moved(self, pages, ages, now, left):
                assert left in (0, 1)
                return [True] * len(pages), [now + 5] * len(pages)

            def chosen(self, block, now):
                assert block.class_ in (0, 1)
                assert block.opened <= block.sealed <= now
                assert block.valid < self.device.pages_per_block
        """
    )
    mine = copyback.run(sorted_drive, audit=True, ssd__ftl__placement=named())
    assert mine.summary.gc.collections > 0
    theirs = copyback.run(sorted_drive, ssd__ftl__placement="host_and_gc_apart")
    assert_same_but_for_memory(mine, theirs)


def test_pages_come_in_batches(sorted_drive: dict[str, Any]) -> None:
    write(
        """
        class P(copyback.PlacementPolicy):
            asked = {"host": [], "moved": []}  # of all drives

            def place_host(self, pages, ages, now, hint):
                self.asked["host"].append(len(pages))
                return pages * 0, FOREVER

            def place_moved(self, pages, ages, now, left):
                self.asked["moved"].append(len(pages))
                return pages * 0 + 1, FOREVER
        """
    )
    changes: dict[str, Any] = {"workload__request_size": "64KiB", "workload__requests": 100}
    copyback.run(sorted_drive, ssd__ftl__placement=named(), **changes)
    policy: Any = Named(PLACEMENTS, str(Path("mine.py:P").absolute()), {}).load()
    host, moved = policy.asked["host"], policy.asked["moved"]
    assert sum(host) / len(host) > 6
    assert sum(moved) / len(moved) > 3


def test_news_of_pages_may_wait_for_a_question_about_the_hosts(
    sorted_drive: dict[str, Any],
) -> None:
    told = """
    class P(copyback.PlacementPolicy):
        calls = []  # of all drives
        {says}

        def place_host(self, pages, ages, now, hint):
            self.calls.append(("host", []))
            return pages * 0, FOREVER

        def place_moved(self, pages, ages, now, left):
            self.calls.append(("moves", []))
            return pages * 0 + 1, FOREVER

        def wrote(self, pages, ages, now):
            self.calls.append(("wrote", pages.tolist()))

        def moved(self, pages, left):
            self.calls.append(("moved", pages.tolist()))

        def sealed(self, block):
            self.calls.append(("sealed", [block.number]))
    """
    calls = []
    for says in ("", "moves_depend_on_pages = False"):
        write(told.replace("{says}", says))
        copyback.run(sorted_drive, audit=True, ssd__ftl__placement=named())
        policy: Any = Named(PLACEMENTS, str(Path("mine.py:P").absolute()), {}).load()
        calls.append(policy.calls)
    at_once, waiting = calls
    questions = ("host", "moves")

    def news(calls: list[tuple[str, list[int]]]) -> list[tuple[str, int]]:
        return [(hook, one) for hook, them in calls if hook not in questions for one in them]

    assert news(at_once) == news(waiting), "the same, in the same order"
    assert [hook for hook, _ in at_once if hook in questions] == [
        hook for hook, _ in waiting if hook in questions
    ]
    assert len(waiting) < len(at_once)


def test_a_prepared_drive_holds_what_it_has_learned(
    sorted_drive: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "drive.state"
    changes: dict[str, Any] = {"ssd__ftl__placement": SEP_BIT}
    copyback.precondition(sorted_drive, save=file, **changes)
    again = tmp_path / "again.state"
    copyback.precondition(sorted_drive, save=again, **changes)
    assert file.read_bytes() == again.read_bytes()
    whole = copyback.run(sorted_drive, ssd__ftl__placement="sepbit")
    assert_same(copyback.run(sorted_drive, state=file, **changes), whole)


def test_a_checkpoint_holds_what_it_has_learned(
    sorted_drive: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sorted_drive["ssd"]["ftl"]["placement"] = SEP_BIT
    config = configuration.load(sorted_drive)
    (out := tmp_path / "out").mkdir()
    assert run_in_pieces(config, tmp_path / "run.checkpoint", out, monkeypatch) > 1
    whole = copyback.run(sorted_drive)
    kept = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert kept["gc"] == json.loads(whole.summary.to_json())["gc"]
    assert kept["placement"] == json.loads(whole.summary.to_json())["placement"]


DRAWS = """
class P(copyback.PlacementPolicy):
    def __init__(self, device, random):
        super().__init__(device, random)
        self.kept = (1 << 70, [2.5, None, b"x"], {"a": np.arange(3), 5: True}, np.float32(0.5))

    def place_host(self, pages, ages, now, hint):
        return pages * 0, FOREVER

    def place_moved(self, pages, ages, now, left):
        return pages * 0 + 1, FOREVER

    def chosen(self, block, now):
        self.drawn = int(self.random.integers(1 << 40))
"""


def test_what_is_restored_is_what_was_kept(sorted_drive: dict[str, Any], tmp_path: Path) -> None:
    write(DRAWS)
    file = copyback.precondition(
        sorted_drive, save=tmp_path / "drive.state", ssd__ftl__placement=named()
    )
    write(DRAWS + "\n    extra = 1\n")
    with pytest.raises(copyback.InputError, match="written with another text of the policy"):
        copyback.run(sorted_drive, state=file, ssd__ftl__placement=named())
    write(DRAWS)
    copyback.run(sorted_drive, state=file, ssd__ftl__placement=named())
    value = (1 << 70, -5, [2.5, None, b"x", "y"], {"a": np.arange(3), 5: True}, ())
    again = unpacked(packed(value))
    assert again[3]["a"].tolist() == [0, 1, 2]
    assert (again[:3], again[4]) == (value[:3], value[4])
    assert packed(again) == packed(value)


def test_what_no_file_can_hold_is_told(sorted_drive: dict[str, Any], tmp_path: Path) -> None:
    write(DRAWS + "        self.odd = [{1, 2}]\n")
    file = tmp_path / "drive.state"
    with pytest.raises(
        copyback.InputError, match=r"P: state: TypeError: found set at state\['odd'\]\[0\]"
    ):
        copyback.precondition(sorted_drive, save=file, ssd__ftl__placement=named())
    assert not file.exists()


def test_a_sweep_prepares_its_drives_once_and_knows_the_source(
    sorted_drive: dict[str, Any], tmp_path: Path
) -> None:
    write(DAC)
    sorted_drive["workload"]["requests"] = 300
    policy = {"type": "python", "policy": str(tmp_path / "mine.py:P")}

    over: dict[str, list[Any]] = {
        "ssd.ftl.placement": [policy, "dac"],
        "workload.requests": [300, 400],
    }
    first = copyback.compare(sorted_drive, over=over, out=tmp_path / "out", jobs=2)
    erases = (
        first.frame.to_polars().group_by("workload.requests").agg(pl.col("flash.erases").n_unique())
    )
    assert erases["flash.erases"].to_list() == [1, 1]
    write(DAC.replace("levels[pages] - 1", "levels[pages] - 2"))
    second = copyback.compare(sorted_drive, over=over, out=tmp_path / "out", jobs=2)
    assert (first.reused, second.reused) == (0, 2)


def test_the_guide_has_the_example() -> None:
    guide = EXAMPLE.parents[2] / "docs" / "guide" / "policies-in-python.md"
    source = EXAMPLE.read_text(encoding="utf-8")
    assert source[source.index("COLLECTED =") :].rstrip() in guide.read_text(encoding="utf-8")
