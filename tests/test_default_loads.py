"""What presets answer under the load that they come with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import copyback

if TYPE_CHECKING:
    from conftest import RunCli

ROOT = Path(__file__).parent.parent

#: Drives of papers and of other simulators. Each collects as its source says, mostly without
#: yielding, and its results are compared with that source's.
PINNED = {
    "pgc-2011": "ISPASS 2011, whose baseline does not yield",
    "agc-dgc-2012-64gb": "Middleware 2012, whose baseline does not yield",
    "agc-dgc-2012-128gb": "the same",
    "harmonia-2012": "IEEE TC 2012, whose drives do not yield",
    "harmonia-2012-array": "the same, eight of them",
    "pagc-2016": "SC 2016, whose baseline does not yield",
    "fifo-mqsim": "the default drive of MQSim",
    "disksim-msr": "the validation input of DiskSim's SSD add-on",
}


#: The others, but for `tlc-nvme`, which is the first of them with more blocks.
JUDGED = [
    "tlc-nvme-64gb",
    "femu-bbssd",
    "intel-s4500",
    "intel-s4600",
    "samsung-970-evo-plus",
    "intel-660p",
    "samsung-eufs-3",
]


def drives(cli: RunCli) -> list[str]:
    """Return the names of all drives that are presets."""
    listed = cli("show", "presets").stdout
    return re.findall(r"^  ([a-z0-9-]+)  ", listed.split("Workloads")[0], re.MULTILINE)


def test_every_drive_is_judged_or_pinned(cli: RunCli) -> None:
    """A new one has to be put here."""
    assert {*PINNED, *JUDGED, "tlc-nvme"} == set(drives(cli))


@pytest.mark.parametrize("preset", JUDGED)
def test_no_tail_is_a_hundred_times_the_median(preset: str) -> None:
    """Under the load that the preset comes with; it finds the drive as one in use is."""
    summary = copyback.run(preset=preset).summary
    assert not {"starved", "unmapped_reads", "nothing_programmed"} & set(summary.verdict.findings)
    response = summary.response_us.all
    assert response.p99 is not None
    assert response.p50 is not None
    assert response.p99 <= 100 * response.p50


def test_the_guide_s_comparison_is_what_the_program_prints(cli: RunCli, tmp_path: Path) -> None:
    """Its table of three schemes on the MySQL server's trace."""
    guide = (ROOT / "docs/guide/install.md").read_text()
    shown = guide.split("```text\nAnswer")[1].split("```")[0].splitlines()[1:]
    trace = ROOT / "examples/linux-mysql.load.gz"
    (tmp_path / "my-trace.gz").symlink_to(trace)
    told = cli(
        "compare",
        *("--preset", "tlc-nvme-64gb", "--over", f"trace={tmp_path / 'my-trace.gz'}"),
        *("--set", "workload.time_scale=0.02"),
        *("--over", "ssd.gc.preemption=partial,semi_preemptive,paced"),
        *("--out", tmp_path / "out"),
    ).stdout.splitlines()
    rows = [line for line in shown if line]
    assert len(rows) == 3 + 1 + 9
    assert [row for row in rows if row not in told] == []
