"""Settings laid over one another: what a run takes a sweep takes, and nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback import InputError
from copyback.inputs import configuration
from copyback.inputs.layers import Layer, arranged, plain
from copyback.simulation.simulate import settings_of
from copyback.sweep.axes import Axis, parse_axis
from copyback.sweep.design import Design
from copyback.sweep.plan import make_plan

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

    Setting = tuple[str, str]

#: Keys of a workload that a run takes beside ``--trace``, with values that are not the defaults.
SHAPING = {
    "workload.format": "ssdsim",
    "workload.devices": '["0"]',
    "workload.from": '"1ms"',
    "workload.until": '"5s"',
    "workload.limit": "100",
    "workload.time_scale": "0.5",
    "workload.duration": '"2s"',
    "workload.beyond_device": "wrap",
    "workload.lenient": "true",
    "workload.iodepth": "4",
}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    rows = (f"0,R,{row % 64 * 4096},4096,{row * 1000}\n" for row in range(300))
    path.write_text("".join(rows))
    return path


def workloads(
    base: dict[str, Any], settings: list[Setting], over: Axis | None = None, **design: Any
) -> list[dict[str, Any]]:
    """Return the workloads of a sweep, resolved."""
    axes = (over,) if over else ()
    points = Design(grid=axes, **design)
    plan = make_plan(base, points.points(), named=points.named, settings=settings)
    return [configuration.resolved(run.config)["workload"] for run in plan.runs]


@pytest.mark.parametrize("key", SHAPING)
def test_a_key_that_a_run_takes_with_a_trace_a_sweep_takes(
    tiny: dict[str, Any], trace: Path, key: str
) -> None:
    setting = (key, SHAPING[key])
    asked = settings_of(trace=trace, format_=None, seed=None, overrides=[setting])
    alone = configuration.resolved(configuration.load(tiny, settings=asked))["workload"]
    assert alone != workloads(tiny, [], Axis("trace", (str(trace),)))[0]
    assert workloads(tiny, [setting], Axis("trace", (str(trace),))) == [alone]
    loads = {"mine": (("trace", str(trace)),)}
    assert workloads(tiny, [setting], loads=loads) == [alone]
    beside = {"mine": (setting, ("trace", str(trace)))}
    assert workloads(tiny, [], loads=beside) == [alone]


def test_a_sweep_file_s_settings_hold_for_the_traces_of_its_grid(
    cli: RunCli, tiny_toml: Path, trace: Path, tmp_path: Path
) -> None:
    assert trace.name == "t.csv"
    text = f'config = "{tiny_toml.name}"\n[set]\n"workload.limit" = 100\n[grid]\n'
    (tmp_path / "sweep.toml").write_text(f'{text}trace = ["t.csv"]\n"seed" = [1, 2]\n')
    cli("compare", "--sweep", "sweep.toml", "--out", "out", "-q")
    found = copyback.Comparison.load(tmp_path / "out")
    assert found.frame["requests.count"].to_list() == [100, 100]
    over = ("--over", "trace=t.csv", "--seeds", "2")
    cli("compare", tiny_toml, "--set", "workload.limit=70", *over, "--out", "two", "-q")
    found = copyback.Comparison.load(tmp_path / "two")
    assert found.frame["requests.count"].to_list() == [70, 70]


def test_a_whole_comes_before_its_parts_wherever_they_are_told(tiny: dict[str, Any]) -> None:
    requests: Setting = ("workload.requests", "50")
    for key in ("workload", "workload.preset"):
        assert [
            w["requests"] for w in workloads(tiny, [requests], Axis(key, ("pgc-2011-base",)))
        ] == [50]
    victims = Axis("ssd.gc.victim", ("{ type = 'rga' }", "{ type = 'rga', d = 7 }"))
    plan = make_plan(tiny, Design(grid=(victims,)).points(), settings=[("ssd.gc.victim.d", "5")])
    found = [configuration.resolved(run.config)["ssd"]["gc"]["victim"]["d"] for run in plan.runs]
    # What a point sets itself takes the place of what all share.
    assert found == [5, 7]


@pytest.mark.parametrize(
    ("setting", "over"),
    [
        ("workload.limit=5", "workload.limit=1,2"),
        ("workload={ type = 'trace', path = 'a' }", "trace=b,c"),
        ("workload.path=a", "trace=b,c"),
        ("workload.preset=pgc-2011-base", "trace=b,c"),
        ("ssd.gc.victim=greedy", "ssd.gc.victim=fifo,{ type = 'rga' }"),
        ("ssd.geometry={ channels = 2, dies_per_chip = 4 }", "ssd.geometry.channels=1,2"),
        ("seed=5", "seed=1,2"),
    ],
)
def test_a_setting_that_no_run_would_have_is_refused_by_name(
    tiny: dict[str, Any], setting: str, over: str
) -> None:
    axis = parse_axis(over)
    with pytest.raises(InputError) as found:
        make_plan(
            tiny,
            Design(grid=(axis,)).points(),
            settings=[configuration.parse_setting(setting)],
        )
    assert str(found.value).startswith(
        f"{setting}: no run would have it, as each has its own, such"
    )
    assert f"{axis.key}={axis.values[0]}" in str(found.value)


def test_parts_of_a_point_that_would_replace_one_another_are_refused(tiny: dict[str, Any]) -> None:
    both = (Axis("trace", ("a",)), Axis("workload", ("pgc-2011-base",)))
    with pytest.raises(
        InputError, match=r"trace=a: is replaced by workload=pgc-2011-base; give one"
    ):
        make_plan(tiny, Design(grid=both).points())
    design = Design(grid=(Axis("trace", ("b",)),), loads={"mine": (("trace", "a"),)})
    with pytest.raises(InputError, match="trace=a: is replaced by trace=b; give one of them"):
        make_plan(tiny, design.points(), named=design.named)


@pytest.mark.parametrize("key", ["workload.path=b", "workload={ type = 'trace', path = 'b' }"])
def test_a_trace_and_a_setting_in_its_place_are_refused(
    cli: RunCli, tiny_toml: Path, trace: Path, key: str
) -> None:
    done = cli("run", tiny_toml, "--trace", trace, "--set", key, status=2)
    assert done.stderr == f"copyback: error: {key}: replaces the trace {trace}; give one of them\n"
    again = settings_of(
        trace=trace, format_=None, seed=None, overrides=[("workload.type", "trace")]
    )
    assert configuration.load({}, settings=again)


def test_a_calibration_varies_no_trace(cli: RunCli, tiny_toml: Path, trace: Path) -> None:
    done = cli("calibrate", tiny_toml, "--trace", trace, "--over", "trace=a,b", status=2)
    assert done.stderr.startswith(
        "copyback: error: --over trace: every variant is fitted to the same"
    )


def test_order_is_kept_among_what_does_not_meet() -> None:
    layers = plain([("a.b", "1"), ("c", "{ type = 'x' }"), ("c.d", "2"), ("e", "3")])
    assert [one.key for one in arranged(layers)] == ["c", "a.b", "c.d", "e"]
    parts = Layer("n", (("a", "{ b = 1, c = { type = 'x', d = 2 }, e = { f = [1] } }"),)).parts()
    assert [one.settings[0] for one in parts] == [
        ("a.b", "1"),
        ("a.c", '{ type = "x", d = 2 }'),
        ("a.e.f", "[1]"),
    ]
