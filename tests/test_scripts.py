"""Programs that use the library: plain scripts, without ``if __name__ == "__main__"``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from shutil import copy
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.policies.fingerprint import digest_of
from pages import ROOT
from test_notebooks import notebook, tools

if TYPE_CHECKING:
    from pathlib import Path

DRIVE = """
import copyback

DRIVE = {
    "ssd": {"geometry": {"blocks_per_plane": 32, "pages_per_block": 16}},
    "workload": {"type": "synthetic", "requests": 1000},
    "precondition": {"fill": 1.0, "overwrites": 1.0},
}
"""

FIFO = """
def oldest(plane):
    closed = plane.closed.nonzero()[0]
    return closed[plane.closed_at[closed].argmin()]


class Fifo(copyback.VictimPolicy):
    def choose(self, plane):
        return oldest(plane)

"""

COMPARE = """
found = copyback.compare(DRIVE, over={"ssd.gc.victim": ["fifo", "greedy"]}, jobs=2)
print(found.frame["gc.pages_moved"].to_list())
"""

POLICIES = """
found = copyback.compare(DRIVE, over={"ssd.gc.victim": ["fifo", Fifo]}, jobs=2, out="sweep")
print([found.reused, found.frame["gc.pages_moved"].to_list()])
"""

SEARCH = """
found = copyback.search(
    DRIVE, least="ssd.ftl.over_provisioning=0.2..0.6", where="WA < 100", jobs=2
)
print([found.value])
"""

TOURNAMENT = """
study = {
    "config": "drive.toml", "objectives": ["mean"], "budget": 200_000,
    "space": {"ssd.gc.victim": ["greedy", "random"], "ssd.gc.preemption": ["none", "partial"]},
    "schemes": {"FIFO": {"ssd.gc.victim": "fifo"}},
}
found = copyback.tournament(study, out="out/tournament", jobs=2)
print([len(found.frame), len(copyback.Tournament.load("out/tournament").frame)])
"""


def run(
    home: Path, text: str, *, fed: bool = False, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a script in a fresh process: as a file, or fed to the interpreter."""
    (home / "script.py").write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-" if fed else "script.py"],
        input=text if fed else None,
        cwd=home,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def said(home: Path, text: str, **how: Any) -> Any:
    """Return what a script prints last; nothing else is said."""
    done = run(home, text, **how)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout.splitlines()[-1].replace("'", '"'))


@pytest.mark.parametrize("fed", [False, True], ids=["file", "standard input"])
def test_a_comparison_at_the_top_of_a_script(tmp_path: Path, fed: bool) -> None:
    fifo, greedy = said(tmp_path, DRIVE + COMPARE, fed=fed)
    assert fifo > greedy > 0


def test_a_search_and_a_tournament_at_the_top_of_a_script(tmp_path: Path) -> None:
    assert said(tmp_path, DRIVE + SEARCH) == [0.2]
    copy(ROOT / "examples/design/drive.toml", tmp_path / "drive.toml")
    assert said(tmp_path, DRIVE + TOURNAMENT) == [4, 4]


@pytest.mark.parametrize("fed", [False, True], ids=["file", "standard input"])
def test_a_script_compares_policies_that_it_defines(tmp_path: Path, fed: bool) -> None:
    script = DRIVE + FIFO + POLICIES
    reused, (built_in, mine) = said(tmp_path, script, fed=fed)
    assert (reused, mine) == (0, built_in)
    # Whatever else stands in the script, and however Python mixes its hashes.
    moved = f"# A line more.\nSTRANGER = 1\n{script}"
    assert said(tmp_path, moved, fed=fed, env={"PYTHONHASHSEED": "7"})[0] == 2
    emptiest = script.replace(
        "plane.closed_at[closed].argmin()", "plane.valid_pages[closed].argmin()"
    )
    reused, (_, edited) = said(tmp_path, emptiest, fed=fed)
    assert reused == 1
    assert edited < built_in


