"""A file system on a served drive that collects keeps a tree of sources."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from copyback.data.parquet import read_parquet
from copyback.serve.ask import ask
from fuse import home_of_all, missing, run
from nbd import replayed, rows, serving
from pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="works on Linux only")

NEEDED = ["nbdfuse", "mke2fs", "e2fsck", "fusermount3", "mount", "root"]

#: 56 MiB that are full before: whatever is written must be collected for.
SETTINGS = {
    "ssd.geometry.blocks_per_plane": "300",
    "precondition.fill": "1.0",
    "precondition.overwrites": "0.5",
    "ssd.gc.preemption": '"semi_preemptive"',
}


@pytest.fixture
def home() -> Iterator[Path]:
    with home_of_all() as path:
        yield path


def mounted(commands: str) -> str:
    """Return commands that work on the file system of a drive while it is mounted."""
    return f"""
        nbdfuse mnt/drive 'nbd+unix:///?socket=drive.sock' &
        until test -e mnt/drive; do sleep 0.05; done
        {commands}
        until fusermount3 -u mnt; do sleep 0.1; done
    """


@pytest.mark.skipif(bool(missing(NEEDED)), reason=f"{', '.join(missing(NEEDED))}: not here")
def test_a_tree_of_sources_is_copied_and_the_file_system_is_clean(fast: Path, home: Path) -> None:
    log = home / "requests.parquet"
    sets = [f"--set={key}={value}" for key, value in SETTINGS.items()]
    with serving(fast, home / "drive.sock", *sets, f"--log={log}") as served:
        run("mkdir mnt fs", home)
        make = "mke2fs -q -t ext4 -E nodiscard mnt/drive; mount -o loop mnt/drive fs"
        copy = f"cp -r {ROOT}/crates/copyback/src fs/one; cp -r fs/one fs/two; rm -r fs/one"
        run(mounted(f"{make}; {copy}; umount fs; e2fsck -f -n mnt/drive"), home)
        # Nothing of it is in the host's memory any more.
        look = f"mount -o loop mnt/drive fs; diff -r {ROOT}/crates/copyback/src fs/two; umount fs"
        run(mounted(f"{look}; e2fsck -f -n mnt/drive"), home)
        assert json.loads(ask(served.socket, "status"))["collections"] > 0
        served.end()
    assert replayed(fast, log, SETTINGS) == rows(read_parquet(log))
