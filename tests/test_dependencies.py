"""A sweep that is gone on with notices whatever its runs depend on, and has changed since."""

from __future__ import annotations

import os
import re
import shutil
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from conftest import tiny_config
from copyback import _core, fio
from copyback.inputs import configuration
from copyback.sweep import dependencies
from copyback.sweep.plan import make_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from copyback._core import Config

#: Words that a choice may be instead of what it is, and quantities of every kind.
WORDS = (
    *("none", "greedy", "fifo", "rga", "auto", "blind", "serial", "raid0", "raid5", "sata", "nvme"),
    *("page", "line", "die", "drive", "striped", "dynamic", "hint", "dac", "1ns", "8KiB", "0.3"),
)


def key(config: Any, **settings: Any) -> str:
    own = configuration.keyword_settings(settings)
    (run,) = make_plan(config, [()], settings=own).runs
    return run.key


def leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted keys of a resolved configuration, and their values."""
    if not isinstance(node, dict) or not node:
        yield path, node
        return
    for name, inner in node.items():
        yield from leaves(inner, f"{path}.{name}" if path else name)


#: The names of the choices of each key.
CHOICES: dict[str, list[str]] = {}
for _key, _name, _ in _core.policies():
    CHOICES.setdefault(_key, []).append(_name)


def others(path: str, value: Any) -> Iterator[Any]:
    """Yield values that may stand in the place of another."""
    yield from CHOICES.get(path.removesuffix(".type"), ())
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value * 2, value - 1, 2)
    elif isinstance(value, float):
        yield from (value * 0.9, value / 2 + 0.1, 0.3, 2.0)
    elif isinstance(value, str):
        if amount := re.match(r"\d+", value):
            rest = value[amount.end() :]
            yield from (f"{int(amount[0]) * 2}{rest}", f"{int(amount[0]) + 1}{rest}")
        yield from (word for word in WORDS if word != value)
    elif isinstance(value, list):
        yield from (value * 2, value[1:])


ARRAY = {"layout": "raid5", "devices": 3, "coordination": "proactive_idle"}
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "a drive": {},
    "an array": {"array": ARRAY},
    "a preset": {"preset": "tlc-unbuffered-64gb"},
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_key_of_the_configuration_is_in_the_key_of_a_run(name: str) -> None:
    base = tiny_config() if name != "a preset" else {}
    base |= CONFIGURATIONS[name]
    first = configuration.load(base)
    resolved = configuration.resolved(first)
    own = key(base)
    untried = []
    for path, value in leaves(resolved):
        changed = next(
            filter(None, (_changed(base, first, path, it) for it in others(path, value))), None
        )
        if changed is None:
            untried.append(path)
            continue
        assert key(base, **changed) != own, changed
    tried = len(list(leaves(resolved))) - len(untried)
    assert tried > 50
    assert len(untried) < tried / 3, untried


def _changed(base: Any, first: Config, path: str, value: Any) -> dict[str, Any] | None:
    """Return a setting that makes another configuration; None if it is refused or the same."""
    setting = {path.replace(".", "__"): value}
    try:
        made = configuration.load(base, settings=configuration.keyword_settings(setting))
    except copyback.InputError:
        return None
    return setting if made.to_toml() != first.to_toml() else None


POLICY = """
import copyback
import helper
from wider import part

class P(copyback.VictimPolicy):
    def __init__(self, device, random, share=0.5):
        super().__init__(device, random)

    def choose(self, plane):
        from late import late
        return helper.first(part.of(plane), late)
