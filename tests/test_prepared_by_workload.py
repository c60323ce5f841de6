"""Drives that are prepared with the pages that their workload writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import copyback

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

#: One plane, so that blocks that are never collected are as if they were not there.
GEOMETRY: dict[str, Any] = {
    "channels": 1,
    "chips_per_channel": 1,
    "dies_per_chip": 1,
    "planes_per_die": 1,
    "pages_per_block": 32,
    "page_size": "4KiB",
}
WRITES: dict[str, Any] = {
    "type": "synthetic",
    "requests": 60_000,
    "request_size": "4KiB",
    "read_share": 0.0,
    "sequential_share": 0.0,
    "iodepth": 4,
}


def drive(blocks: int, logical: int, **workload: Any) -> dict[str, Any]:
    """Return random writes to a drive of so many blocks, of which so many hold data."""
    return {
        "ssd": {
            "geometry": {**GEOMETRY, "blocks_per_plane": blocks},
            "ftl": {"over_provisioning": 1 - logical / blocks},
            "gc": {"soft_threshold": {"blocks": 4}, "hard_threshold": {"blocks": 2}},
        },
        "workload": WRITES | workload,
    }


def test_the_half_that_is_never_written_is_as_if_it_were_not_there() -> None:
    """A drive of which a half is written has the spare of a drive that has no other half."""
    prepared = {"fill": 1.0, "overwrites": 6.0, "addresses": "workload"}
    half = copyback.run(drive(600, 480, footprint=0.5), precondition=prepared)
    alone = copyback.run(drive(360, 240), precondition={"fill": 1.0, "overwrites": 6.0})
    assert half.write_amplification == pytest.approx(alone.write_amplification, rel=0.03)
    found = half.summary.verdict.write_amplification
    assert found is not None
    assert found.settled
    everywhere = copyback.run(
        drive(600, 480, footprint=0.5), precondition={"fill": 1.0, "overwrites": 6.0}
    )
    assert half.write_amplification is not None
    assert everywhere.write_amplification is not None
    assert everywhere.write_amplification > 1.1 * half.write_amplification


def test_a_skewed_load_is_settled_from_its_first_request() -> None:
    """Uniform preparation leaves a drive that a skewed load still changes."""
    skewed = drive(600, 480, address={"type": "hot_cold", "requests": 0.9, "pages": 0.1})
    skewed["ssd"]["ftl"]["placement"] = "one_class"
    first = {}
    for addresses in ("uniform", "workload"):
        prepared = {"fill": 1.0, "overwrites": 8.0, "addresses": addresses}
        run = copyback.run(skewed, precondition=prepared)
        found = run.summary.verdict.write_amplification
        assert found is not None
        assert found.by_part[0] is not None
        first[addresses] = found.by_part[0] / found.last_half
    assert first["workload"] == pytest.approx(1, abs=0.05)
    assert abs(first["uniform"] - 1) > 0.1


def test_only_what_a_trace_writes_is_overwritten(tmp_path: Path) -> None:
    """Blocks without a page that the trace writes are never erased."""
    trace = tmp_path / "few.load"
    trace.write_text(
        "".join(
            f"{at / 100} ; {8 * (at * 7 % 64)} ; 8 ; W\n{at / 100} ; 6400 ; 8 ; R\n"
            for at in range(64)
        )
    )
    config = drive(64, 48)
    config["workload"] = {"type": "trace", "path": str(trace), "format": "blkreplay"}
    prepared = {"fill": 1.0, "overwrites": 3.0, "addresses": "workload"}
    run = copyback.run(config, precondition=prepared, audit=True)
    # 64 pages are two blocks of 48 that hold data: the spare blocks go round.
    assert run.summary.wear.erase_count.min == 0
    assert run.summary.wear.erase_count.max > 5


def test_seeds_prepare_different_drives_with_one_trace(tmp_path: Path) -> None:
    """Else several seeds would be one, and an interval over them nothing."""
    trace = tmp_path / "few.load"
    trace.write_text("".join(f"{at / 100} ; {8 * (at * at % 977)} ; 8 ; W\n" for at in range(900)))
    config = drive(64, 48)
    config["workload"] = {"type": "trace", "path": str(trace), "format": "blkreplay"}
    prepared = {"fill": 1.0, "overwrites": 3.0, "addresses": "workload"}
    runs = [copyback.run(config, precondition=prepared, seed=seed) for seed in (1, 2, 3)]
    assert len({run.summary.gc.pages_moved for run in runs}) > 1


@pytest.mark.parametrize("share", ["read_share", "trim_share"])
def test_a_map_whose_every_pass_writes_nothing_is_refused(share: str) -> None:
    """One page, and the same draws in each pass: what is not written once never is."""
    address = {"type": "random_map", "repeats": True}
    config = drive(64, 48, address=address, footprint=1 / (48 * 32), **{share: 0.999})
    prepared = {"fill": 1.0, "overwrites": 1.0, "addresses": "workload"}
    with pytest.raises(copyback.InputError, match="a workload that writes nothing"):
        copyback.run(config, precondition=prepared)


@pytest.mark.parametrize("layout", ["raid0", "raid5", "raid6", "jbod"])
def test_the_drives_of_an_array_are_written_as_their_layout_says(layout: str) -> None:
    """Audited; drives with parity are written for their data and for that of others."""
    config = drive(64, 48, requests=2_000)
    array = {"layout": layout, "devices": 4, "stripe": "16KiB"}
    prepared = {"fill": 1.0, "overwrites": 2.0, "addresses": "workload"}
    run = copyback.run(config, array=array, precondition=prepared, audit=True)
    assert run.summary.requests.count == 2_000
    assert run.summary.wear.erase_count.min > 0


def test_what_a_state_is_prepared_with_is_part_of_it(cli: RunCli, tmp_path: Path) -> None:
    """The same draws of another workload make another drive; its rate and its length do not."""
    toml = tmp_path / "drive.toml"
    toml.write_text(
        """
