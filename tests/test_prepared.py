"""Prepared drives that are kept for the next run: the same bytes either way, and no harm done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from conftest import tiny_config
from copyback.inputs import configuration
from copyback.simulation import prepared
from copyback.simulation.prepared import Folder

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

#: So many overwrites that it pays to keep a drive of 1,536 pages.
OVERWRITTEN = {"precondition.overwrites": 800.0}

#: Drives whose files hold something of their own.
DRIVES: dict[str, dict[str, Any]] = {
    "plain": {},
    "random victims": {"ssd.gc.victim": {"type": "rga", "d": 4}},
    "lines": {"ssd.gc.unit": "line", "ssd.ftl.allocation": "dynamic"},
    "slc cache": {
        "ssd.slc_cache.static": {"blocks": 4},
        "ssd.slc_cache.native_bits": 3,
        "ssd.slc_cache.timing": {"read": "25us", "program": "100us", "erase": "2ms"},
        "ssd.gc.copyback": False,
    },
    "table in flash": {"ssd.ftl.mapping": {"type": "demand_paged", "cache": "4KiB"}},
    "rounds": {
        "precondition.overwrites": {"type": "until_steady", "round": 200.0, "most_rounds": 6}
    },
    "array": {"array.layout": "raid5", "array.devices": 3, "array.stripe": "16KiB"},
    "sepbit": {"ssd.ftl.placement": "sepbit"},
}


def config_of(**settings: Any) -> dict[str, Any]:
    """Return a small drive with these keys, dots and all."""
    config = tiny_config()
    for key, value in settings.items():
        section = config
        *way, last = key.split(".")
        for name in way:
            section = section.setdefault(name, {})
        section[last] = value
    return config


def facts(result: copyback.Result) -> dict[str, Any]:
    """Return all that a run says, but of the machine."""
    return facts_in(result.summary.to_json())


def facts_in(summary: str) -> dict[str, Any]:
    """Return all that a summary says, but of the machine."""
    found: dict[str, Any] = json.loads(summary)
    found.pop("simulator")
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Return the user's folder, of this test only."""
    monkeypatch.setenv("COPYBACK_CACHE", str(tmp_path / "cache"))
    found = prepared.users()
    assert found is not None
    return found


@pytest.mark.parametrize("name", DRIVES)
def test_a_kept_drive_gives_what_a_new_one_gives(name: str, folder: Folder, tmp_path: Path) -> None:
    config = config_of(**(OVERWRITTEN | DRIVES[name]))
    plain = facts(copyback.run(config, cache=False))
    assert folder.sizes() == []
    assert facts(copyback.run(config)) == plain
    assert len(folder.sizes()) == 1
    assert facts(copyback.run(config)) == plain
    # It is what `copyback precondition` saves.
    saved = copyback.precondition(config, save=tmp_path / "drive.state")
    kept = next(iter(folder.path.iterdir()))
    assert kept.read_bytes() == saved.read_bytes()


def test_the_workload_and_the_schedule_share_a_drive_and_the_seed_does_not(folder: Folder) -> None:
    config = config_of(**OVERWRITTEN)
    copyback.run(config)
    copyback.run(config, workload__requests=100, ssd__gc__preemption="semi_preemptive")
    assert len(folder.sizes()) == 1
    copyback.run(config, seed=8)
    assert len(folder.sizes()) == 2


def test_what_would_take_longer_to_load_is_not_kept(folder: Folder) -> None:
    copyback.run(tiny_config())
    assert not folder.path.exists()


def test_a_drive_whose_power_is_cut_is_not_kept() -> None:
    """Its recovery sees the order of all programs, which a file does not tell."""
    cuts: dict[str, Any] = {"ssd.power.protection": "none", "ssd.power.cuts": "on_command"}
    assert configuration.read(config_of(**OVERWRITTEN, **cuts)).prepared_name is None
    assert configuration.read(config_of(**OVERWRITTEN)).prepared_name is not None


