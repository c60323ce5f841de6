"""Faults of the flash from the user's side: drives to the end of their lives, and what is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import copyback

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

#: Random writes in a closed loop until a drive is worn out, every invariant audited: at the end
#: every page lies where its last version was written.
TO_THE_END: dict[str, Any] = {
    "audit": True,
    "stop": "read_only",
    "ssd.endurance.rated_cycles": 12,
    "ssd.faults.endurance_spread": 0.2,
    "ssd.ftl.over_provisioning": 0.45,
    "precondition.overwrites": 0.0,
    "workload.requests": "unlimited",
    "workload.read_share": 0.1,
    "workload.iodepth": 4,
}


@pytest.fixture
def mortal(tiny: dict[str, Any]) -> dict[str, Any]:
    workload = {k: v for k, v in tiny["workload"].items() if k != "inter_arrival"}
    return tiny | {"workload": workload}


@pytest.mark.parametrize(
    "mapping",
    [
        "page",
        {"type": "demand_paged", "cache": "1KiB"},
        "log_block",
        {"type": "buffered_log_block", "buffer": {"blocks": 2}},
        {"type": "superblock", "update_blocks": 4},
    ],
    ids=lambda mapping: mapping if isinstance(mapping, str) else mapping["type"],
)
def test_a_drive_is_run_until_it_is_worn_out(mortal: dict[str, Any], mapping: Any) -> None:
    result = copyback.run(mortal, **TO_THE_END, **{"ssd.ftl.mapping": mapping})
    faults, endurance = result.summary["faults"], result.summary["endurance"]
    assert faults.read_only_since_s > 0
    assert faults.grown_bad_blocks == faults.erase_failures > 0
    assert faults.uncorrectable_reads == faults.program_failures == 0
    written = result.summary.requests.write_bytes + endurance.capacity_bytes
    assert endurance["measured_tbw"] == pytest.approx(written / 1e12)
    bad = result.series["bad_blocks"].to_list()
    assert bad[0] == 0
    assert bad[-1] == faults.grown_bad_blocks
    assert bad == sorted(bad)


def test_collections_get_costlier_as_blocks_become_bad(mortal: dict[str, Any]) -> None:
    series = copyback.run(mortal, **TO_THE_END).series
    columns = [series[name].to_numpy() for name in ("bad_blocks", "gc_programs", "host_programs")]
    bad, moved, written = columns
    before, after = (
        1 + moved[part].sum() / written[part].sum() for part in (bad == 0, 2 * bad >= bad[-1])
    )
    assert after > 1.1 * before


def test_the_life_of_a_drive_is_what_its_rating_predicts(mortal: dict[str, Any]) -> None:
    """Without spread, levelled wear and little else, each block is used as often as it lasts."""
    found = copyback.run(
        mortal,
        **TO_THE_END | {"ssd.faults.endurance_spread": 0.0, "ssd.ftl.free_blocks": "least_worn"},
    ).summary
    # Blocks are free or open at the end, and the last are not used up: much of so short a life.
    assert found["endurance"]["measured_tbw"] == pytest.approx(found["endurance"].tbw, rel=0.25)
    assert found.wear.erase_count.max == 13


def test_an_array_with_a_drive_that_is_read_only_fails_its_writes(mortal: dict[str, Any]) -> None:
    settings: dict[str, Any] = {
        "audit": True,
        "array.layout": "raid5",
        "array.devices": 3,
        "array.stripe": "16KiB",
        "ssd.faults.erase_failures": 0.1,
        "ssd.ftl.over_provisioning": 0.6,
        "precondition.overwrites": 0.0,
        "workload.requests": 20_000,
        "workload.iodepth": 4,
    }
    summary = copyback.run(mortal, **settings).summary
    faults = summary["faults"]
    assert summary.requests.writes + faults.rejected_writes + summary.requests.reads == 20_000
    assert faults.rejected_writes > 0
    assert sum(drive["faults"]["read_only_since_s"] is not None for drive in summary["devices"]) > 0
    assert sum(drive["faults"]["erase_failures"] for drive in summary["devices"]) == (
        faults.erase_failures
    )


def test_without_faults_nothing_is_told(tiny: dict[str, Any]) -> None:
    result = copyback.run(tiny)
    assert "faults" not in result.summary
    assert "bad_blocks" not in result.series.columns
    assert "[ssd.faults]" not in result.config_toml


def test_a_saved_drive_keeps_its_bad_blocks(tiny: dict[str, Any], tmp_path: Path) -> None:
    tiny["ssd"]["ftl"]["over_provisioning"] = 0.4
    faulty: dict[str, Any] = {
        "ssd.faults.factory_bad_blocks": 0.02,
        "ssd.faults.program_failures": 0.001,
    }
    state = tmp_path / "state"
    copyback.precondition(tiny, save=state, **faulty)
    fresh, loaded = copyback.run(tiny, **faulty), copyback.run(tiny, state=state, **faulty)
    assert fresh.summary["faults"] == loaded.summary["faults"]
    assert fresh.summary["faults"].grown_bad_blocks > 0
    assert fresh.summary.response_us == loaded.summary.response_us
    with pytest.raises(copyback.InputError, match="prepared for another device"):
        copyback.run(tiny, state=state)


def test_terminal_and_report_show_it(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    settings = [
        "ssd.faults.erase_failures=0.3",
        "ssd.faults.read_errors=0.05",
        "ssd.endurance.rated_cycles=100",
        "ssd.ftl.over_provisioning=0.4",
        "precondition.overwrites=0.0",
    ]
    arguments = [text for setting in settings for text in ("--set", setting)]
    shown = cli("run", tiny_toml, *arguments, "--out", out).stdout
    assert "grown bad blocks" in shown
    assert "requests rejected" in shown
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<h3>Faults of the flash</h3>" in page
    assert "TBW predicted" in page


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (
            {"ssd.faults.program_failures": 1.5},
            "--set ssd.faults.program_failures: found 1.5; allowed: 0 to 1",
        ),
        (
            {"ssd.faults.retry_levels": 65},
            "--set ssd.faults.retry_levels: found 65; allowed: at most 64",
        ),
        (
            {"ssd.faults.endurance_spread": 0.1},
            "--set ssd.faults.endurance_spread: found without ssd.endurance.rated_cycles, which it "
            "is about; allowed: with it",
        ),
        (
            {"stop": "read_only"},
            '--set stop: found "read_only" with flash whose blocks never become bad; allowed: with '
            "ssd.faults.endurance_spread, program_failures or erase_failures",
        ),
        (
            {"ssd.faults.factory_bad_blocks": 0.5},
            "ssd.faults.factory_bad_blocks: leaves a plane of drive 0 too few good blocks; "
            "allowed: less, more ssd.ftl.over_provisioning, or another seed",
        ),
        (
            {"ssd.faults.erase_failures": 1.0},
            "precondition: drive 0 becomes read-only while it is prepared, as too few of its "
            "blocks are good (ssd.faults); allowed: fewer overwrites, or flash that lasts longer",
        ),
    ],
)
def test_what_cannot_work_is_refused_in_a_line(
    tiny: dict[str, Any], settings: dict[str, Any], problem: str
) -> None:
    with pytest.raises(copyback.InputError) as refused:
        copyback.run(tiny, **settings)
    assert str(refused.value) == problem


def test_spare_blocks_need_over_provisioning(tiny: dict[str, Any]) -> None:
    few: dict[str, Any] = {"ssd.ftl.over_provisioning": 0.13}
    copyback.run(tiny, **few)
    with pytest.raises(copyback.InputError, match="must be free"):
        copyback.run(tiny, **few | {"ssd.faults.erase_failures": 0.001})
