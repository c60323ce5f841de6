"""The page of a comparison in a browser: its figures, what they save, and its address."""

from __future__ import annotations

import csv
import io
import re
import statistics
import struct
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode

import pytest

import copyback
from browser import look, needs_browser
from conftest import tiny_config
from copyback.sweep.knee import knee
from copyback.sweep.ratios import Ratio, compared
from copyback.words import units

if TYPE_CHECKING:
    from pathlib import Path

    from browser import Seen
    from copyback.sweep.comparison import Comparison

pytestmark = needs_browser

SVG = "{http://www.w3.org/2000/svg}"
SHARES = [0.25, 0.3, 0.35, 0.4, 0.5]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Two loads, two victims, five shares of over-provisioning, two seeds."""
    return copyback.compare(
        tiny_config(),
        over={
            "ssd.ftl.over_provisioning": SHARES,
            "ssd.gc.victim": ["greedy", "fifo"],
            "workload.read_share": [0.2, 0.6],
        },
        seeds=2,
        out=tmp_path_factory.mktemp("study") / "sweep",
        workload__requests=2500,
    )


@pytest.fixture(scope="module")
def page(study: Comparison) -> Path:
    return study.directory / "report.html"


@pytest.fixture(scope="module")
def saved(page: Path) -> Seen:
    """Save each kind of figure, and the tables."""
    return look(
        page,
        """
        for (const name of ["SVG", "PNG"]) {
          for (const id of ["all-loads", "pareto", "curves", "longest", "heats"]) {
            exportsOf(id, name);
          }
        }
        while (savedFiles.length < 10) await settled();
        choose("across", "flash.erases");
        await settled();
        byId_("pareto").id = "points-figure";
        exportsOf("points-figure", "SVG");
        for (const name of ["CSV", "LaTeX"]) {
          exportsOf("contest", name);
          exportsOf("who-wins", name);
        }
        await settled();
        """,
    )


def parsed(saved: Seen, name: str) -> ET.Element:
    text = saved.files[name].decode()
    # Files are for other programs: no colour is a name of our page's.
    assert "var(" not in text
    assert "color-mix" not in text
    return ET.fromstring(text)


def texts(root: ET.Element) -> list[str]:
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def test_bars_are_saved_with_loads_and_their_mean(saved: Seen, study: Comparison) -> None:
    root = parsed(saved, "all-loads.svg")
    told = [node.get("aria-label") for node in root.iter(f"{SVG}rect") if node.get("aria-label")]
    # The baseline and the five first of ten schemes, under two loads and in the mean.
    assert len(told) in (5 * 3, 6 * 3)
    assert {"read_share 0.2", "read_share 0.6", "geometric mean"} <= set(texts(root))
    of_mean = [text for text in told if text and ", geometric mean: " in text]
    for setting in (scheme.setting for scheme in study.contests[0].schemes):
        name = ", ".join(
            f"{key.rpartition('.')[2]} {value}" for key, value in setting if value is not None
        )
        shown = next((text for text in of_mean if text.startswith(f"{name}, ")), None)
        if shown is None:
            continue
        # The page computes it anew for any baseline: it is what Python has.
        if setting == study.contests[0].baseline.setting:
            assert shown.endswith(": the baseline")
            continue
        expected = compared(study.contests, setting, None, "p99")
        assert isinstance(expected, Ratio)
        assert shown.split(": ", 1)[1] == expected.sentence


def test_lines_are_saved_with_bands_and_axes(saved: Seen) -> None:
    root = parsed(saved, "pareto.svg")
    assert len(list(root.iter(f"{SVG}polyline"))) == 2
    bands = [node for node in root.iter(f"{SVG}path") if node.get("class") == "band"]
    assert len(bands) == 2
    assert {"over_provisioning", "p99", "victim greedy", "victim fifo"} <= set(texts(root))
    assert {"0.3", "0.4", "0.5"} <= set(texts(root))


def test_points_are_saved_with_names_of_schemes(saved: Seen) -> None:
    root = parsed(saved, "points-figure.svg")
    named = [node.get("aria-label") or "" for node in root.iter(f"{SVG}circle")]
    assert len(named) == 10
    assert named[0].startswith("over_provisioning 0.25, victim greedy: erases ")
    assert "erases" in texts(root)


@pytest.mark.parametrize("name", ["curves.svg", "longest.svg"])
def test_charts_on_a_canvas_are_saved_as_lines(saved: Seen, name: str) -> None:
    root = parsed(saved, name)
    lines = [node for node in root.iter(f"{SVG}path") if node.get("fill") == "none"]
    assert len(lines) >= 5
    assert "over_provisioning 0.25, victim greedy" in texts(root)
    assert any(re.fullmatch(r"[0-9.]+ (µs|ms|s)", text) for text in texts(root))
    # Ticks of the horizontal axis, too.
    axes = (
        {"99 %", "percentile of the requests"} if name == "curves.svg" else {"0", "simulated time"}
    )
    assert axes <= set(texts(root))


def test_heat_maps_are_saved_as_cells(saved: Seen) -> None:
    root = parsed(saved, "heats.svg")
    cells = [node for node in root.iter(f"{SVG}rect") if node.get("shape-rendering")]
    assert len(cells) > 20
    assert len({cell.get("fill") for cell in cells}) > 2
    assert "die 0" in texts(root)


@pytest.mark.parametrize("name", ["all-loads", "pareto", "curves", "longest", "heats"])
def test_each_kind_is_saved_as_png_three_times_as_fine(saved: Seen, name: str) -> None:
    png = saved.files[f"{name}.png"]
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    drawn = parsed(saved, f"{name}.svg")
    assert (width, height) == tuple(
        int(3 * float(drawn.get(side) or 0)) for side in ("width", "height")
    )
    # White paper with something on it does not pack to nothing.
    assert len(png) > 3000


def test_tables_are_saved_with_numbers_and_not_with_texts(saved: Seen, study: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(saved.files["contest.csv"].decode())))
    schemes = study.contests[0].schemes
    assert len(rows) == len(schemes) == 10
    for row, scheme in zip(rows, schemes, strict=True):
        assert float(row["p99 (µs)"]) == pytest.approx(scheme.values["p99"].mean, rel=1e-9)
        assert float(row["p99 ±"]) == pytest.approx(scheme.values["p99"].half_width, rel=1e-4)
    changed = schemes[3].ratios["WA"]
    assert isinstance(changed, Ratio)
    assert float(rows[3]["WA ratio"]) == pytest.approx(changed.ratio)
    assert float(rows[3]["WA ratio low"]) == pytest.approx(changed.low)
    assert rows[3]["WA ratio as said"] == changed.sentence
    assert rows[0]["WA ratio"] == ""
    latex = saved.files["contest.tex"].decode()
    assert "\\toprule" in latex
    assert "over\\_provisioning 0.25, victim greedy" in latex
    assert "$\\pm$" in latex
    assert not re.search(r"(?<!\\)[_#]", latex.partition("\n")[2])
    winners = saved.files["who-wins.csv"].decode()
    assert winners.startswith("load,mean,p99,")


def test_a_knee_is_the_same_here_and_in_python(page: Path) -> None:
    curves = [
        [100.0, 30.0, 12.0, 10.0, 9.0, 8.5],
        [1.0, 1.1, 1.2, 1.4, 20.0, 90.0],
        [9.0, 8.0, 7.0, 5.0, 2.0, 1.0],
        [5.0, 9.0, 1.0, 8.0, 2.0, 9.0],
        [1.0, 5.0, 7.0, 8.0, 8.5, 8.7],
    ]
    xs = [1.0, 2.0, 3.0, 5.0, 8.0, 9.0]
    seen = look(page, f"found.knees = {curves}.map((ys) => kneeOf({xs}, ys));")
    assert seen.found["knees"] == [knee(xs, ys) for ys in curves]
    assert seen.found["knees"].count(None) == 2


def test_a_bound_names_the_value_and_the_runs_around_it(page: Path, study: Comparison) -> None:
    measured = {
        dict(s.setting)["ssd.ftl.over_provisioning"]: s.values["WA"].mean
        for s in study.contests[0].schemes
        if dict(s.setting)["ssd.gc.victim"] == "greedy"
    }
    limit = (measured[0.3] + measured[0.35]) / 2
    seen = look(
        page,
        f"""
        choose("up", "write_amplification");
        choose("bound", "{limit:.4f}");
        found.told = [...byId_("told").children].map((one) => one.textContent);
        choose("bound", "> {limit:.4f}");
        found.above = [...byId_("told").children].map((one) => one.textContent);
        """,
    )
    (above,) = (text for text in seen.found["above"] if "greedy: the most" in text)
    assert "the most over_provisioning with WA at least" in above
    assert " is 0.3 of those run" in above
    (told,) = (text for text in seen.found["told"] if "greedy: the least" in text)
    assert "the least over_provisioning with WA at most" in told
    assert " is 0.35 of those run" in told
    at = float(re.search(r"meets it at ([0-9.]+)", told)[1])  # type: ignore[index]
    assert at == pytest.approx(0.325, abs=0.001)


def test_what_is_chosen_is_in_the_address_and_comes_back(page: Path) -> None:
    changed = look(
        page,
        """
        choose("load", "1");
        choose("across", "ssd.ftl.over_provisioning");
        choose("up", "gc.erases");
        byId_("log-x").click();
        document.querySelector('th[data-key="WA"] button').click();
        """,
    )
    kept = {key: own[0] for key, own in parse_qs(changed.hash.lstrip("#")).items()}
    assert kept["load"] == "read_share 0.6"
    assert (kept["up"], kept["log-x"], kept["sort"]) == ("gc.erases", "1", "WA")
    # What is as the page opens is not in it.
    assert "measure" not in kept
    wanted = {**kept, "only.ssd.gc.victim": "fifo"}
    again = look(
        page,
        """
        found.load = byId_("load").value;
        found.up = byId_("up").value;
        const rows = [...byId_("contest").tBodies[0].rows];
        found.rows = rows.map((row) => row.cells[1].firstChild.textContent);
        found.wa = rows.map((row) => parseFloat(row.cells[7].firstChild.textContent));
        """,
        address="#" + urlencode(wanted),
    )
    assert (again.found["load"], again.found["up"]) == ("1", "gc.erases")
    assert len(again.found["rows"]) == 5
    assert all(name.endswith("victim fifo") for name in again.found["rows"])
    assert again.found["wa"] == sorted(again.found["wa"])


def test_a_load_is_a_click_away_and_has_a_time_axis_of_its_own(page: Path) -> None:
    seen = look(
        page,
        """
        const axisEnd = () => charts.find((one) => one.plot.closest("#longest")).u.scales.x.max;
        found.first = [byId_("load").value, axisEnd()];
        const click = new MouseEvent("click", { bubbles: true, cancelable: true });
        document.querySelectorAll("#all-loads a")[1].dispatchEvent(click);
        await settled();
        found.second = [byId_("load").value, axisEnd()];
        found.ends = data.ends;
        """,
    )
    assert seen.found["first"] == ["0", seen.found["ends"][0]]
    assert seen.found["second"] == ["1", seen.found["ends"][1]]


def test_rows_lead_to_the_pages_of_their_runs(page: Path, study: Comparison) -> None:
    seen = look(
        page,
        """
        const all = (which) => [...byId_("contest").querySelectorAll(which)];
        const links = (which) => all(which).map((link) => link.getAttribute("href"));
        found.links = links("a:not(.why)");
        found.why = links("a.why");
        """,
    )
    schemes = study.contests[0].schemes
    of_first = [run for scheme in schemes for run in scheme.runs]
    assert seen.found["links"] == [f"runs/{run}/report.html" for run in of_first]
    runs, longest = (study.frame[name].to_list() for name in ("run", "response_us.all.max"))
    took = dict(zip(runs, longest, strict=True))
    slowest = [max(scheme.runs, key=lambda run: took[run]) for scheme in schemes]
    assert seen.found["why"] == [f"runs/{run}/why/report.html#late" for run in slowest]


@pytest.mark.parametrize("width", [420, 1280])
def test_nothing_is_wider_than_the_window(page: Path, width: int) -> None:
    seen = look(
        page,
        "found.wide = document.documentElement.scrollWidth; found.window = innerWidth;",
        width=width,
    )
    assert seen.found["wide"] <= seen.found["window"] == width


def test_files_have_light_colours_on_a_dark_page_too(page: Path) -> None:
    script = """
    found.paper = getComputedStyle(document.body).backgroundColor;
    exportsOf("pareto", "SVG");
    """
    light, dark = look(page, script), look(page, script, dark=True)
    assert light.found["paper"] != dark.found["paper"]
    assert light.files == dark.files


def test_the_page_of_a_run_saves_its_figures_and_tables(tmp_path: Path) -> None:
    home = copyback.run(tiny_config()).save(tmp_path / "run")
    seen = look(
        home / "report.html",
        """
        for (const id of ["cdf", "latency", "erases", "heat"]) exportsOf(id, "SVG");
        document.querySelector(".exports-line .exports button").click();
        await settled();
        """,
    )
    for name in ("cdf", "latency", "erases", "heat"):
        assert len(list(parsed(seen, f"{name}.svg").iter())) > 10
    assert any(name.endswith(".csv") for name in seen.files)


def test_of_a_flow_its_own_numbers_are_drawn(tmp_path: Path) -> None:
    config = tiny_config()
    one = {**config["workload"], "requests": 400}
    flows = [one, {**one, "read_share": 0.9}]
    config["workload"] = {"type": "flows", "flows": flows, "names": ["log", "data"]}
    found = copyback.compare(
        config,
        over={"ssd.gc.victim": ["greedy", "fifo"], "ssd.ftl.over_provisioning": [0.25, 0.4]},
        out=tmp_path / "sweep",
    )
    seen = look(
        tmp_path / "sweep" / "report.html",
        """
        choose("up", "response_us.all.mean");
        found.pick = [...byId_("load").options].map((option) => option.text);
        const values = () => [...document.querySelectorAll("#points circle[aria-label]")]
          .map((dot) => dot.getAttribute("aria-label"));
        found.whole = values();
        choose("load", "2");
        choose("up", "response_us.all.mean");
        found.flow = values();
        """,
    )
    assert seen.found["pick"] == ["all requests", "flow 0", "flow 1"]
    for told, contest in (("whole", found.contests[0]), ("flow", found.flows[1])):
        means = [scheme.values["mean"].mean for scheme in contest.schemes]
        numbers = {re.search(r"mean ([0-9.]+ (?:µs|ms))", text)[1] for text in seen.found[told]}  # type: ignore[index]
        assert numbers == {units.time_us(mean) for mean in means}


def test_a_spike_leads_to_why_its_request_was_late(tmp_path: Path) -> None:
    result = copyback.run(tiny_config(), metrics__slowest=6)
    home = result.save(tmp_path / "run")
    assert result.slowest is not None
    # The third slowest: not the one that is open as the page opens.
    third = result.slowest[2]
    ended = (third["arrival_us"] + third["response_us"]) / 1e6
    seen = look(
        home / "report.html",
        f"""
        const own = charts.find((one) => one.plot.closest("#latency"));
        const place = data.time.start.findLastIndex((start) => start <= {ended});
        // Several intervals are drawn as one.
        const scale = data.time.end / own.u.scales.x.max;
        const drawnAt = (second) => own.u.data[0].findLastIndex((x) => x * scale <= second + 1e-9);
        const shownAt = drawnAt(data.time.start[place]);
        found.drawn = [own.u.data[0].length];
        found.dot = own.u.data[4][shownAt];
        found.longest = data.time.max[place];
        own.plot.scrollIntoView({{ behavior: "instant" }});
        await settled();
        const box = own.u.over.getBoundingClientRect();
        const at = {{
          bubbles: true, button: 0, detail: 1, clientY: box.top + 20,
          clientX: box.left + own.u.valToPos(own.u.data[0][shownAt], "x"),
        }};
        for (const kind of ["mousemove", "mousedown", "mouseup", "click"]) {{
          own.u.over.dispatchEvent(new MouseEvent(kind, at));
          await settled();
        }}
        const kept = [...document.querySelectorAll(".late details")];
        own.u.setScale("x", {{ min: own.u.scales.x.max * 0.8, max: own.u.scales.x.max * 0.9 }});
        await settled();
        found.drawn.push(own.u.data[0].length);
        own.u.setScale("x", {{ min: 0, max: own.u.scales.x.max }});
        await settled();
        found.open = kept.flatMap((one, i) => (one.open ? [i] : []));
        exportsOf("latency", "SVG");
        await settled();
        """,
    )
    assert seen.found["dot"] == pytest.approx(seen.found["longest"], rel=1e-3)
    fine = len(result.series)
    assert seen.found["drawn"][0] <= 240 < fine
    assert seen.found["drawn"][1] == min(fine, 1200)
    (opened,) = seen.found["open"]
    assert seen.found["dot"] == pytest.approx(result.slowest[opened]["response_us"], rel=1e-3)
    circles = parsed(seen, "latency.svg").iter(f"{SVG}circle")
    assert 1 <= sum(circle.get("r") == "4" for circle in circles) <= 6


#: Names of figures of which a part lies outside of its picture, or whose picture has no room.
_CUT = """
found.cut = [...document.querySelectorAll("main figure svg.figure")].flatMap((drawn) => {
  const around = drawn.getBoundingClientRect();
  const room = drawn.parentElement.getBoundingClientRect();
  const parts = [...drawn.querySelectorAll("text, rect, circle")];
  const outside = parts.map((part) => [part.textContent, part.getBoundingClientRect()])
    .filter(([, box]) => box.left < around.left - 1 || box.right > around.right + 1
      || box.top < around.top - 1 || box.bottom > around.bottom + 1).map(([text]) => text);
  const dots = parts.map((part) => part.textContent).filter((text) => text.endsWith("…"));
  return [...outside, ...dots, ...(around.width > room.width + 1 ? [drawn.ariaLabel] : [])];
});
found.width = document.documentElement.scrollWidth;
"""


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of five loads and three schemes with long names."""
    found = copyback.compare(
        tiny_config(),
        over={
            "ssd.gc.preemption": [
                "none",
                "semi_preemptive",
                '{ type = "semi_preemptive", pipeline = true }',
            ],
            "workload.inter_arrival.mean": ["200us", "300us", "400us", "600us", "1ms"],
        },
        out=tmp_path_factory.mktemp("crowded") / "sweep",
        workload__requests=300,
    )
    return found.directory / "report.html"