"""

FILES = {
    "policy.py": POLICY,
    "helper.py": "import deeper\ndef first(blocks, late): return blocks.argmin()\n",
    "deeper.py": "DEEP = 1\n",
    "late.py": "late = 1\n",
    "wider/__init__.py": "",
    "wider/part.py": "from . import other\ndef of(plane): return plane.valid_pages\n",
    "wider/other.py": "OTHER = 1\n",
    "trace.csv": "128166372003061629,a,0,Write,0,4096,10\n128166372013061629,a,0,Write,0,4096,10\n",
    "second.csv": "128166372003061629,a,0,Read,0,4096,10\n",
    "gaps.txt": "1ms\n2ms\n",
    "cpu.blktrace.0": "zero",
    "cpu.blktrace.1": "one",
    "cpu.blktrace.2.gz": "two",
    "job.fio": "[a]\nrw=randwrite\nbs=4k\nsize=1m\ndirect=1\n",
}

TRACE = {"type": "trace", "path": "trace.csv", "format": "msr"}
SYNTHETIC = {"type": "synthetic", "requests": 10}
FLOWS = {"type": "flows", "flows": [SYNTHETIC | {"iodepth": 1}, TRACE | {"path": "second.csv"}]}
GAPS = SYNTHETIC | {"inter_arrival": {"type": "empirical", "path": "gaps.txt"}}
OF_FILE = {"type": "python", "policy": "policy.py:P"}
OF_MODULE = {"type": "python", "policy": "policy:P"}
BLKTRACE = {"type": "trace", "format": "blktrace"}

#: Each file, and what of a configuration depends on it.
DEPENDS: list[tuple[str, dict[str, Any]]] = [
    ("trace.csv", {"workload": TRACE}),
    ("second.csv", {"workload": FLOWS}),
    ("gaps.txt", {"workload": GAPS}),
    *((f"cpu.blktrace.{n}", {"workload": BLKTRACE | {"path": "cpu"}}) for n in ("0", "1", "2.gz")),
    ("cpu.blktrace.1", {"workload": BLKTRACE | {"path": "cpu.blktrace"}}),
    ("cpu.blktrace.2.gz", {"workload": BLKTRACE | {"path": "cpu.blktrace.0"}}),
    *(
        (file, {"ssd__gc__victim": policy})
        for policy in (OF_FILE, OF_MODULE)
        for file in FILES
        if file.endswith(".py")
    ),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder with the files, on Python's path as that of a script is."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("policy", "helper", "deeper", "late", "wider", "wider.part", "wider.other"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("file", "settings"), DEPENDS, ids=[f"{file} {set_}"[:70] for file, set_ in DEPENDS]
)
def test_a_file_that_changes_makes_another_key(
    home: Path, file: str, settings: dict[str, Any]
) -> None:
    first = key(tiny_config(), **settings)
    assert key(tiny_config(), **settings) == first
    path = home / file
    before = path.stat()
    # As long as it was, and of the same time: what tells is the content.
    content = path.read_bytes()
    changed = content.replace(b"1", b"3", 1) if b"1" in content else content + b"\n# more\n"
    path.write_bytes(changed if changed != content else content.swapcase())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert key(tiny_config(), **settings) != first
    path.write_bytes(content)
    assert key(tiny_config(), **settings) == first


def test_a_file_that_has_lain_there_for_long_may_change_without_another_time(home: Path) -> None:
    settings = {"workload": TRACE}
    path = home / "trace.csv"
    os.utime(path, ns=(1, 1))
    first = key(tiny_config(), **settings)
    path.write_text(FILES["trace.csv"].replace("4096", "8192"))
    os.utime(path, ns=(1, 1))
    assert key(tiny_config(), **settings) != first


def test_a_file_more_of_a_trace_makes_another_key(home: Path) -> None:
    settings = {"workload": BLKTRACE | {"path": "cpu"}}
    first = key(tiny_config(), **settings)
    (home / "cpu.blktrace.3").write_text("three")
    assert key(tiny_config(), **settings) != first


def test_parameters_and_class_of_a_policy_make_another_key(home: Path) -> None:
    text = FILES["policy.py"]
    (home / "policy.py").write_text(text + text.replace("class P", "class Q"))
    more: tuple[dict[str, Any], ...] = (
        {},
        {"parameters": {"share": 0.25}},
        {"policy": "policy.py:Q"},
    )
    assert len({key(tiny_config(), ssd__gc__victim=OF_FILE | one) for one in more}) == 3


def test_a_job_file_makes_another_key(home: Path) -> None:
    def of_job() -> str:
        return key(tiny_config(), workload=fio.read_job_file("job.fio", 10**8).workload)

    first = of_job()
    (home / "job.fio").write_text(FILES["job.fio"].replace("4k", "8k"))
    assert of_job() != first


def test_versions_of_installed_packages_and_of_python_make_another_key(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from copyback.policies import sources

    (home / "helper.py").write_text("import scipy\n" + FILES["helper.py"])
    first = key(tiny_config(), ssd__gc__victim=OF_FILE)
    known = sources._version
    for package in ("numpy", "scipy"):
        with monkeypatch.context() as patch:
            patch.setattr(
                sources, "_version", lambda name, p=package: known(name) + "1" * (name == p)
            )
            assert key(tiny_config(), ssd__gc__victim=OF_FILE) != first, package
    monkeypatch.setattr(sys, "version_info", (3, 99))
    assert key(tiny_config(), ssd__gc__victim=OF_FILE) != first


@pytest.mark.parametrize(
    "part", ["_core", "simulation/driver.py", "data/parquet.py", "policies/bridge.py"]
)
def test_another_build_makes_another_key(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    del home
    first = key(tiny_config(), ssd__gc__victim=OF_FILE)
    package = Path(copyback.__file__).parent
    copied = tmp_path / "copied"
    shutil.copytree(package, copied, ignore=shutil.ignore_patterns("experiments", "__pycache__"))
    compiled = copied / Path(copyback._core.__file__).name
    monkeypatch.setattr(copyback, "__file__", str(copied / "__init__.py"))
    monkeypatch.setattr(copyback._core, "__file__", str(compiled))

    def anew() -> str:
        dependencies._simulator.cache_clear()
        dependencies._asks_policies.cache_clear()
        return key(tiny_config(), ssd__gc__victim=OF_FILE)

    try:
        assert anew() == first
        with (compiled if part == "_core" else copied / part).open("ab") as file:
            file.write(b"\n")
        assert anew() != first
    finally:
        dependencies._simulator.cache_clear()
        dependencies._asks_policies.cache_clear()


def test_the_folder_of_traces_and_policies_is_no_part_of_the_key(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = key(tiny_config(), workload=TRACE, ssd__gc__victim=OF_FILE)
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("policy.py", "trace.csv"):
        shutil.copy(home / name, moved / name)
    monkeypatch.chdir(moved)
    assert key(tiny_config(), workload=TRACE, ssd__gc__victim=OF_FILE) == first


CHANGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda home: home,
    "the trace": lambda home: (home / "trace.csv").write_text(
        FILES["trace.csv"].replace("Write", "Read", 1)
    ),
    "the policy": lambda home: (home / "policy.py").write_text(POLICY + "# More.\n"),
    "what it imports": lambda home: (home / "helper.py").write_text(
        "def first(b, l): return b.argmin()\n"
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_sweep_goes_on_with_what_has_not_changed(home: Path, change: str) -> None:
    def compare() -> copyback.Comparison:
        over: dict[str, list[Any]] = {
            "ssd.gc.victim": ["greedy", OF_FILE],
            "workload": [TRACE, SYNTHETIC],
        }
        return copyback.compare(tiny_config(), over=over, out="sweep", jobs=2)

    assert compare().reused == 0
    CHANGES[change](home)
    assert compare().reused == (4 if change == "nothing" else 2)


EDITS_ITSELF = """
from pathlib import Path
import copyback

class P(copyback.VictimPolicy):
    def choose(self, plane):
        Path(__file__).write_text(Path(__file__).read_text() + "# More.")
        return plane.valid_pages.argmin()
"""


def test_a_run_whose_policy_changes_under_it_is_not_kept(home: Path) -> None:
    (home / "policy.py").write_text(EDITS_ITSELF)
    over: dict[str, list[Any]] = {"ssd.gc.victim": ["greedy", OF_FILE]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = copyback.compare(tiny_config(), over=over, out="sweep", jobs=1)
    assert found.frame["ssd.gc.victim"].to_list() == ["greedy"]
    (said,) = found.failed
    assert "policy.py:P: changed while the run was under way" in said
    assert len(list((home / "sweep" / "runs").iterdir())) == 1