precondition = { fill = 1.0, overwrites = 1.0, addresses = "workload" }
[ssd.geometry]
blocks_per_plane = 32
[workload]
requests = 2000
request_size = "4KiB"
iodepth = 4
footprint = 0.5
"""
    )
    cli("precondition", toml, "--save", tmp_path / "drive.state")
    state = ("--state", tmp_path / "drive.state", "--json")
    saved = cli("run", toml, *state).stdout
    assert strip(saved) == strip(cli("run", toml, "--json").stdout)
    cli("run", toml, *state, "--set", "workload.requests=3000")
    refused = cli("run", toml, *state, "--set", "workload.footprint=0.6", status=2)
    assert "another" in refused.stderr


def test_a_state_is_of_the_layout_that_sent_its_writes(cli: RunCli, tmp_path: Path) -> None:
    """Parity is written, too: the drives of a RAID-5 are others than those of a RAID-0."""
    toml = tmp_path / "array.toml"
    toml.write_text(
        """
precondition = { fill = 1.0, overwrites = 1.0, addresses = "workload" }
array = { layout = "raid0", devices = 4, stripe = "16KiB" }
ssd.geometry.blocks_per_plane = 32
workload = { requests = 500, request_size = "16KiB", iodepth = 4 }
"""
    )
    cli("precondition", toml, "--save", tmp_path / "array.state")
    state = ("--state", tmp_path / "array.state", "--json")
    cli("run", toml, *state)
    for other in ("array.layout=raid5", "array.stripe=32KiB"):
        refused = cli("run", toml, *state, "--set", other, status=2)
        assert "another" in refused.stderr


def strip(printed: str) -> str:
    """Return a summary without the numbers about the machine."""
    return printed[: printed.index('"simulator"')]


def test_a_workload_that_writes_nothing_is_refused() -> None:
    """It would never end."""
    reads = drive(64, 48, read_share=1.0, requests=100)
    prepared = {"fill": 1.0, "overwrites": 1.0, "addresses": "workload"}
    with pytest.raises(copyback.InputError, match=r"precondition\.addresses: found"):
        copyback.run(reads, precondition=prepared)


def test_a_drive_that_nothing_writes_to_is_told(tmp_path: Path) -> None:
    """Drives that lie one after the other, and a trace that writes to the first alone."""
    trace = tmp_path / "first.load"
    trace.write_text("0.0 ; 0 ; 8 ; W\n0.1 ; 64 ; 8 ; W\n")
    config = drive(64, 48)
    config["workload"] = {"type": "trace", "path": str(trace), "format": "blkreplay"}
    prepared = {"fill": 1.0, "overwrites": 1.0, "addresses": "workload"}
    with pytest.raises(copyback.InputError, match="writes nothing to drive 1"):
        copyback.run(config, array={"layout": "jbod", "devices": 2}, precondition=prepared)