@pytest.mark.parametrize("width", [420, 1280])
@pytest.mark.parametrize(
    "across", ["workload.inter_arrival.mean", "ssd.gc.preemption", "response_us.all.max"]
)
def test_nothing_is_cut(crowded: Path, width: int, across: str) -> None:
    seen = look(crowded, f'choose("across", "{across}"); await settled(); {_CUT}', width=width)
    assert seen.found["cut"] == []
    assert seen.found["width"] <= width


def test_a_new_axis_is_logarithmic_where_values_differ_widely(
    page: Path, study: Comparison
) -> None:
    columns = ["response_us.all.p99", "write_amplification", "gc.erases"]
    seen = look(
        page,
        f"""
        found.first = [byId_("up").value, byId_("log-y").checked];
        for (const column of {columns}) {{
          choose("up", column);
          found[column] = byId_("log-y").checked;
        }}
        """,
    )
    means = {
        column: [
            statistics.fmean(row[column] for row in study if row["run"] in scheme.runs)
            for contest in study.contests
            for scheme in contest.schemes
        ]
        for column in columns
    }
    wide = {column: max(values) > 10 * min(values) for column, values in means.items()}
    assert wide == {column: seen.found[column] for column in columns}
    assert set(wide.values()) == {True, False}
    assert seen.found["first"] == ["response_us.all.p99", wide["response_us.all.p99"]]


def test_two_keys_that_are_numbers_make_a_heat_map(page: Path, study: Comparison) -> None:
    seen = look(
        page,
        f"""
        choose("across", "ssd.ftl.over_provisioning");
        choose("colour", "write_amplification");
        choose("up", "workload.read_share");
        await settled();
        const cells = [...byId_("points").querySelectorAll("rect[aria-label]")];
        found.cells = cells.map((cell) => cell.ariaLabel);
        {_CUT}
        """,
        width=420,
    )
    expected = {
        f"victim {dict(scheme.setting)['ssd.gc.victim']}, over_provisioning "
        f"{dict(scheme.setting)['ssd.ftl.over_provisioning']}, read_share "
        f"{dict(contest.load)['workload.read_share']}": scheme.values["WA"].mean
        for contest in study.contests
        for scheme in contest.schemes
    }
    told = dict(text.split(": WA ") for text in seen.found["cells"])
    assert {name: float(text) for name, text in told.items()} == pytest.approx(expected, rel=1e-3)
    assert seen.found["cut"] == []
