"""Measured drives under load beside what is simulated of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import copyback
from copyback.calibration.load.judge import Cell, Region
from copyback.calibration.load.result import Group

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from drive_loads import DRIVES, NAME, PROBE, RESULT, WRITERS  # noqa: E402
from drive_pages import filled  # noqa: E402
from load_pages import count, page, predicted  # noqa: E402


def stored() -> dict[str, Any]:
    """Return what is stored of the study."""
    found: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return found


def test_the_page_is_that_of_the_stored_result() -> None:
    text = (ROOT / f"docs/drives/{NAME}.md").read_text(encoding="utf-8")
    assert text == filled(text, page(stored()))


def test_the_result_is_of_committed_programs_and_of_every_drive() -> None:
    drives = stored()["drives"]
    assert [drive["name"] for drive in drives] == [drive.name for drive in DRIVES]
    assert not any(drive["commit"].endswith("-dirty") for drive in drives)


def judged(cell: dict[str, Any]) -> Cell:
    """Return a stored cell as the program judges it."""
    return Cell(
        metric=cell["metric"],
        rates=tuple(cell["rates"]),
        region=Region(cell["region"]),
        band=tuple(cell["band"]),
        measured=cell["measured"],
        simulated=cell["simulated"],
        is_fitted=cell["fitted"],
    )


def test_stored_cells_are_judged_as_the_program_judges() -> None:
    for drive in stored()["drives"]:
        cells = [judged(cell) for cell in drive["cells"]]
        assert [cell.to_dict() for cell in cells] == drive["cells"]
        for group in drive.get("groups", []):
            own = [cell for cell in cells if cell.is_fitted == (group["cells"] == "fitted")]
            part = group["cells"].removeprefix("predicted, ")
            own = own if part in ("fitted", "predicted") else [c for c in own if c.region == part]
            assert Group(group["cells"], own).to_dict() == group


def near(name: str) -> float:
    """Return the share of what was predicted of a drive that is within 30%."""
    (drive,) = [one for one in stored()["drives"] if one["name"] == name]
    return count([drive], "near") / len(predicted(drive))


def test_the_page_says_which_drive_is_predicted() -> None:
    """Its second paragraph stands as long as this does."""
    assert near("samsung-pm9a3") > 0.8
    assert 0.6 < near("solidigm-p5520") < 0.8
    assert 0.4 < near("kioxia-cm7-r") < 0.6
    assert 0.6 < near("micron-7450-max") < 0.8
    assert 0.4 < near("micron-7450-pro") < 0.6


@pytest.mark.parametrize("metric", ["read_p99", "write_p99"])
def test_tails_of_a_micron_are_worst_in_the_middle_and_so_are_those_of_the_model(
    metric: str,
) -> None:
    for what in ("measured", "simulated"):
        values = list(by_rate("micron-7450-max", metric, what).values())
        worst = values.index(max(values))
        assert 0 < worst < len(values) - 1
        assert max(values) > 2 * values[-1]
    (drive,) = [one for one in stored()["drives"] if one["name"] == "micron-7450-max"]
    measured = [cell["measured"] for cell in drive["cells"] if cell["metric"] == metric]
    # Beyond saturation, too, which is the last.
    assert max(measured) > 2 * measured[-1]


@pytest.mark.parametrize("name", ["micron-7450-max", "micron-7450-pro"])
def test_writes_of_the_microns_wait_too_long_at_low_rates_and_beyond_saturation(name: str) -> None:
    measured, simulated = (by_rate(name, "write_p99", what) for what in ("measured", "simulated"))
    for rate in (25_000, 35_000, 45_000):
        assert simulated[rate] > 1.3 * measured[rate]
    (drive,) = [one for one in stored()["drives"] if one["name"] == name]
    (beyond,) = [
        one for one in drive["cells"] if one["metric"] == "write_p99" and len(one["rates"]) > 1
    ]
    assert beyond["simulated"] > 2 * beyond["measured"]


@pytest.mark.parametrize("what", ["measured", "simulated"])
def test_reads_of_the_max_wait_where_its_probe_asks_more_than_its_share(what: str) -> None:
    reads = by_rate("micron-7450-max", "read_p99", what)
    assert reads[55_000] > 1000
    assert reads[65_000] > 1000
    assert reads[85_000] < 600


def test_reads_of_the_p5520_wait_longer_beyond_saturation() -> None:
    (drive,) = [one for one in stored()["drives"] if one["name"] == "solidigm-p5520"]
    (cell,) = [
        one for one in drive["cells"] if one["metric"] == "read_p50" and len(one["rates"]) > 1
    ]
    assert cell["measured"] > 2 * cell["simulated"]


def test_reads_of_the_p5520_are_faster_at_the_lowest_load_than_in_the_model() -> None:
    measured = measured_by_rate("solidigm-p5520", "read_p50")
    assert round(measured[15_000]) == 70
    assert round(measured[25_000]) == 116


def measured_by_rate(name: str, metric: str) -> dict[float, float]:
    """Return what was measured of a drive at each rate below saturation, in microseconds."""
    return by_rate(name, metric, "measured")


def by_rate(name: str, metric: str, what: str) -> dict[float, float]:
    """Return the numbers of a drive at each rate below saturation, in microseconds."""
    (drive,) = [one for one in stored()["drives"] if one["name"] == name]
    cells = [cell for cell in drive["cells"] if cell["metric"] == metric]
    return {cell["rates"][0]: cell[what] for cell in cells if len(cell["rates"]) == 1}


def test_a_queue_of_a_micron_stays_as_long_as_all_that_may_be_under_way() -> None:
    """Six threads of 64 offer the rate less what the probe offers, which is twice `PROBE`."""
    waits = measured_by_rate("micron-7450-max", "write_p99")
    for rate in range(75_000, 125_000, 10_000):
        assert waits[rate] * (rate - 2 * PROBE) / 1e6 == pytest.approx(WRITERS * 64, rel=0.04)


def test_writes_of_the_kioxia_wait_as_behind_a_slow_phase_of_one_length() -> None:
    """Rates of the table are those of all threads but `PROBE` of the probe."""
    waits = measured_by_rate("kioxia-cm7-r", "write_p99")
    for rate in (95_000, 105_000, 115_000, 125_000, 135_000, 155_000):
        own = 10_200 * (1 - 80_000 / (rate - PROBE))
        assert waits[rate] == pytest.approx(own, rel=0.08)


def test_writes_of_the_kioxia_wait_longer_and_longer_and_begin_too_early() -> None:
    measured, simulated = (
        by_rate("kioxia-cm7-r", "write_p99", what) for what in ("measured", "simulated")
    )
    for waits, first in ((measured, 95_000), (simulated, 65_000)):
        rising = [wait for rate, wait in waits.items() if first <= rate < 205_000]
        assert rising == sorted(rising)
        assert rising[0] > 500
        assert all(wait < 150 for rate, wait in waits.items() if rate < first)


def test_reads_of_the_kioxia_wait_too_little_below_its_knee() -> None:
    (drive,) = [one for one in stored()["drives"] if one["name"] == "kioxia-cm7-r"]
    assert (count([drive], "near"), count([drive], "right")) == (46, 42)
    assert len(predicted(drive)) == 101
    measured, simulated = (
        by_rate("kioxia-cm7-r", "read_p99", what) for what in ("measured", "simulated")
    )
    assert [round(simulated[rate]) for rate in (15_000, 125_000)] == [98, 441]
    assert [round(measured[rate]) for rate in (15_000, 125_000)] == [222, 569]
    assert all(simulated[rate] < 0.8 * measured[rate] for rate in range(15_000, 130_000, 10_000))


def test_the_keys_of_its_rule_are_fitted_of_each_drive() -> None:
    for drive, found in zip(DRIVES, stored()["drives"], strict=True):
        keys = [one["key"] for one in found["parameters"]]
        extra = ["ssd.ftl.over_provisioning"] if drive.spare else []
        assert keys == ([] if drive.as_drive else [*drive.fit, *extra])


#: Writes a second without pause that were measured: of the PM9A3 the end of its load curve, of
#: the others uniform writes (SSD-iq's `finalwa14`). That of the PRO was fitted to nothing.
WITHOUT_PAUSE = {
    "samsung-pm9a3": 76_500,
    "micron-7450-max": 159_283,
    "micron-7450-pro": 94_183,
    "solidigm-p5520": 120_500,
    "kioxia-cm7-r": 327_500,
}


#: Requests by which that is known. The Kioxia's rate swings by a third from second to second.
REQUESTS = dict.fromkeys(WITHOUT_PAUSE, 900_000) | {"kioxia-cm7-r": 3_200_000}


@pytest.mark.parametrize(
    "preset",
    [
        pytest.param(name, marks=pytest.mark.thorough) if requests > 1_000_000 else name
        for name, requests in REQUESTS.items()
    ],
)
def test_a_preset_writes_as_fast_as_the_drive_without_a_pause(preset: str) -> None:
    writes = {"read_share": 0.0, "iodepth": 512, "requests": REQUESTS[preset], "ramp": "2s"}
    load = {"type": "synthetic", "request_size": "4KiB", "sequential_share": 0.0, **writes}
    found = copyback.run({"preset": preset, "workload": load}).summary
    assert found.throughput.iops == pytest.approx(WITHOUT_PAUSE[preset], rel=0.05)


@pytest.mark.parametrize("metric", ["read_p50", "write_p99"])
def test_what_is_stored_is_what_the_program_says(metric: str, tmp_path: Path) -> None:
    """The first drive at its lowest rate, as its fitted configuration has it."""
    drive = stored()["drives"][0]
    config = tmp_path / "drive.toml"
    config.write_text(drive["fitted"], encoding="utf-8")
    probe = copyback.run(config).summary.to_dict()["flows"][0]["response_us"]
    operation, statistic = metric.split("_")
    assert probe[operation][statistic] == pytest.approx(drive["simulated"][0][metric], rel=0.001)


def test_tokens_come_at_an_even_pace() -> None:
    """They depend on what victims cost, and not on how fast these were collected."""
    load = {
        "type": "synthetic",
        "request_size": "4KiB",
        "sequential_share": 0.0,
        "read_share": 0.0,
        "iodepth": 512,
        "requests": 500_000,
        "ramp": "1s",
    }
    config = {"preset": DRIVES[0].name, "workload": load, "metrics": {"interval": "100ms"}}
    rows = copyback.run(config).series
    writes = rows["writes"].to_numpy()[10:-4]
    assert writes.max() / writes.min() < 1.05


def test_the_measuring_sequence_hardly_matters() -> None:
    """The page says by how much; the simulated drive is of the program that fitted it."""
    sequence = stored()["drives"][0]["sequence"]
    assert not sequence["commit"].endswith("-dirty")
    alone = {one["rate"]: one for one in stored()["drives"][0]["simulated"]}
    medians = [
        one[metric] / alone[one["rate"]][metric]
        for one in sequence["rates"]
        for metric in ("read_p50", "write_p50")
    ]
    assert all(0.85 < ratio < 1.15 for ratio in medians)
