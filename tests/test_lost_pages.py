"""Pages that a move cannot read: what each way of moving pages makes of them, audited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.words import die_lines, faults
from nbd import RefusedError, serving

if TYPE_CHECKING:
    from pathlib import Path

#: Some reads are in vain, after a retry.
ERRORS: dict[str, Any] = {
    "audit": True,
    "ssd.faults.read_errors": 0.2,
    "ssd.faults.retry_failures": 0.3,
    "ssd.faults.retry_levels": 1,
}

#: Ways to move pages.
WAYS: dict[str, dict[str, Any]] = {
    "over the channel": {"ssd.gc.copyback": False},
    "inside the flash": {"ssd.gc.copyback": True},
    "semi-preemptive": {
        "ssd.gc.preemption": {"type": "semi_preemptive", "merge": True, "reorder": True}
    },
    "pipelined": {
        "ssd.gc.preemption": {"type": "semi_preemptive", "pipeline": True},
        "ssd.gc.copyback": False,
    },
    "partial": {"ssd.gc.preemption": "partial"},
    "paced": {"ssd.gc.preemption": "paced"},
    "in idle time": {
        "ssd.gc.idle": "advanced_delayed",
        "ssd.gc.soft_threshold": {"blocks": 4},
    },
    "in step, with DRAM": {
        "ssd.gc.width": {"type": "threshold", "cache": "64KiB"},
        "ssd.gc.copyback": False,
    },
    "log blocks": {"ssd.ftl.mapping": "log_block"},
    "superblocks": {"ssd.ftl.mapping": {"type": "superblock"}},
    "a table in flash": {"ssd.ftl.mapping": {"type": "demand_paged", "cache": "1KiB"}},
    "blocks that are replaced": {
        "ssd.faults.program_failures": 0.002,
        "ssd.ftl.over_provisioning": 0.5,
    },
    "wear levelling": {"ssd.wear.static_threshold": 2},
    "read reclaim": {"ssd.refresh.reads": 30},
    "folds": {
        "ssd.slc_cache": {"static": {"blocks": 4}},
        "ssd.ftl.over_provisioning": 0.4,
    },
}


@pytest.mark.parametrize("way", WAYS)
def test_a_page_is_lost_whatever_moves_it(tiny: dict[str, Any], way: str) -> None:
    summary = copyback.run(tiny, **ERRORS | WAYS[way]).summary
    found = summary.faults
    assert found is not None
    assert found.pages_lost_in_moves > 0
    assert found.failed_reads > 0
    told = dict(faults.rows(summary))["Read retries"]
    assert "pages lost in moves" in told


def test_nothing_is_lost_where_a_retry_corrects_everything(tiny: dict[str, Any]) -> None:
    found = copyback.run(tiny, **ERRORS | {"ssd.faults.retry_failures": 0.0}).summary.faults
    assert found is not None
    assert found.read_retries[0] > 0
    assert found.uncorrectable_reads == found.pages_lost_in_moves == found.failed_reads == 0


LINES: dict[str, Any] = {
    "ssd.geometry.channels": 4,
    "ssd.ftl.over_provisioning": 0.6,
    "ssd.ftl.allocation": "dynamic",
    "ssd.gc.unit": "line",
    "ssd.gc.copyback": False,
    "ssd.ftl.rain": True,
    "ssd.faults.read_errors": 0.02,
    "ssd.faults.retry_levels": 0,
    "audit": True,
}


@pytest.mark.parametrize("preemption", ["none", "semi_preemptive", "partial", "paced"])
def test_parity_makes_up_what_a_move_reads_in_vain(tiny: dict[str, Any], preemption: str) -> None:
    settings = LINES | {"ssd.gc.line_erase": "together", "ssd.gc.preemption": preemption}
    summary = copyback.run(tiny, **settings).summary
    assert summary.lines is not None
    parity, found = summary.lines.parity, summary.faults
    assert parity is not None
    assert found is not None
    # Of three other pages of a stripe one cannot be read in six of a hundred cases.
    assert parity.moves_rebuilt > 5 * found.pages_lost_in_moves
    assert parity.moves_rebuilt > 10
    assert "Made up for a move, as they could not be corrected" in dict(die_lines.rows(summary))


@pytest.mark.parametrize(
    ("setting", "key"),
    [({"ssd.gc.copyback": True}, "ssd.gc.copyback"), ({}, "ssd.gc.line_erase")],
)
def test_it_is_said_why_parity_does_not_help(
    tiny: dict[str, Any], setting: dict[str, Any], key: str
) -> None:
    summary = copyback.run(tiny, **LINES | setting).summary
    assert summary.faults is not None
    assert summary.faults.pages_lost_in_moves > 0
    assert any(key in note for note in summary.notes)


def test_a_served_drive_answers_with_an_error_what_it_cannot_read(
    fast: Path, tmp_path: Path
) -> None:
    sets = ["--set=ssd.faults.read_errors=1.0", "--set=ssd.faults.retry_levels=0"]
    with (
        serving(fast, tmp_path / "drive.sock", *sets) as served,
        served.client() as client,
    ):
        client.write(0, b"x" * 4096)
        with pytest.raises(RefusedError) as refused:
            client.read(0, 4096)
        assert refused.value.number == 5
        # The connection goes on.
        client.write(4096, b"y" * 4096)


@pytest.mark.parametrize("way", ["over the channel", "inside the flash", "partial", "log blocks"])
def test_an_array_makes_up_what_its_drives_have_lost(tiny: dict[str, Any], way: str) -> None:
    array = {"array.layout": "raid5", "array.devices": 4, "array.stripe": "8KiB"}
    errors = ERRORS | {"ssd.faults.read_errors": 0.02}
    summary = copyback.run(tiny, **errors | WAYS[way] | array).summary
    assert summary.array is not None
    repairs = summary.array.repairs
    assert repairs is not None
    # One of three others cannot be read in a few of a hundred cases.
    assert repairs.made_up > 5 * repairs.lost
    assert repairs.made_up > 5
    assert f"{repairs.made_up} reads of drives made up" in dict(faults.rows(summary))["Repairs"]
    assert dict(faults.facts(summary))["Repairs"] == faults.repaired(repairs)


def test_an_array_without_parity_repairs_nothing(tiny: dict[str, Any]) -> None:
    summary = copyback.run(tiny, **ERRORS | {"array.layout": "raid0", "array.devices": 4}).summary
    assert summary.array is not None
    assert summary.array.repairs is None
    assert "Repairs" not in dict(faults.rows(summary))


def test_a_served_array_returns_what_its_drives_cannot_read(fast: Path, tmp_path: Path) -> None:
    def refused(layout: str) -> int:
        sets = {
            "array.layout": layout,
            "array.devices": 4,
            "ssd.faults.read_errors": 0.1,
            "ssd.faults.retry_levels": 0,
        }
        options = [f"--set={key}={value}" for key, value in sets.items()]
        found = 0
        with (
            serving(fast, tmp_path / f"{layout}.sock", *options) as served,
            served.client() as client,
        ):
            for page in range(100):
                client.write(4096 * page, bytes([page]) * 4096)
            for page in range(100):
                try:
                    assert client.read(4096 * page, 4096) == bytes([page]) * 4096
                except RefusedError:
                    found += 1
        return found

    # A tenth of the pages; and of three others, one in a quarter of those cases.
    striped, with_parity = refused("raid0"), refused("raid5")
    assert 3 < striped < 20
    assert with_parity < striped / 2
