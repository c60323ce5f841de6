"""Parameters that were hidden, and what calibrate --load found of them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import found_served  # noqa: E402
from drive_found import (  # noqa: E402
    DRIVES,
    FIT,
    HIDDEN,
    JOB,
    NAME,
    PRESET,
    RESULT,
    SERVED,
    START,
    calibrated,
    hidden,
    is_right,
    judged,
    simulate,
    written,
)
from drive_pages import filled  # noqa: E402
from found_page import counts, page, right  # noqa: E402

from copyback.calibration.load import sources  # noqa: E402
from copyback.calibration.search.known import Fitted, Verdict  # noqa: E402
from copyback.calibration.search.span import Span, spans  # noqa: E402
from copyback.inputs import configuration  # noqa: E402

#: Two short steps of the shipped job, as rates and seconds.
SHORT = """
[global]
filename=/dev/hidden
ioengine=libaio
direct=1
norandommap
rw=randrw
rwmixread=20
bs=4k
iodepth=256
rate_process=poisson
time_based
ramp_time=100ms
runtime=200ms

[step1]
rate_iops=2000,8000

[step3]
stonewall
rate_iops=8000,32000
"""


def stored() -> dict[str, Any]:
    """Return what is stored of the study."""
    found: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return found


def ranges() -> dict[str, Span]:
    """Return the ranges of the fit by key."""
    asked = [f"{key}={ends}" for key, ends in FIT.items()]
    return {one.key: one for one in spans(configuration.load(preset=PRESET), asked)}


def test_the_page_is_that_of_the_stored_result() -> None:
    text = (ROOT / f"docs/drives/{NAME}.md").read_text(encoding="utf-8")
    assert text == filled(text, page(stored()))


def test_the_result_is_of_one_commit_and_of_every_drive() -> None:
    drives = stored()["drives"]
    assert [drive["number"] for drive in drives] == list(DRIVES)
    assert [drive["number"] for drive in drives if drive["served"]] == list(SERVED)
    (commit,) = {drive["commit"] for drive in drives}
    assert re.fullmatch("[0-9a-f]{40}", commit)


def test_what_was_hidden_is_drawn_by_the_number_and_unlike_the_start() -> None:
    for drive in stored()["drives"] + stored()["before"]:
        assert drive["hidden"] == hidden(drive["number"])
        assert all(START[key] != value for key, value in drive["hidden"].items())


def test_ranges_of_the_fit_are_wider_than_what_is_drawn_from() -> None:
    assert list(ranges()) == list(HIDDEN) == list(START)
    for key, (low, high) in HIDDEN.items():
        span = ranges()[key]
        assert span.least < 0.8 * low
        assert span.most > 1.2 * high


def test_stored_parameters_are_judged_again() -> None:
    for drive in stored()["drives"] + stored()["before"]:
        for one in drive["parameters"]:
            span = ranges()[one["key"]]
            again = Fitted(span, one["start"], one["value"], tuple(one["interval"]))
            assert again.to_dict() == one
            assert one["start"] == START[one["key"]]
        inside = [
            low <= drive["hidden"][one["key"]] <= high
            for one in drive["parameters"]
            for low, high in [one["interval"]]
            if one["verdict"] == "determined"
        ]
        assert is_right(drive) == (all(inside) and bool(inside))


def test_the_page_says_what_is_found_and_what_is_not() -> None:
    """Its paragraph in bold stands as long as this does."""
    drives = stored()["drives"]
    for key in HIDDEN:
        of = counts(drives, key)
        if key in ("ssd.timing.read", "host.command_overhead"):
            assert of["inside"] >= len(drives) - 1
        else:
            assert of["inside"] + of["outside"] < len(drives) / 2


def test_only_what_is_determined_counts() -> None:
    one = {"key": "ssd.timing.read", "interval": [40e3, 60e3], "value": 50e3}
    known = {"hidden": {"ssd.timing.read": 70e3}}
    far = known | {"parameters": [one | {"verdict": Verdict.FOUND.value}]}
    assert [inside for _, _, inside in judged(far)] == [False]
    unknown = known | {"parameters": [one | {"verdict": Verdict.UNKNOWN.value}]}
    assert [inside for _, _, inside in judged(unknown)] == [None]
    # A drive of which nothing is known is not right.
    assert not is_right(far)
    assert not is_right(unknown)
    assert right([far, unknown]) == 0
    assert counts([far, unknown]) == {
        "inside": 0,
        "outside": 1,
        "not identifiable": 1,
        "at the end of its range": 0,
    }


def test_a_short_loop_finds_what_a_command_takes(tmp_path: Path) -> None:
    """The whole loop: hide, simulate the job, calibrate, judge."""
    job, curve = tmp_path / "short.fio", tmp_path / "curve.json"
    job.write_text(SHORT, encoding="utf-8")
    true = hidden(103)
    simulate(job, written(tmp_path / "hidden.toml", true, 103), curve, scale=1)
    found = calibrated(curve, budget=12, seconds=0.2, ramp=0.1)
    assert found["used_rates"] == [10_000.0, 40_000.0]
    drive = {"hidden": true, "parameters": found["parameters"]}
    verdicts = {one["key"]: inside for one, _, inside in judged(drive)}
    assert verdicts["host.command_overhead"]
    assert False not in verdicts.values()


def test_the_job_of_a_served_drive_takes_five_minutes_and_has_the_same_steps() -> None:
    text = found_served.cut(JOB, Path("drive.sock"))
    times = [float(one) / 1e6 for one in re.findall(r"(?:runtime|ramp_time)=(\d+)us", text)]
    assert sum(times) == 300.0
    whole = re.findall(r"rate_iops=(\d+),(\d+)", JOB.read_text(encoding="utf-8"))
    slow = re.findall(r"rate_iops=(\d+),(\d+)", text)
    factor = found_served.CLONES * found_served.SLOWER
    assert [tuple(int(rate) * factor for rate in rates) for rates in slow] == [
        tuple(map(int, rates)) for rates in whole
    ]
    assert "[fill]" not in text
    assert "uri=nbd+unix:///?socket=drive.sock" in text


def test_measured_times_are_the_drive_s_own(tmp_path: Path) -> None:
    percentiles = {"10.000000": 1e6, "25.000000": 1.2e6, "50.000000": 1.5e6, "99.000000": 9e9}
    done = {"iops": 20.0, "clat_ns": {"percentile": percentiles}}
    job = {"job options": {"rate_iops": "1,4"}, "read": done, "write": done}
    curve = tmp_path / "curve.csv"
    found_served.write_table({"jobs": [{"job options": {}}, job]}, 500.0, curve)
    (rate,) = sources.read(curve).rates
    assert rate.offered == 5 * found_served.CLONES * found_served.SLOWER
    assert rate.served == [2 * 20.0 * found_served.SLOWER]
    assert rate.metrics == [
        "read_p50",
        "read_p10",
        "read_p25",
        "write_p50",
        "write_p10",
        "write_p25",
    ]
    assert rate.latencies("write_p10") == [1e3 / found_served.SLOWER - 0.5]
    assert rate.latencies("read_p50") == [1.5e3 / found_served.SLOWER - 0.5]


def test_without_fio_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="found no fio with its engine nbd"):
        found_served.program()


@pytest.mark.skipif(sys.platform != "linux", reason="works on Linux only")
def test_fio_s_way_to_a_served_drive_is_short(tmp_path: Path) -> None:
    try:
        fio = found_served.program()
    except SystemExit as missing:
        pytest.skip(str(missing))
    start = written(tmp_path / "start.toml", START, 0)
    offset, own = found_served.apart(fio, JOB, start, tmp_path, seconds=8.0)
    assert own == pytest.approx(START["host.command_overhead"] + 1e3, rel=0.02)
    assert 0 < offset < own
