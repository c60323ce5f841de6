"""Drives of an array that fail in the run, as a user sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import copyback
from copyback.words import describe, failures

if TYPE_CHECKING:
    from conftest import RunCli

ARRAY: dict[str, Any] = {
    "ssd": {
        "geometry": {
            "channels": 2,
            "chips_per_channel": 1,
            "dies_per_chip": 1,
            "planes_per_die": 1,
            "blocks_per_plane": 64,
        },
        "ftl": {"over_provisioning": 0.3},
    },
    "array": {"layout": "raid1", "devices": 2},
    "precondition": {"fill": 1.0},
    "workload": {
        "type": "synthetic",
        "requests": 3_000,
        "read_share": 0.5,
        "inter_arrival": {"type": "exponential", "mean": "4ms"},
    },
}


def run(failing: list[dict[str, Any]], **array: Any) -> copyback.Result:
    own = {**ARRAY["array"], "failures": {"type": "at", "drives": failing}, **array}
    return copyback.run({**ARRAY, "array": own})


def test_a_spare_that_holds_all_is_told_with_its_time() -> None:
    rebuild = {"type": "rate", "rate": "20MB/s"}
    found = run([{"drive": 1, "at": "100ms"}], spares=1, rebuild=rebuild)
    assert found.summary.array is not None
    assert found.summary.array.failures is not None
    (failure,) = found.summary.array.failures
    assert failure.rebuilt_us is not None
    ((label, text),) = failures.facts(found.summary)
    assert label == "Failed drives"
    assert text.startswith("drive 1 at 100 ms, drive 2 in its place, rebuilt after ")
    rebuilt = found.summary.array.rebuilt_bytes
    assert text.endswith(f" · {rebuilt / 2**20:.1f} MiB rebuilt, which are in the bytes to flash")
    labels = [drive.label for drive in describe.drives(found)]
    assert labels == ["0", "1 (failed)", "2 (spare)"]
    line = describe.array(found.config)
    assert line is not None
    assert "failures at set times · 1 spare · rebuild rate" in line


def test_a_journal_is_a_drive_behind_the_spares() -> None:
    found = run(
        [{"drive": 1, "at": "100ms"}],
        layout="raid5",
        devices=3,
        spares=1,
        rebuild={"type": "rate", "rate": "20MB/s"},
        consistency_policy="journal",
    )
    labels = [drive.label for drive in describe.drives(found)]
    assert labels == ["0", "1 (failed)", "2", "3 (spare)", "4 (journal)"]
    assert found.summary.array is not None
    assert found.summary.array.consistency is not None
    assert found.summary.devices is not None
    # Nothing but its log goes to the journal, and nothing of it is moved.
    logged = found.summary.array.consistency.log_bytes
    journal = found.summary.devices[4]
    assert journal.flash.programs * 4096 == logged > 0
    line = describe.array(found.config)
    assert line is not None
    assert "consistency policy journal" in line


def test_data_that_are_lost_are_told_and_end_the_run() -> None:
    found = run([{"drive": 1, "at": "1s"}, {"drive": 0, "at": "2s"}])
    assert found.summary.array is not None
    lost = found.summary.array.lost
    assert lost is not None
    assert found.summary.requests.count < 3_000
    assert dict(failures.facts(found.summary)) == {
        "Failed drives": "drive 1 at 1.00 s, not replaced · drive 0 at 2.00 s, not replaced",
        "Data lost": f"{lost.bytes / 2**20:.1f} MiB at 2.00 s; no request entered after that",
    }
    assert any("the failure of drive 0 at 2.000000 s lost" in note for note in found.summary.notes)


def test_a_failure_of_a_drive_that_is_not_there_is_refused_in_a_line(cli: RunCli) -> None:
    told = cli(
        "run",
        "--preset",
        "tlc-nvme-64gb",
        "--set",
        "array.layout=raid1",
        "--set",
        "array.devices=2",
        "--set",
        "array.failures={type='at',drives=[{drive=2,at='1s'}]}",
        status=2,
    )
    assert "array.failures.drives[0].drive: found drive 2; allowed: 0 to 1" in told.stderr
    assert len(told.stderr.splitlines()) == 1


def test_a_worn_out_drive_is_told_as_such() -> None:
    config: dict[str, Any] = {
        **ARRAY,
        "ssd": {**ARRAY["ssd"], "faults": {"program_failures": 0.01}},
        "array": {**ARRAY["array"], "failures": "end_of_life"},
    }
    config["precondition"] = {"fill": 0.0}
    config["workload"] = {**ARRAY["workload"], "read_share": 0.0, "requests": 12_000}
    found = copyback.run(config)
    ((label, text),) = failures.facts(found.summary)
    assert label == "Failed drives"
    assert " (worn out) at " in text
    line = describe.array(found.config)
    assert line is not None
    assert "failures by wear" in line


def test_scrubs_and_slow_drives_are_told() -> None:
    scrub = {"type": "throttled", "every": "2s", "least": "40MB/s", "most": "200MB/s"}
    slow = [{"drive": 0, "at": "1s", "for": "2s"}]
    found = copyback.run({**ARRAY, "array": {**ARRAY["array"], "scrub": scrub, "slow": slow}})
    array = found.summary.array
    assert array is not None
    assert array.scrubs is not None
    assert array.scrubs.completed >= 1
    ((label, text),) = failures.facts(found.summary)
    assert label == "Scrubs"
    assert text.startswith(f"{array.scrubs.completed} passes · ")
    line = describe.array(found.config)
    assert line is not None
    assert "1 slow for a while" in line
    assert "scrub throttled" in line