def test_a_drive_with_a_policy_in_python_is_not_kept(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(
        "import copyback\n\n"
        "class P(copyback.VictimPolicy):\n"
        "    def choose(self, plane):\n"
        "        closed = plane.closed.nonzero()[0]\n"
        "        return closed[plane.valid_pages[closed].argmin()]\n"
    )
    victim = {"type": "python", "policy": f"{tmp_path / 'p.py'}:P"}
    copyback.run(
        config_of(**{"precondition.overwrites": 800.0, "ssd.gc.victim": victim}),
        workload__requests=10,
    )
    assert not folder.path.exists()


@pytest.mark.parametrize("damage", [b"", b"copyback-state\nrubbish", None])
def test_a_damaged_file_is_prepared_again(damage: bytes | None, folder: Folder) -> None:
    config = config_of(**OVERWRITTEN)
    plain = facts(copyback.run(config))
    kept = next(iter(folder.path.iterdir()))
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage is None else damage)
    assert facts(copyback.run(config)) == plain
    assert kept.read_bytes() == whole


def test_those_used_longest_ago_go(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "cache", most_bytes=250)
    for age, name in enumerate(("one", "two", "three")):
        folder.keep(name, lambda path: path.write_bytes(bytes(100)))
        os.utime(folder.path / f"{name}.state", (1000 + age, 1000 + age))
    assert folder.find("one") is None
    assert folder.find("two") is not None
    # It counts as used now.
    folder.keep("four", lambda path: path.write_bytes(bytes(100)))
    assert folder.find("three") is None
    assert folder.find("two") is not None
    # More than all may take is not kept at all.
    folder.keep("large", lambda path: path.write_bytes(bytes(300)))
    assert folder.find("large") is None


def test_what_a_killed_process_left_goes_after_an_hour(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    left, fresh = tmp_path / ".one.state.partial-1", tmp_path / ".two.state.partial-2"
    left.write_bytes(bytes(10))
    fresh.write_bytes(bytes(10))
    os.utime(left, (time.time() - 3700,) * 2)
    folder.keep("three", lambda path: path.write_bytes(bytes(1)))
    assert not left.exists()
    assert fresh.exists()


def test_processes_at_the_same_time_agree(folder: Folder, tmp_path: Path) -> None:
    config = tmp_path / "drive.toml"
    config.write_text(configuration.load(config_of(**OVERWRITTEN)).to_toml())
    run = [sys.executable, "-m", "copyback", "run", str(config), "--json"]
    started = [subprocess.Popen(run, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    told = [facts_in(process.communicate()[0]) for process in started]
    assert [process.returncode for process in started] == [0] * 4
    assert all(one == told[0] for one in told)
    assert [file.suffix for file in folder.path.iterdir()] == [".state"]


def test_threads_that_keep_the_same_drive_do_so_in_turn(tmp_path: Path) -> None:
    """They would write the same unfinished file."""
    folder, writing, most = Folder(tmp_path), [], []

    def save(file: Path) -> None:
        writing.append(file)
        most.append(len(writing))
        time.sleep(0.05)
        writing.remove(file)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: folder.keep("drive", save), range(4)))
    assert most == [1, 1, 1, 1]


def test_a_full_disk_costs_a_line_and_not_the_run(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    config = tmp_path / "drive.toml"
    config.write_text(configuration.load(config_of(**OVERWRITTEN)).to_toml())
    script = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "from copyback.commands.cli import main\n"
        f"sys.argv = ['copyback', 'run', '-q', {str(config)!r}]\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "COPYBACK_CACHE": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr
    assert "the prepared drive is not kept for other runs" in done.stderr
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_command_shows_and_clears(cli: RunCli, folder: Folder) -> None:
    env = {"COPYBACK_CACHE": str(folder.path)}
    copyback.run(config_of(**OVERWRITTEN))
    shown = cli("cache", env=env).stdout
    assert str(folder.path) in shown
    assert "Drives       1 ·" in shown
    assert cli("cache", "clear", env=env).stdout == ""
    assert folder.sizes() == []
    assert "off" in cli("cache", env={"COPYBACK_CACHE": "off"}).stdout


def test_a_size_that_is_none_is_refused(cli: RunCli, folder: Folder) -> None:
    env = {"COPYBACK_CACHE": str(folder.path), "COPYBACK_CACHE_SIZE": "much"}
    told = cli("cache", env=env, status=2).stderr
    assert told.startswith("copyback: error: COPYBACK_CACHE_SIZE: found 'much'; allowed: a size")


def test_the_tests_do_not_use_the_user_s_folder() -> None:
    assert prepared.users() is None
