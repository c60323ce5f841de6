"""What the tests of the Python package share: a drive so small that a run takes milliseconds."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from clusters import cluster  # noqa: F401 - a fixture
from commands import Commands
from copyback import process
from copyback.inputs import configuration
from nbd import FAST
from tiny_paper import write

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path


def pytest_configure() -> None:
    """Take Ctrl-C, as do the programs that tests start: what a shell puts behind ignores it.

    Processes of comparisons are forked from one that has imported what they need, as the command
    line's are: to import it in each takes longer than most comparisons here. The process that is
    forked has one thread, as the command line's. A test in ``test_sweep.py`` starts a program that
    gets what programs get.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process.take()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Prepared drives of the user are not for tests.
    os.environ["COPYBACK_CACHE"] = "off"


#: Files that take many seconds and seldom find what no other does: whole pages, papers, drives.
THOROUGH = {
    "test_calibrate",
    "test_calibrate_dask",
    "test_default_loads",
    "test_drives",
    "test_extras",
    "test_femu",
    "test_full_disk",
    "test_killed_sweeps",
    "test_notebooks",
    "test_pages",
    "test_papers",
    "test_placement",
    "test_reproduction",
    "test_serve",
    "test_serve_fio",
    "test_serve_guide",
    "test_serve_power",
    "test_surroundings",
    "test_sweep_dask",
    "test_tournament",
    "test_validate",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that ``make test`` leaves out."""
    for item in items:
        if item.path.stem in THOROUGH:
            item.add_marker(pytest.mark.thorough)


class RunCli(Protocol):
    """Runs the command line in a process of its own."""

    def __call__(
        self, *arguments: str | Path, status: int = 0, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]: ...


def tiny_config() -> dict[str, Any]:
    return {
        "seed": 7,
        "ssd": {
            "geometry": {
                "channels": 2,
                "chips_per_channel": 1,
                "dies_per_chip": 1,
                "planes_per_die": 2,
                "blocks_per_plane": 32,
                "pages_per_block": 16,
                "page_size": "4KiB",
            },
            "ftl": {"over_provisioning": 0.25},
        },
        "workload": {
            "type": "synthetic",
            "requests": 3000,
            "request_size": "4KiB",
            "read_share": 0.3,
            "sequential_share": 0.0,
            "inter_arrival": {"type": "exponential", "mean": "300us"},
        },
        "precondition": {"fill": 1.0, "overwrites": 1.0},
    }


@pytest.fixture
def tiny() -> dict[str, Any]:
    return tiny_config()


@pytest.fixture
def tiny_toml(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    lines = [f"{key} = {configuration.to_toml(value)}" for key, value in tiny_config().items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def fast(tmp_path: Path) -> Path:
    """Write the configuration of the drive that tests serve."""
    path = tmp_path / "fast.toml"
    path.write_text(FAST)
    return path


@pytest.fixture
def tiny_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("COPYBACK_TRACES", raising=False)
    return write(tmp_path / "tiny")


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    started = Commands()
    yield started
    started.close()


@pytest.fixture
def cli(tmp_path: Path, commands: Commands) -> RunCli:
    def run(
        *arguments: str | Path, status: int = 0, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = commands.run(list(map(str, arguments)), tmp_path, {**os.environ, **(env or {})})
        assert done.returncode == status, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done

    return run