def test_a_module_beside_a_script_has_the_policy(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import copyback\n" + FIFO)
    script = DRIVE + "from mine import Fifo\n" + POLICIES
    _, (built_in, mine) = said(tmp_path, script)
    assert mine == built_in
    assert said(tmp_path, script)[0] == 2
    found = copyback.Comparison.load(tmp_path / "sweep")
    config = found.result(found.frame["run"][1]).config
    assert config["ssd"]["gc"]["victim"]["policy"] == "mine:Fifo"


def test_a_notebook_compares_policies_that_it_defines(tmp_path: Path) -> None:
    found = tools.run(notebook(DRIVE + FIFO, POLICIES), tmp_path)
    (output,) = found["cells"][1]["outputs"]
    reused, (built_in, mine) = json.loads("".join(output["text"]))
    assert (reused, mine) == (0, built_in)


def test_tests_of_a_user_compare_policies_that_they_define(tmp_path: Path) -> None:
    body = "".join(f"    {line}\n" for line in (FIFO + POLICIES).splitlines())
    (tmp_path / "test_mine.py").write_text(f"{DRIVE}\ndef test_it():\n{body}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_own_processes_of_a_program_import_it_as_ever(tmp_path: Path) -> None:
    script = f"""{DRIVE}
import multiprocessing

def double(number):
    return 2 * number

if __name__ == "__main__":
    copyback.compare(DRIVE, over={{"ssd.gc.victim": ["fifo", "greedy"]}}, jobs=2)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(double, [1, 2]))
"""
    assert said(tmp_path, script) == [2, 4]


ENDS = """
import os

class Ends(copyback.VictimPolicy):
    def choose(self, plane):
        os._exit(3)

copyback.compare(DRIVE, over={"ssd.gc.victim": [Ends]}, jobs=1)
"""


def test_what_ends_the_processes_is_not_guessed(tmp_path: Path) -> None:
    done = run(tmp_path, DRIVE + ENDS)
    last = done.stderr.splitlines()[-1]
    assert "a run has ended its process 4 times" in last
    assert "exit status 3" in last


def test_a_policy_that_fails_is_told_by_its_line(tmp_path: Path) -> None:
    broken = FIFO.replace("argmin", "argmni")
    script = f"{DRIVE}{broken}copyback.compare(DRIVE, over={{'ssd.gc.victim': ['greedy', Fifo]}})\n"
    done = run(tmp_path, script + "print('on')\n")
    line = 1 + next(n for n, text in enumerate(script.splitlines()) if "argmni" in text)
    assert re.search(rf"choose: AttributeError: .*script\.py:{line}\)", done.stderr)
    assert done.stdout == "on\n"


def test_a_script_runs_longer_than_a_call_of_its_policy_may(tmp_path: Path) -> None:
    script = f"""{DRIVE}{FIFO}
import time
from copyback.inputs import configuration
from copyback.policies.suppliers import suppliers

Fifo.time_limit = 0.2
kept = suppliers(configuration.load(DRIVE | {{"ssd": {{"gc": {{"victim": Fifo}}}}}}))
begun = time.monotonic()
while time.monotonic() < begun + 1.5:
    pass
print([1])
"""
    assert said(tmp_path, script) == [1]


class Greedy(copyback.VictimPolicy):
    def choose(self, plane: copyback.Plane) -> int:
        return int(plane.valid_pages.argmin())


@pytest.mark.parametrize(
    "given",
    [
        {"ssd__gc__victim": Greedy},
        {"ssd__gc__victim__type": "python", "ssd__gc__victim__policy": Greedy},
        {"ssd__gc": {"victim": {"type": "python", "policy": Greedy}}},
        {"ssd": {"gc": {"victim": Greedy}}},
    ],
    ids=["a key", "its policy", "a table", "a section"],
)
def test_a_class_stands_where_a_policy_is_set(tiny: dict[str, Any], given: dict[str, Any]) -> None:
    if "ssd" in given:
        tiny["ssd"] |= given.pop("ssd")
    found = copyback.run(tiny, **given)
    assert found.config["ssd"]["gc"]["victim"]["type"] == "python"
    assert found.summary.gc.pages_moved > 0


@pytest.mark.parametrize("stranger", [int, copyback.Result, copyback.Plane])
def test_a_class_that_is_no_policy_is_told_in_a_line(
    tiny: dict[str, Any], stranger: type[Any]
) -> None:
    with pytest.raises(copyback.InputError) as caught:
        copyback.run(tiny, ssd__gc__victim=stranger)
    assert str(caught.value).startswith("ssd.gc.victim: found the class ")
    assert "copyback.VictimPolicy" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_the_configuration_of_another_program_names_its_class(tmp_path: Path) -> None:
    said(tmp_path, DRIVE + FIFO + POLICIES)
    comparison = copyback.Comparison.load(tmp_path / "sweep")
    config = comparison.result(comparison.frame["run"][1]).config
    with pytest.raises(copyback.InputError, match="a class that a program has given"):
        copyback.run(config)


def made(source: str) -> type[Any]:
    names: dict[str, Any] = {"copyback": copyback, "__name__": "__main__"}
    exec(source, names)
    policy: type[Any] = names["P"]
    return policy


P = """
import enum, functools, math, re
from dataclasses import dataclass
class Colour(enum.Enum):
    RED = 21
@dataclass
class Settings:
    least: int = 22
SETTINGS = Settings(23)
WORD = re.compile("x24")
@functools.lru_cache
def kept(x): return x + 25
part = functools.partial(max, 26)
TABLE = {"a": [1, 2], "b": {"x", "y", "z"}}
def helper(x): return x + len(TABLE)
class Base(copyback.VictimPolicy):
    least = 1
class P(Base):
    share = 0.5
    def choose(self, plane):
        order = sorted(plane.valid_pages, key=lambda pages: -pages)
        return helper(int(order[0])) if math.pi in {1, 2} else self.inner()(2)
    def inner(self):
        return lambda page: page * 3
    @property
    def size(self): return 4
    @staticmethod
    def fixed(): return Colour.RED, SETTINGS, WORD, kept(1), part(1), 6
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[1, 2]", "[1, 3]"),
        ('"x"', '"w"'),
        ("x + len", "x - len"),
        ("least = 1", "least = 2"),
        ("0.5", "0.25"),
        ("-pages", "pages"),
        ("page * 3", "page * 5"),
        ("return 4", "return 5"),
        ("1), 6", "1), 7"),
        *((f"{number}", "41") for number in range(21, 27)),
        ("math.pi", "math.e"),
        ("functools, math, re", "functools, cmath as math, re"),
        ("{1, 2}", "{1, 9}"),
    ],
)
def test_the_digest_of_a_class_covers_all_that_it_names(old: str, new: str) -> None:
    first = digest_of(made(P))
    assert digest_of(made(f"\n# Elsewhere.\nOTHER = 3\n{P}")) == first
    assert old in P
    assert digest_of(made(P.replace(old, new))) != first


def test_the_digest_of_a_class_is_the_same_in_every_process(tmp_path: Path) -> None:
    script = f"""
import copyback
from copyback.policies.fingerprint import digest_of
{P}
print(['"' + digest_of(P) + '"'])
"""
    seeds = ("1", "2", "3")
    found = {
        run(tmp_path, script, fed=fed, env={"PYTHONHASHSEED": seed}).stdout
        for seed in seeds
        for fed in (False, True)
    }
    assert len(found) == 1
    assert len(found.pop()) > 64


UNSENT = """
LOG = open("log.txt", "w")

class Logs(copyback.VictimPolicy):
    def choose(self, plane):
        LOG.write("asked")
        return plane.valid_pages.argmin()

copyback.run(DRIVE, ssd__gc__victim=Logs)
copyback.compare(DRIVE, over={"ssd.gc.victim": [Logs]}, jobs=1)
"""


def test_a_class_that_cannot_be_sent_is_told_in_a_line(tmp_path: Path) -> None:
    last = run(tmp_path, DRIVE + UNSENT).stderr.splitlines()[-1]
    assert "Logs: cannot be sent to other processes: Cannot pickle files" in last
    assert "allowed: " in last
