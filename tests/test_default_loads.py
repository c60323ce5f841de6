"""What presets answer under the load that they come with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import copyback
from copyback.words import verdict

if TYPE_CHECKING:
    from conftest import RunCli

ROOT = Path(__file__).parent.parent

#: Drives of papers and of other simulators. Each collects as its source says, mostly without
#: yielding, and its results are compared with that source's. A run under the load that each comes
#: with opens with what its page says, and with nothing else.
PINNED = {
    "pgc-2011": "docs/guide/papers.md",
    "agc-dgc-2012-64gb": "docs/guide/papers.md",
    "agc-dgc-2012-128gb": "docs/guide/papers.md",
    "harmonia-2012": "docs/guide/papers.md",
    "harmonia-2012-array": "docs/guide/papers.md",
    "pagc-2016": "docs/guide/papers.md",
    "fifo-mqsim": "docs/guide/papers.md",
    "disksim-msr": "docs/guide/papers.md",
    "femu-bbssd": "docs/drives/femu-bbssd.md",
}


#: The others.
JUDGED = [
    "tlc-unbuffered-64gb",
    "tlc-unbuffered",
    "intel-s4500",
    "intel-s4600",
    "samsung-970-evo-plus",
    "samsung-pm9a3",
    "md-raid10-4x",
    "md-raid6-10x",
    "micron-7450-max",
    "micron-7450-pro",
    "solidigm-p5520",
    "kioxia-cm7-r",
    "tlc-nvme-64gb",
    "intel-660p",
    "samsung-eufs-3",
]


def drives(cli: RunCli) -> list[str]:
    """Return the names of all drives that are presets."""
    listed = cli("show", "presets").stdout
    return re.findall(r"^  ([a-z0-9-]+)  ", listed.split("Workloads")[0], re.MULTILINE)


#: Not run here: it is tlc-nvme-64gb with 16 times the blocks, takes minutes and 3 GB.
LARGE = {"tlc-nvme"}


def test_every_drive_is_judged_or_pinned(cli: RunCli) -> None:
    """A new one has to be put here."""
    assert {*PINNED, *JUDGED, *LARGE} == set(drives(cli))


#: A sentence of a page on the load that a preset comes with.
OPENS = "`copyback run --preset {preset}` opens with *{label}*"


@pytest.mark.parametrize("preset", PINNED)
def test_a_paper_s_drive_opens_with_what_its_page_says(preset: str) -> None:
    """Nothing else; a finding that is gone leaves the page, too."""
    page = " ".join((ROOT / PINNED[preset]).read_text().split())
    found = verdict.findings(copyback.run(preset=preset).summary)
    told = {
        label
        for label, _ in verdict.MEANINGS.values()
        if OPENS.format(preset=preset, label=label) in page
    }
    assert told == {finding.label for finding in found}


@pytest.mark.parametrize("preset", JUDGED)
def test_a_drive_of_today_opens_without_a_warning(preset: str) -> None:
    """Under the load that the preset comes with, which finds the drive as one in use is.

    No tail is a hundred times the median, either.
    """
    summary = copyback.run(preset=preset).summary
    assert summary.verdict.findings == []
    assert summary.settled is not None
    assert summary.settled.reached
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
        *("--preset", "tlc-unbuffered-64gb", "--over", f"trace={tmp_path / 'my-trace.gz'}"),
        *("--set", "workload.time_scale=0.02", "--set", "workload.duration=20min"),
        *("--set", "precondition.addresses=workload"),
        *("--over", "ssd.gc.preemption=partial,semi_preemptive,paced"),
        *("--out", tmp_path / "out"),
    ).stdout.splitlines()
    rows = [line for line in shown if line]
    assert len(rows) == 4 + 6
    assert [row for row in rows if row not in told] == []
