"""Write amplification is bytes programmed over bytes written, wherever a number has that name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import copyback
from copyback.sweep.store import MARKER, RESULTS

if TYPE_CHECKING:
    from pathlib import Path

#: A drive that maps pages of 16 KiB.
WHOLE_PAGES = "tlc-unbuffered-64gb"

#: Random writes of one size on an empty drive, where nothing is collected.
SMALL_WRITES: dict[str, Any] = {
    "preset": WHOLE_PAGES,
    "precondition": {"fill": 0.0, "overwrites": 0.0},
    "workload": {
        "type": "synthetic",
        "requests": 20_000,
        "read_share": 0.0,
        "sequential_share": 0.0,
        "iodepth": 16,
    },
}


def small_writes(size: str) -> dict[str, Any]:
    """Return the configuration of writes of this size."""
    workload = SMALL_WRITES["workload"] | {"request_size": size, "alignment": size}
    return SMALL_WRITES | {"workload": workload}


@pytest.mark.parametrize(("size", "times"), [("512B", 32), ("4KiB", 4), ("16KiB", 1)])
def test_a_page_is_programmed_whole_for_a_part_of_it(size: str, times: int) -> None:
    summary = copyback.run(small_writes(size)).summary
    assert summary.schema == 2
    assert summary.media_bytes_written == 20_000 * 16_384
    assert summary.host_bytes_written == summary.requests.write_bytes
    assert summary.write_amplification == times
    assert summary.page_write_amplification == 1.0


def test_a_unit_of_mapping_costs_what_it_holds() -> None:
    unit = {"ftl": {"mapping_unit": "4KiB"}, "gc": {"copyback": False}}
    summary = copyback.run(small_writes("4KiB") | {"ssd": unit}).summary
    assert summary.write_amplification == summary.page_write_amplification == 1.0


def test_below_one_a_buffer_absorbed_writes_and_the_terminal_says_so(cli: Any) -> None:
    shown = cli(
        "run",
        *("--preset", WHOLE_PAGES, "--set", "ssd.buffer.capacity=64MiB"),
        *("--set", "workload.requests=4000", "--set", "workload.read_share=0"),
        *("--set", "workload.footprint=0.0001", "--set", "precondition.fill=0"),
        *("--set", "workload.request_size=16KiB", "--set", "workload.alignment=16KiB"),
    ).stdout
    assert "as a buffer holds or merged the rest" in " ".join(shown.split())


@pytest.mark.parametrize(("layout", "parity"), [("raid0", 1.0), ("raid5", 4 / 3)])
def test_an_array_divides_by_what_the_host_wrote(
    tiny: dict[str, Any], layout: str, parity: float
) -> None:
    stripe = 3 * 64 * 1024
    config = tiny | {
        "array": {"layout": layout, "devices": 4, "stripe": "64KiB"},
        "precondition": {"fill": 0.0, "overwrites": 0.0},
        "workload": {
            "type": "synthetic",
            "requests": 40,
            "read_share": 0.0,
            "sequential_share": 1.0,
            "request_size": f"{stripe}B",
            "alignment": f"{stripe}B",
            "iodepth": 1,
        },
    }
    summary = copyback.run(config).summary
    assert summary.gc.pages_moved == 0
    assert summary.write_amplification == pytest.approx(parity)
    # The page ratio hides parity: a drive does not know what it writes.
    assert summary.page_write_amplification == 1.0
    assert summary.devices is not None
    for drive in summary.devices:
        assert drive.write_amplification == 1.0
    media = sum(drive.media_bytes_written for drive in summary.devices)
    assert media == summary.media_bytes_written


def test_a_summary_page_is_programmed_with_each_block(tiny: dict[str, Any]) -> None:
    geometry = tiny["ssd"]["geometry"]
    pages = geometry["pages_per_block"]
    last_page = {"summary_page": {"type": "last_page", "transfer": "4KiB"}}
    ssd = tiny["ssd"] | {"ftl": {"over_provisioning": 0.35} | last_page}
    summary = copyback.run(tiny | {"ssd": ssd}).summary
    page = 4096
    programs = summary.flash.programs + summary.flash.copybacks
    summary_pages = summary.media_bytes_written // page - programs
    assert summary_pages == pytest.approx(programs / (pages - 1), rel=0.05)


def test_rows_over_time_add_up_to_the_bytes_of_the_run(tiny: dict[str, Any]) -> None:
    result = copyback.run(tiny)
    series = result.to_polars("series")
    assert series["media_bytes"].sum() == result.summary.media_bytes_written
    assert series["write_bytes"].sum() == result.summary.host_bytes_written


def test_a_result_of_schema_1_is_refused_with_what_to_do(
    tiny: dict[str, Any], tmp_path: Path
) -> None:
    home = copyback.run(tiny).save(tmp_path / "old")
    summary = json.loads((home / "summary.json").read_text())
    (home / "summary.json").write_text(json.dumps(summary | {"schema": 1}))
    with pytest.raises(copyback.InputError, match=r"schema 1.*run its config.toml again"):
        copyback.Result.load(home)


def test_a_comparison_of_schema_1_leaves_the_number_out_and_says_why(
    tiny: dict[str, Any], tmp_path: Path, cli: Any
) -> None:
    home = tmp_path / "sweep"
    over = {"ssd.gc.victim": ["greedy", "fifo"]}
    fresh = copyback.compare(tiny, over=over, out=home, jobs=1)
    assert "WA" in fresh.contests[0].schemes[0].values
    pages = fresh.frame["page_write_amplification"].to_list()
    table = pl.read_parquet(home / RESULTS)
    table.drop("write_amplification", "media_bytes_written", "host_bytes_written").rename(
        {"page_write_amplification": "write_amplification"}
    ).write_parquet(home / RESULTS)
    old = copyback.Comparison.load(home)
    assert "WA" not in old.contests[0].schemes[0].values
    assert old.frame["page_write_amplification"].to_list() == pages
    assert any("pages of the flash" in text for text in old.refused)
    cli("report", str(home))
    assert "Write amplification is left out" in (home / "report.html").read_text()
    assert json.loads((home / MARKER).read_text())["schema"] == 1


def test_runs_of_schema_1_are_done_again_where_a_sweep_goes_on(
    tiny: dict[str, Any], tmp_path: Path
) -> None:
    home = tmp_path / "sweep"
    over = {"ssd.gc.victim": ["greedy", "fifo"]}
    copyback.compare(tiny, over=over, out=home, jobs=1)
    one = next(iter((home / "runs").iterdir())) / "summary.json"
    one.write_text(json.dumps(json.loads(one.read_text()) | {"schema": 1}))
    assert copyback.compare(tiny, over=over, out=home, jobs=1).reused == 1
