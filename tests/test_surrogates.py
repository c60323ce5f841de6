"""Traits of surrogate workloads: measured right, and those of real relatives."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import copyback
from copyback._core import Config
from copyback_papers import surrogates, traits
from copyback_papers.catalogue import load_paper

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
from surrogate_traits import BEGIN, PAGE, ROOT, page, workload_of

MS = traits.MILLISECOND


def requests(
    arrival_ns: Any, offset: Any, length: Any = 4096, operation: str = "write", device: Any = 0
) -> pl.DataFrame:
    arrival_ns = np.asarray(arrival_ns)
    return pl.DataFrame({"arrival_ns": arrival_ns, "offset": offset}).with_columns(
        pl.lit(length).alias("bytes"),
        pl.lit(operation).alias("operation"),
        pl.lit(device).alias("device"),
    )


def generated(workload: dict[str, Any], path: Path) -> pl.DataFrame:
    own = {"type": "synthetic", "request_size": "4KiB", **workload}
    copyback.convert_trace({"preset": "pgc-2011", "workload": own}, path)
    return pl.read_parquet(path)


@pytest.mark.parametrize("ms", [5, 50, 1000])
def test_poisson_arrivals_have_the_mean_rate_near_an_arrival(ms: int) -> None:
    arrivals = np.cumsum(np.random.default_rng(1).exponential(10 * MS, 400_000)).astype(np.int64)
    # So many pairs that the count is within a hundredth.
    assert traits.intensity(arrivals, ms * MS) == pytest.approx(1.0, abs=0.01)


def test_arrivals_in_pairs_have_their_partner_near() -> None:
    starts = np.arange(100_000) * 100 * MS
    arrivals = np.sort(np.concatenate([starts, starts + MS]))
    # Half have a partner within 5 ms, at a rate of one in 50 ms: 0.5 / (5 / 50).
    assert traits.intensity(arrivals, 5 * MS) == pytest.approx(5.0, rel=1e-3)
    found = traits.bursts(requests(arrivals, 0))
    assert found.per_second == pytest.approx(20.0, rel=1e-3)
    assert found.gaps_under_1ms == 0.0


def test_generated_bursts_have_the_multiple_of_two_states(tmp_path: Path) -> None:
    on_s, off_s = 0.1, 0.9
    workload = {
        "requests": 1_000_000,
        "inter_arrival": {"type": "exponential", "mean": "1ms"},
        "bursts": {
            "type": "on_off",
            "on": {"type": "exponential", "mean": "100ms"},
            "off": {"type": "exponential", "mean": "900ms"},
        },
    }
    found = traits.bursts(generated(workload, tmp_path / "x.parquet"))
    decay_s = on_s * off_s / (on_s + off_s)

    def multiple(within_s: float) -> float:
        """Return the rate after an arrival, whose excess decays, averaged over a time."""
        mean_excess = decay_s / within_s * (1 - math.exp(-within_s / decay_s))
        return 1 + off_s / on_s * mean_excess

    # 10,000 bursts: their lengths make a mean within some two hundredths.
    assert found.within_5ms == pytest.approx(multiple(0.005), rel=0.04)
    assert found.within_50ms == pytest.approx(multiple(0.05), rel=0.04)
    assert found.within_1s == pytest.approx(multiple(1.0), rel=0.04)
    assert found.per_second == pytest.approx(100.0, rel=0.04)
    assert found.gaps_under_1ms == pytest.approx(1 - math.exp(-1), abs=0.01)


def test_runs_are_of_one_kind_and_device() -> None:
    whole = requests(np.arange(6), np.arange(6) * 4096)
    assert traits.places(whole).run == 6.0
    apart = whole.with_columns(device=pl.Series([0, 1] * 3))
    assert traits.places(apart).run == 1.0


def test_pages_count_once_and_writes_by_themselves() -> None:
    # Bytes 2048 to 10,240 lie on pages 0, 1 and 2.
    rows = [
        requests([0], [2048], 8192, "read"),
        requests([1], [0]),
        requests([2], [0]),
        requests([3], [0], operation="trim"),
    ]
    found = traits.places(pl.concat(rows))
    assert found.touched_mib == 3 * 4096 / traits.MIB
    assert found.written_mib == 4096 / traits.MIB


@pytest.mark.parametrize(("stride", "share"), [(8192, 1 / 8), (8192 * 256, 1.0), (8192 * 2, 0.25)])
def test_planes_that_pages_are_dealt_to(stride: int, share: float) -> None:
    found = traits.places(requests(np.arange(2560), np.arange(2560) * stride))
    assert found.busiest_planes == share


#: How far a surrogate's multiples may be from its relative's.
NEAR = 0.12

#: Rate is that of Figure 11, sixteen times Cello's: so is its burstiness.
FASTER = "stand-in-cello99-x16-300k"

TOLD = surrogates.declared()
STORED = surrogates.load()
WITH_RELATIVE = [name for name, one in TOLD.surrogates.items() if one.relative and name != FASTER]


@pytest.mark.parametrize("name", WITH_RELATIVE)
def test_a_surrogate_is_as_bursty_as_its_relative(name: str) -> None:
    relative = TOLD.surrogates[name].relative
    assert relative is not None
    ours, real = STORED[name].bursts, STORED[relative].bursts
    assert ours.within_5ms == pytest.approx(real.within_5ms, rel=NEAR)
    assert ours.within_50ms == pytest.approx(real.within_50ms, rel=NEAR)
    assert ours.within_1s == pytest.approx(real.within_1s, rel=NEAR)


def test_every_preset_that_stands_for_a_trace_is_measured() -> None:
    presets = {name for name, _, _ in copyback._core.workload_presets()}
    assert set(TOLD.surrogates) == {name for name in presets if name.startswith("stand-in-")}
    assert set(STORED) == {*TOLD.surrogates, *TOLD.relatives}


def near(now: surrogates.Measured, stored: surrogates.Measured) -> None:
    """See that numbers are those of the file, which has six digits."""
    assert now.numbers == pytest.approx(stored.numbers, rel=1e-5)


@pytest.mark.parametrize("name", ["stand-in-cello99", "stand-in-fin-1", "stand-in-msr-usr-1"])
def test_what_is_stored_of_a_surrogate_is_what_it_generates(name: str) -> None:
    one = TOLD.surrogates[name]
    near(surrogates.of_surrogate(one, workload_of(name), STORED[name].requests), STORED[name])


@pytest.mark.parametrize("name", TOLD.relatives)
def test_what_is_stored_of_a_relative_is_what_the_trace_has(name: str) -> None:
    traces = Path(os.environ.get("COPYBACK_TRACES", ""))
    if not (traces / TOLD.relatives[name].trace).is_file():
        pytest.skip("COPYBACK_TRACES names no folder with this trace")
    near(surrogates.of_relative(TOLD.relatives[name], traces), STORED[name])


def settings(experiment: str) -> dict[str, dict[str, str]]:
    """Return the settings of each workload of an experiment of pagc-2016."""
    [found] = [e for e in load_paper("pagc-2016").experiments if e.name == experiment]
    return {load.name: dict(load.settings) for load in found.workloads}


def test_lengths_of_looped_pieces_are_said() -> None:
    [pieces] = [e for e in load_paper("pagc-2016").experiments if e.name == "pieces"]
    said = " ".join(pieces.chosen)
    by_trace = {one.trace: STORED[name] for name, one in TOLD.relatives.items()}
    assert len(pieces.workloads) == 6
    for load in pieces.workloads:
        piece = by_trace[load.trace or ""]
        duration_s = float(json.loads(dict(load.settings)["workload.duration"]).removesuffix("s"))
        loops = duration_s * piece.bursts.per_second / piece.requests
        assert f"{piece.requests:,}" in said
        assert f" {round(loops):,}" in said, load.name


@pytest.mark.parametrize(
    ("relative", "load"),
    [("hm_0, its first 148 s", "usr_1"), ("Financial1, first 10,000", "fin_1")],
)
def test_requests_cover_what_the_addresses_of_pieces_span(
    relative: str, load: str, tmp_path: Path
) -> None:
    one = TOLD.relatives[relative]
    trace = Path(os.environ.get("COPYBACK_TRACES", "")) / one.trace
    if not trace.is_file():
        pytest.skip("COPYBACK_TRACES names no folder with this trace")
    copyback.convert_trace(
        trace, tmp_path / "x.parquet", format=one.workload.get("format", {}).get("type")
    )
    ends = (
        pl.read_parquet(tmp_path / "x.parquet")
        .group_by("device")
        .agg((pl.col("offset") + pl.col("bytes")).max().alias("end"))
    )
    capacity = Config.load(preset="pagc-2016").capacity_bytes
    covered = float(settings("9")[load]["workload.footprint"])
    assert ends["end"].sum() / capacity == pytest.approx(covered, rel=0.02)


def test_the_page_has_what_is_stored() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert BEGIN in text
    assert page(text, TOLD) == text, "run python tools/surrogate_traits.py"
