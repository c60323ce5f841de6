"""What a device does beyond its timing: delays by size, sleep, and which of them a trace shows."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import copyback
from copyback._core import Config
from copyback.calibration.delays import Delays
from copyback.calibration.loss import FAST, USUAL, fast_way
from copyback.calibration.models import best
from copyback.calibration.sleep import found, idle_before
from test_calibrate import device as phone

if TYPE_CHECKING:
    from pathlib import Path

#: Of a write of 4 KiB: half of them take up to 50 us beyond, a tenth 2 ms to 3 ms.
DELAY = {
    "type": "by_size",
    "probabilities": [0, 0.5, 0.9, 0.901, 1],
    "rows": [{"size": "4KiB", "times": ["0us", "50us", "60us", "2ms", "3ms"]}],
}
SLEEPS = {"type": "sleeps", "after": "10ms", "time": "400us"}


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_delays_have_the_quantiles_of_what_they_are_fitted_to() -> None:
    beyond = np.concatenate([rng().uniform(0, 100, 1000), rng().uniform(900, 1000, 1000)])
    sizes = np.repeat([4096.0, 65536.0], 1000)
    fitted = Delays.fitted(sizes, beyond, 60)
    assert fitted.sizes.tolist() == [4096.0, 65536.0]
    told = fitted.forecast(np.array([4096.0, 65536.0]), np.array([0.0, 5000.0])).all_times()
    assert np.quantile(told[0], 0.9) == pytest.approx(np.quantile(beyond[:1000], 0.9), rel=0.02)
    assert np.median(told[1]) == pytest.approx(5000.0 + np.median(beyond[1000:]), rel=0.01)


def test_rare_sizes_are_fitted_together_with_their_neighbours() -> None:
    sizes = np.concatenate([np.full(100, 4096.0), np.full(5, 8192.0), np.full(7, 1048576.0)])
    fitted = Delays.fitted(sizes, np.ones(112), 60)
    assert len(fitted.sizes) == 1
    assert 4096.0 < fitted.sizes[0] < 8192.0


def test_delays_below_none_are_none() -> None:
    fitted = Delays.fitted(np.full(100, 4096.0), np.full(100, -3.0), 60)
    assert not fitted.times.any()


def test_the_setting_of_delays_is_one_that_a_configuration_takes() -> None:
    fitted = Delays.fitted(np.repeat([4096.0, 8192.0], 200), np.arange(400.0), 60)
    setting = fitted.setting("write")
    laid = tomllib.loads(Config.load(json=json.dumps(device()), settings=[setting]).to_toml())
    drawn = laid["ssd"]["controller"]["write_delay"]
    assert [row["size"] for row in drawn["rows"]] == ["4KiB", "8KiB"]
    assert drawn["rows"][0]["times"][-1] == "199us"


def slept(wakes_us: float) -> tuple[np.ndarray[Any, Any], ...]:
    """Return idle times, kinds and times beyond of a device that sleeps after 10 ms."""
    draw = rng()
    idle = draw.choice([0.0, 4000.0, 12000.0, 40000.0], 800)
    kinds = draw.integers(0, 2, 800).astype(np.int64)
    beyond = kinds * 300.0 + draw.normal(0.0, 5.0, 800) + wakes_us * (idle >= 10000.0)
    return idle, kinds, beyond


def test_a_sleep_is_found_with_its_time_and_not_where_there_is_none() -> None:
    sleep = found(*slept(200.0))
    assert sleep is not None
    assert sleep.after_us in {5000.0, 8000.0, 10000.0}
    assert sleep.time_us == pytest.approx(200.0, abs=3.0)
    none = found(*slept(0.0))
    assert none is None or none.time_us < 3.0


def test_idle_time_is_what_nothing_was_outstanding_in() -> None:
    frame = pl.DataFrame(
        {"arrival_ns": [0, 1_000, 50_000], "measured_response_ns": [10_000, 2_000, 1]}
    )
    assert idle_before(frame).tolist() == [0.0, -9.0, 40.0]


def least(loss: Any, measured: np.ndarray[Any, Any]) -> float:
    """Return the one time for all that loses least."""
    candidates = np.linspace(measured.min(), measured.max(), 500)

    def cost(time: float) -> float:
        residuals = np.log(time / measured)
        return float(loss.cost(residuals * loss.scaled(residuals)))

    return float(min(candidates, key=cost))


def test_what_is_lost_is_least_at_the_usual_request_or_at_the_fast_ones() -> None:
    measured = np.exp(rng().uniform(np.log(100.0), np.log(10_000.0), 2000))
    operations, sizes = np.full(2000, "write"), np.full(2000, 4096.0)
    below = float((measured < least(fast_way(operations, sizes), measured)).mean())
    assert below == pytest.approx(FAST, abs=0.04)
    assert float((measured < least(USUAL, measured)).mean()) == pytest.approx(0.5, abs=0.04)


def test_rare_sizes_count_more_for_each_of_their_requests() -> None:
    operations = np.full(110, "write")
    weights = fast_way(operations, np.array([4096.0] * 100 + [65536.0] * 10)).weights
    assert weights is not None
    assert weights[-1] / weights[0] == pytest.approx(10**0.5)


class Scored:
    """A model of which only the score is looked at."""

    def __init__(self, score: float) -> None:
        self.score = score


def test_a_model_with_more_must_be_better_by_a_hundredth() -> None:
    models: list[Any] = [Scored(1.0), Scored(0.995), Scored(0.9), Scored(0.895)]
    assert best(models) is models[2]


def device() -> dict[str, Any]:
    """Return the flash of the phone's device, behind a host that takes no time."""
    found = phone()
    del found["host"]
    return found


def measured(path: Path, controller: dict[str, Any]) -> Path:
    """Write what a device with this controller takes for writes."""
    workload = {
        "type": "synthetic",
        "requests": 1500,
        "request_size": "4KiB",
        "read_share": 0.0,
        "inter_arrival": {"type": "exponential", "mean": "12ms"},
    }
    config = {**device(), "workload": workload}
    config["ssd"]["controller"] = controller
    rows = copyback.run(config, requests=True).to_polars("requests")
    rows.select(
        "arrival_ns",
        pl.col("operation").cast(pl.String),
        "offset",
        "bytes",
        measured_response_ns="response_ns",
    ).sort("arrival_ns").write_parquet(path)
    return path


def test_a_tail_that_a_device_has_is_fitted_and_simulated(tmp_path: Path) -> None:
    does = {"write_delay": DELAY, "wake_up": SLEEPS}
    trace = measured(tmp_path / "tail.parquet", does)
    known = copyback.calibrate(device(), trace=trace, fit=["ssd.timing.program"])
    assert known.model == "timing, delays, sleep"
    scores = dict(known.models)
    assert scores["timing, delays"] < 0.7 * scores["timing"]
    row = next(
        one for one in known.errors if (one["part"], one["predictor"]) == ("held out", "simulated")
    )
    assert row["p50_ratio"] == pytest.approx(1.0, abs=0.1)
    assert row["p99_ratio"] == pytest.approx(1.0, abs=0.25)


def test_a_device_without_a_tail_keeps_to_its_timing(tmp_path: Path) -> None:
    trace = measured(tmp_path / "plain.parquet", {})
    found_ = copyback.calibrate(device(), trace=trace, fit=["ssd.timing.program"])
    assert found_.model == "timing"
    assert "[ssd.controller" not in found_.config_toml
