"""TBW, DWPD and years: from what a run wrote and erased, in every place that shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import copyback

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

CYCLES = 3000
RATED: dict[str, Any] = {"ssd.endurance.rated_cycles": CYCLES, "ssd.endurance.warranty_years": 3}

#: Of the drive in conftest: 128 blocks of 16 pages of 4 KiB, 25 % of them over-provisioned.
BLOCKS, BLOCK_BYTES = 128, 16 * 4096


@pytest.fixture
def busy(tiny: dict[str, Any]) -> dict[str, Any]:
    """Write the capacity several times, so that programs and erases agree."""
    return tiny | {
        "workload": tiny["workload"] | {"requests": 20_000, "read_share": 0.1},
    }


def test_a_run_tells_how_long_the_drive_lasts(busy: dict[str, Any]) -> None:
    summary = copyback.run(busy, audit=True, **RATED).summary
    found, flash = summary["endurance"], summary.flash
    written = summary.requests.write_bytes
    programs = flash.programs + flash.copybacks
    assert summary.host_bytes_written == written
    assert summary.media_bytes_written == programs * 4096
    assert found.tbw == pytest.approx(
        BLOCKS * BLOCK_BYTES * CYCLES * written / (programs * 4096) / 1e12
    )
    assert found.tbw_by_erases == pytest.approx(BLOCKS * CYCLES / flash.erases * written / 1e12)
    # What is programmed is erased in the end; a run ends with some blocks in between.
    assert found.tbw_by_erases == pytest.approx(found.tbw, rel=0.02)
    capacity = found.capacity_bytes / 1e12
    assert found.dwpd == pytest.approx(found.tbw / (365 * 3 * capacity))
    seconds = summary.throughput.simulated_s
    assert found.years_at_this_load == pytest.approx(
        found.tbw * 1e12 / written * seconds / (365 * 86_400)
    )
    wear = summary.wear.erase_count
    assert found.most_worn_to_mean == pytest.approx(wear.max / wear.mean)
    assert found.percentage_used == pytest.approx(100 * wear.mean / CYCLES)


def test_without_rated_cycles_nothing_is_told(tiny: dict[str, Any]) -> None:
    result = copyback.run(tiny)
    assert "endurance" not in result.summary
    assert "Endurance" not in result._repr_html_()


def test_ratings_that_make_no_sense_are_refused(tiny: dict[str, Any]) -> None:
    wrong: dict[str, Any] = {"ssd.endurance.rated_cycles": 0, "ssd.endurance.warranty_years": -1}
    with pytest.raises(copyback.InputError) as refused:
        copyback.run(tiny, **wrong)
    lines = str(refused.value).splitlines()
    assert lines == [
        "--set ssd.endurance.rated_cycles: found 0; allowed: 1 to 10000000",
        "--set ssd.endurance.warranty_years: found -1; allowed: above 0, at most 1000",
    ]


def test_an_array_lasts_as_its_drives_do(busy: dict[str, Any]) -> None:
    array: dict[str, Any] = {"array.layout": "raid5", "array.devices": 3, "array.stripe": "16KiB"}
    summary = copyback.run(busy, **RATED, **array).summary
    whole, drives = summary["endurance"], [drive["endurance"] for drive in summary["devices"]]
    host, media = summary.host_bytes_written, summary.media_bytes_written
    # Parity makes the drives write more than the host does.
    assert sum(drive["host_bytes_written"] for drive in summary["devices"]) > host
    assert whole.capacity_bytes == pytest.approx(2 * drives[0]["capacity_bytes"], rel=0.01)
    assert media == sum(drive["media_bytes_written"] for drive in summary["devices"])
    assert whole.tbw == pytest.approx(3 * BLOCKS * BLOCK_BYTES * CYCLES * host / media / 1e12)
    mean_years = 3 / sum(1 / drive["years_at_this_load"] for drive in drives)
    assert whole.years_at_this_load == pytest.approx(mean_years)


def test_terminal_and_report_show_it(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shown = cli(
        "run", tiny_toml, "--set", f"ssd.endurance.rated_cycles={CYCLES}", "--out", out
    ).stdout
    assert "TBW" in shown
    assert "over 5 years (DWPD)" in shown
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<h3>Endurance</h3>" in page
    assert "Most worn block" in page


def test_pages_of_the_slc_cache_cost_as_much_of_a_block_as_they_fill(tiny: dict[str, Any]) -> None:
    """With many erases of each block, both ways to count come to the same."""
    cache = {"static": {"blocks": 6}, "fold_below": 2}
    result = copyback.run(
        tiny,
        ssd__slc_cache=cache,
        ssd__ftl__over_provisioning=0.4,
        ssd__endurance__rated_cycles=1000,
        workload__requests=40_000,
        workload__read_share=0.0,
        workload__iodepth=1,
    )
    found, cache_use = result.summary.endurance, result.summary.slc_cache
    assert found is not None
    assert cache_use is not None
    assert found.erases_per_block > 10
    assert found.tbw == pytest.approx(found.tbw_by_erases, rel=0.02)
    assert cache_use.written_bytes > 0.5 * result.summary.host_bytes_written
