"""Figures and tables for papers: what they show of results made by hand, and files of real ones."""

from __future__ import annotations

import math
import re
import statistics
import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm, Normalize, SymLogNorm

import copyback
from conftest import tiny_config
from copyback.figures.canvas import Form, content
from copyback.figures.of_comparison import of_comparison
from copyback.frame import Frame
from copyback.sweep.latex import latex
from copyback.sweep.schemes import contests

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from conftest import RunCli
    from copyback.sweep.schemes import Contest

SHARE, VICTIM, RATE = "ssd.ftl.over_provisioning", "ssd.gc.victim", "workload.rate_share"

#: Student's t for 95% of three values, from a table.
T_OF_THREE = 4.303

#: Inches of a page that is 420 pixels wide, of a column of a paper, and of nothing that is asked.
WIDTHS = (420 / 96, 3.3, 2.5, None)


def made(
    settings: Sequence[dict[str, Any]],
    values: Callable[[dict[str, Any], int], float],
    seeds: Sequence[int] = (1, 2, 3),
) -> list[Contest]:
    """Return the contests of results of which p99 (and half of it, the mean) is given."""
    rows = [
        {
            "run": f"{place}-{seed}",
            **setting,
            "seed": seed,
            "response_us.all.count": 1000,
            "response_us.all.p99": values(setting, seed),
            "response_us.all.mean": values(setting, seed) / 2,
            "write_amplification": 1 + seed / 10,
            "flash.erases": 1234.0,
        }
        for place, setting in enumerate(settings)
        for seed in seeds
    ]
    return contests(Frame.of_rows(rows), list(settings[0]))


def grid(**keys: Sequence[Any]) -> list[dict[str, Any]]:
    """Return every combination of the values of keys: ``share``, ``victim``, ``rate``."""
    names = {"share": SHARE, "victim": VICTIM, "rate": RATE}
    found: list[dict[str, Any]] = [{}]
    for name, values in keys.items():
        found = [{**one, names[name]: value} for one in found for value in values]
    return found


def half_width(values: Sequence[float]) -> float:
    return T_OF_THREE * statistics.stdev(values) / math.sqrt(3)


def intervals(axis: Axes) -> list[list[tuple[float, float]]]:
    """Return the ends of the upright intervals of each line."""
    return [
        [(float(stroke[0][1]), float(stroke[1][1])) for stroke in own[2][0].get_segments()]
        for own in axis.containers
    ]


def of_scheme(setting: dict[str, Any], seed: int) -> float:
    """Return milliseconds that fall from 80 to 2 over the share, more of fifo, and by seed."""
    falling = {0.1: 80_000.0, 0.2: 20_000.0, 0.4: 2_000.0}[setting[SHARE]]
    return falling * (2 if setting[VICTIM] == "fifo" else 1) * (1 + 0.05 * (seed - 2))


def test_a_curve_has_a_line_a_scheme_with_means_and_intervals() -> None:
    found = made(grid(share=(0.4, 0.1, 0.2), victim=("greedy", "fifo")), of_scheme)
    (axis,) = of_comparison(found, "p99", kind="curve").axes
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("over_provisioning", "p99")
    lines = {str(own.get_label()): own for own in axis.containers}
    assert set(lines) == {"victim greedy", "victim fifo"}
    for factor, strokes, line in zip((1, 2), intervals(axis), lines.values(), strict=True):
        means = [80_000 * factor, 20_000 * factor, 2_000 * factor]
        points = list(zip((0.1, 0.2, 0.4), means, strict=True))
        np.testing.assert_allclose(line[0].get_xydata(), points)
        for mean, (low, high) in zip(means, strokes, strict=True):
            half = half_width([mean * 0.95, mean, mean * 1.05])
            np.testing.assert_allclose((low, high), (mean - half, mean + half), rtol=1e-3)
    assert axis.get_yscale() == "log"
    # Four times the least share: that axis is linear, and has a tick at each value that was run.
    assert axis.get_xscale() == "linear"
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["0.1", "0.2", "0.4"]


def test_each_load_has_a_panel_and_all_share_an_axis() -> None:
    settings = grid(rate=(1, 2), share=(0.1, 0.2))
    found = made(settings, lambda own, seed: 100.0 * own[RATE] * own[SHARE] + seed)
    figure = of_comparison(found, "p99", kind="curve", over=[SHARE])
    assert [axis.get_title() for axis in figure.axes] == ["rate_share 1", "rate_share 2"]
    assert len({axis.get_ylim() for axis in figure.axes}) == 1
    # The key may be of the load: then loads are the places on the axis.
    (axis,) = of_comparison(found, "p99", kind="curve", over=[RATE]).axes
    assert axis.get_xlabel() == "rate_share"
    assert {str(own.get_label()) for own in axis.containers} == {
        "over_provisioning 0.1",
        "over_provisioning 0.2",
    }


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ((10.0, 50.0, 100.0), "linear"),
        ((10.0, 50.0, 101.0), "log"),
        ((0.0, 50.0, 100.0), "linear"),
        ((0.0, 5.0, 100.0), "symlog"),
        ((0.0, 0.0, 0.0), "linear"),
        ((7.0, 7.0, 7.0), "linear"),
    ],
)
def test_an_axis_is_logarithmic_exactly_beyond_a_factor_of_ten(
    values: tuple[float, float, float], scale: str
) -> None:
    by_share = dict(zip((0.1, 0.2, 0.4), values, strict=True))
    found = made(grid(share=tuple(by_share)), lambda own, _: by_share[own[SHARE]])
    (curve,) = of_comparison(found, "p99", kind="curve").axes
    assert curve.get_yscale() == scale
    low, high = curve.get_ylim()
    # What there is, is inside; zero has its place, and on a logarithmic axis there is none.
    assert low <= min(values) <= max(values) < high
    assert (low == 0) == (scale != "log")
    (bars,) = of_comparison(found, "p99", kind="bars").axes
    assert bars.get_xscale() == scale
    # A bar's length says nothing where there is no zero to begin at.
    widths = [bar.get_width() for bar in bars.patches]  # type: ignore[attr-defined]
    if scale == "linear":
        assert widths == list(values)
    else:
        assert widths == []
        points = np.asarray(bars.collections[0].get_offsets())
        assert points[:, 0].tolist() == list(values)


def test_an_interval_below_zero_ends_at_the_axis() -> None:
    found = made(grid(share=(0.1, 0.2)), lambda own, seed: (1 if own[SHARE] > 0.1 else 100) * seed)
    (axis,) = of_comparison(found, "p99", kind="curve").axes
    low, high = intervals(axis)[0][1]
    # Of 1, 2 and 3: 2 with a half-width of 2.48.
    assert (low, high) == pytest.approx((2 - 2.484, 2 + 2.484), abs=1e-3)
    assert axis.get_yscale() == "log"
    assert axis.get_ylim()[0] == pytest.approx(0.2 / 1.2)


def test_a_key_that_spans_decades_has_a_logarithmic_axis() -> None:
    found = made(grid(share=(1, 4, 16)), lambda own, _: float(own[SHARE]))
    (axis,) = of_comparison(found, "p99", kind="curve").axes
    assert axis.get_xscale() == "log"
    assert axis.get_xticks().tolist() == [1, 4, 16]


def test_a_heat_map_has_a_cell_for_each_pair_of_values() -> None:
    settings = grid(rate=(2, 1, 8), share=(0.4, 0.1))[:-1]  # the last pair was not run
    found = made(settings, lambda own, seed: 100 * own[RATE] / own[SHARE] + seed)
    figure = of_comparison(found, "p99", kind="heat", over=[RATE, SHARE])
    axis = figure.axes[0]
    (mesh,) = (own for own in axis.collections if isinstance(own, QuadMesh))
    cells: Any = np.ma.asarray(mesh.get_array())
    # Rows are shares from below, columns rates from the left; the mean of the seeds is 2.
    expected = [[1002.0, 2002.0, np.nan], [252.0, 502.0, 2002.0]]
    np.testing.assert_allclose(cells.filled(np.nan), expected)
    assert cells.mask.tolist() == [[False, False, True], [False, False, False]]
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["1", "2", "8"]
    assert [tick.get_text() for tick in axis.get_yticklabels()] == ["0.1", "0.4"]
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("rate_share", "over_provisioning")
    assert type(mesh.norm) is Normalize
    written = {text.get_text() for text in axis.texts}
    assert written == {"1.00 ms", "2.00 ms", "252 µs", "502 µs"}


@pytest.mark.parametrize(
    ("least", "norm"), [(100.0, Normalize), (99.0, LogNorm), (0.0, SymLogNorm)]
)
def test_colours_are_logarithmic_where_an_axis_would_be(
    least: float, norm: type[Normalize]
) -> None:
    values = {(0.1, 1): least, (0.1, 2): 1000.0, (0.2, 1): 20.0 if least == 0 else 500.0}
    settings = [{SHARE: share, RATE: rate} for share, rate in values]
    found = made(settings, lambda own, _: values[own[SHARE], own[RATE]])
    mesh = of_comparison(found, "p99", kind="heat").axes[0].collections[0]
    assert type(mesh.norm) is norm
    assert (mesh.norm.vmin, mesh.norm.vmax) == (least, 1000)


def inside(figure: Figure) -> bool:
    """Whether all that is drawn lies within the figure."""
    figure.draw_without_rendering()
    around, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    left, low, right, high = around.extents
    return bool(min(left, low) >= -0.01 and right <= width + 0.01 and high <= height + 0.01)


def names_overlap(axis: Axes) -> bool:
    """Whether two names below an axis touch."""
    low, high = axis.get_xlim()
    shown = [
        label.get_window_extent()
        for place, label in zip(axis.get_xticks(), axis.get_xticklabels(), strict=True)
        if low <= place <= high and label.get_text()
    ]
    return any(left.x1 >= right.x0 for left, right in pairwise(shown))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["bars", "curve", "heat"])
def test_nothing_is_cut(kind: str, width: float | None) -> None:
    shares = [0.05, 0.07, 0.1, 0.125, 0.15, 0.1875, 0.25, 0.28, 0.3125, 0.4]
    long = '{ type = "a_policy_whose_name_is_longer_than_others", candidates = 64 }'
    settings = grid(rate=("1200us", "1ms", "100us"), share=shares, victim=("greedy", long))
    found = made(settings, lambda own, seed: 1e5 * own[SHARE] ** 2 * (1 + seed))
    figure = of_comparison(found, "p99", kind=kind, width=width)
    assert inside(figure)
    assert width is None or figure.get_figwidth() == pytest.approx(width)
    panels = [axis for axis in figure.axes if axis.get_xlabel()]
    assert not any(names_overlap(axis) for axis in panels)
    # The panel itself keeps some room.
    assert all(axis.get_position().width * figure.get_figwidth() > 0.5 for axis in panels)


def test_names_of_users_are_no_formulas() -> None:
    settings = grid(share=(0.1, 0.2), victim=("$a_1$", "$\\frac$"))
    found = made(settings, lambda own, seed: own[SHARE] * seed)
    figure = of_comparison(found, "p99", kind="curve")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "victim $a_1$",
        "victim $\\frac$",
    ]
    assert inside(figure)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "pie"}, "figure: found 'pie'; this comparison has: bars, curve"),
        ({"kind": "heat"}, "figure: found 'heat'; this comparison has: bars, curve"),
        ({"measure": "p98"}, "measure: found 'p98'; allowed: mean, p99, p99.9"),
        ({"kind": "curve", "measure": "max"}, f"figure: no scheme has max and {SHARE}"),
        ({"kind": "curve", "over": [VICTIM]}, f"over: found '{VICTIM}'; allowed: {SHARE}"),
        ({"over": [SHARE]}, f"over: found {SHARE}; allowed for bars: 0 keys"),
        ({"width": 1}, "width: found 1; allowed: inches from 2.5 to 30"),
        ({"width": math.nan}, "width: found nan; allowed: inches from 2.5 to 30"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments: dict[str, Any], message: str) -> None:
    found = made(grid(share=(0.1, 0.2), victim=("greedy", "fifo")), lambda *_: 1.0)
    with pytest.raises(copyback.InputError, match=re.escape(message)):
        of_comparison(found, **arguments)


def rows_of(text: str) -> tuple[str, list[list[str]]]:
    """Return the alignment of a tabular and its cells; each row has as many as the alignment."""
    body = re.search(
        r"\\begin\{tabular\}\{(\w+)\}\n\\toprule\n(.*)\\bottomrule\n\\end\{tabular\}\n\Z",
        text,
        re.DOTALL,
    )
    assert body is not None
    lines = body[2].replace("\\midrule\n", "").splitlines()
    assert all(line.endswith(" \\\\") for line in lines)
    cells = [re.split(r"(?<!\\) ?& ?", line.removesuffix(" \\\\")) for line in lines]
    assert {len(row) for row in cells} == {len(body[1])}
    # Outside of commands and formulas no mark is left that LaTeX takes for its own.
    for cell in (cell for row in cells for cell in row):
        plain = re.sub(r"\\[&%$#_{}]|\\[a-z]+(\{\})?|\$[^$]*\$", "", cell)
        assert not set(plain) & set("\\&%$#_{}~^<>"), cell
        assert plain.isascii(), cell
    return body[1], cells


def test_a_table_has_three_significant_digits_units_and_intervals() -> None:
    found = made(grid(share=(0.1, 0.2, 0.4), victim=("greedy", "fifo")), of_scheme)
    alignment, (head, *rows) = rows_of(latex(found, ["scheme", SHARE, "p99", "mean", "WA"]))
    assert alignment == "llrrr"
    assert head == ["scheme", "over\\_provisioning", "p99 (ms)", "mean (ms)", "WA"]
    assert rows[0][:2] == ["over\\_provisioning 0.1, victim greedy", "0.1"]
    # 76, 80 and 84 ms have a half-width of 4.303 * 4 / sqrt(3) = 9.94.
    assert rows[0][2:] == ["80.0 $\\pm$ 9.9", "40.0 $\\pm$ 5.0", "1.20 $\\pm$ 0.25"]
    # The greatest of the column gives the unit: 160 and 2 ms stay in one.
    assert [row[2].partition(" ")[0] for row in rows] == [
        "80.0", "160", "20.0", "40.0", "2.00", "4.00",
    ]  # fmt: skip


def test_a_table_of_one_seed_has_no_intervals() -> None:
    found = made(grid(share=(0.1, 0.2)), lambda own, _: 1e6 * own[SHARE], seeds=[1])
    text = latex(found, ["scheme", "p99", "erases"])
    assert "pm" not in text
    assert rows_of(text)[1][1:] == [
        ["over\\_provisioning 0.1", "100", "1,230"],
        ["over\\_provisioning 0.2", "200", "1,230"],
    ]


def test_names_are_escaped() -> None:
    bad = "50%_of $5 & #1 {a}~^\\b<c>µ"
    found = made(grid(victim=(bad, "greedy"), rate=("a_b", "c")), lambda *_: 1.0)
    _, (head, *rows) = rows_of(latex(found, ["load", "scheme", VICTIM, "max"]))
    assert head == ["load", "scheme", "victim", "max (\\textmu{}s)"]
    assert [row[0] for row in rows] == ["rate\\_share a\\_b"] * 2 + ["rate\\_share c"] * 2
    assert rows[0][2] == (
        r"50\%\_of \$5 \& \#1 \{a\}\textasciitilde{}\textasciicircum{}\textbackslash{}b"
        r"\textless{}c\textgreater{}\textmu{}"
    )
    assert [row[3] for row in rows] == ["--"] * 4  # no run has a greatest response time


def test_columns_that_there_are_not_are_refused() -> None:
    found = made(grid(share=(0.1, 0.2)), lambda *_: 1.0)
    with pytest.raises(
        copyback.InputError, match=rf"columns: found 'p98'; allowed: scheme, load, {SHARE}, mean, "
    ):
        latex(found, ["scheme", "p98"])
    with pytest.raises(copyback.InputError, match="columns: found none; allowed: scheme"):
        latex(found, [])
    assert rows_of(latex(found))[1][0] == ["scheme", "mean (ns)", "p99 (\\textmu{}s)", "WA"]


TINY = tiny_config()
TINY["workload"]["requests"] = 600


@pytest.fixture(scope="module")
def result() -> copyback.Result:
    return copyback.run(TINY)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> copyback.Comparison:
    """Two keys that are numbers, three seeds."""
    return copyback.compare(
        TINY,
        over={SHARE: [0.2, 0.3, 0.4], "workload.read_share": [0.2, 0.6]},
        seeds=3,
        out=tmp_path_factory.mktemp("study") / "sweep",
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["response", "tail", "time", "amplification", "dies"])
def test_nothing_is_cut_of_a_run(result: copyback.Result, kind: str, width: float | None) -> None:
    assert inside(result.plot(kind, width=width))


def test_a_run_is_drawn_as_its_tables_say(result: copyback.Result) -> None:
    (tail,) = result.plot("tail").axes
    table = result.to_pandas("distribution")
    reads = table[(table["operation"] == "read") & (table["fraction"] < 1)]
    line = next(own for own in tail.lines if own.get_label() == "read")
    np.testing.assert_allclose(np.asarray(line.get_ydata()), reads["response_us"])
    np.testing.assert_allclose(np.asarray(line.get_xdata()), -np.log10(1 - reads["fraction"]))
    times = table[table["fraction"] < 1]["response_us"]
    assert (tail.get_yscale() == "log") == (times.max() > 10 * times.min())

    (amplification,) = result.plot("amplification").axes
    whole = next(own for own in amplification.lines if own.get_label() == "from the start")
    assert result.write_amplification is not None
    assert np.asarray(whole.get_ydata())[-1] == pytest.approx(result.write_amplification)

    dies = result.to_pandas("dies")
    shares = 100 * dies["collecting_us"] / (1e6 * (dies["end_s"] - dies["start_s"]))
    mesh = result.plot("dies").axes[0].collections[0]
    drawn: Any = np.ma.asarray(mesh.get_array()).T.ravel()
    np.testing.assert_allclose(drawn, shares)  # a row a bin and die, die by die in each bin


def test_a_directory_gives_its_figures_as_files(
    study: copyback.Comparison, cli: RunCli, tmp_path: Path
) -> None:
    home, page = study.directory, study.directory / "report.html"
    page.unlink()
    for kind in ("bars", "curve", "heat"):
        asked = ("report", home, "--figure", kind, "--measure", "WA", "--width", "3.3")
        done = cli(*asked, "--svg", "a.svg", "--pdf", "a.pdf", "--png", "a.png")
        assert done.stdout.splitlines() == ["a.svg", "a.pdf", "a.png"]
        files = [(tmp_path / f"a.{suffix}").read_bytes() for suffix in ("svg", "pdf", "png")]
        svg, pdf, png = files
        assert ET.fromstring(svg).get("width") == "237.6pt"
        assert pdf.startswith(b"%PDF")
        assert png.startswith(b"\x89PNG")
        # Letters are outlines, and what they say is beside them.
        assert b"<text" not in svg
        assert b"<!-- over_provisioning" in svg
        assert b"dc:date" not in svg
        assert b"CreationDate" not in pdf
        # Another process, the same bytes; so are those of the library.
        cli(*asked, "--svg", "b.svg", "--pdf", "b.pdf", "--png", "b.png")
        assert files == [
            (tmp_path / f"b.{suffix}").read_bytes() for suffix in ("svg", "pdf", "png")
        ]
        drawn = copyback.Comparison.load(home).plot("WA", kind=kind, width=3.3)
        assert content(drawn, Form.SVG) == svg
    assert not page.exists()
    study.report()


def test_a_run_of_a_comparison_gives_figures_too(
    study: copyback.Comparison, cli: RunCli, tmp_path: Path
) -> None:
    run = study.directory / "runs" / study.frame["run"][0]
    cli("report", run, "--figure", "dies", "--svg", "dies.svg")
    assert b"<!-- die 0 -->" in (tmp_path / "dies.svg").read_bytes()


def test_a_comparison_gives_its_table(
    study: copyback.Comparison, cli: RunCli, tmp_path: Path
) -> None:
    done = cli("report", study.directory, "--latex", "t.tex", "--columns", f"load, {SHARE},WA")
    assert done.stdout == "t.tex\n"
    text = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert text == study.to_latex(["load", SHARE, "WA"])
    _, (head, first, *rest) = rows_of(text)
    assert (head, len(rest)) == (["load", "over\\_provisioning", "WA"], 5)
    values = [
        row["write_amplification"]
        for row in study
        if row[SHARE] == 0.2 and row["workload.read_share"] == 0.2
    ]
    mean, half = map(float, first[2].split(" $\\pm$ "))
    assert mean == pytest.approx(statistics.fmean(values), abs=0.005)
    assert half == pytest.approx(half_width(values), rel=1e-3, abs=0.005)


def test_a_search_gives_its_curve_with_the_bound(cli: RunCli, tmp_path: Path) -> None:
    home = tmp_path / "search"
    found = copyback.search(TINY, least=f"{SHARE}=0.2..0.5", where="WA < 2", within=0.1, out=home)
    again = copyback.search(TINY, least=f"{SHARE}=0.2..0.5", where="WA < 2", within=0.1, out=home)
    loaded = type(found).load(home)
    assert loaded.sentence() == found.sentence() == again.sentence()
    (axis,) = loaded.plot().axes
    points = axis.containers[0][0].get_xydata()
    assert points.tolist() == [[probe.value, probe.measured.mean] for probe in found.probes]
    limit = next(own for own in axis.lines if own.get_label() == "WA below 2.000")
    assert np.asarray(limit.get_ydata()).tolist() == [2, 2]
    assert inside(loaded.plot(width=3.3))
    cli("report", home, "--figure", "search", "--svg", "a.svg")
    assert (tmp_path / "a.svg").read_bytes() == content(found.plot(), Form.SVG)
    cli("report", home, "--figure", "curve", "--svg", "b.svg")
    # What is damaged is named; a later comparison in the directory is no search any more.
    facts = home / "sweep.json"
    text = facts.read_text(encoding="utf-8")
    facts.write_text(text.replace('"least": 0.2', '"least": "x"'), encoding="utf-8")
    told = cli("report", home, "--figure", "search", "--svg", "c.svg", status=2).stderr
    assert f"{facts}: search: Expected `float`, got `str`" in told
    copyback.compare(TINY, over={SHARE: [0.2, 0.3]}, out=home)
    with pytest.raises(copyback.InputError, match="holds a comparison, and no search"):
        type(found).load(home)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--figure", "pie", "--svg", "a.svg"), "found 'pie'; HOME has: bars, curve, heat"),
        (("--svg", "a.svg"), "--figure is needed; HOME has: bars, curve, heat"),
        (("--figure", "heat"), "--figure heat: needs a file: --svg, --pdf or --png FILE"),
        (("--figure", "bars", "--svg", "no/a.svg"), "no/a.svg: no such directory: "),
        (("--figure", "bars", "--svg", "a.svg", "--width", "99"), "width: found 99; allowed: "),
        (("--columns", "WA"), "--columns WA: needs --latex FILE"),
        (("--latex", "a.svg", "--columns", "p98"), "columns: found 'p98'; allowed: scheme, load"),
        (("--figure", "bars", "--svg", "a.svg", "--runs"), "--runs is for pages"),
    ],
)  # fmt: skip
def test_what_a_directory_does_not_have_is_refused(
    study: copyback.Comparison,
    cli: RunCli,
    tmp_path: Path,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    told = cli("report", study.directory, *arguments, status=2).stderr
    assert message.replace("HOME", str(study.directory)) in told
    assert not (tmp_path / "a.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--figure", "bars", "--svg", "a.svg"), "found 'bars'; out has: response, tail, time, "),
        (("--latex", "a.svg"), "out: --latex is for a comparison, and this is a single run"),
        (
            ("--figure", "tail", "--svg", "a.svg", "--measure", "p99"),
            "--measure is for a figure of a comparison, and this is a single run",
        ),
    ],
)
def test_what_a_run_does_not_have_is_refused(
    result: copyback.Result,
    cli: RunCli,
    tmp_path: Path,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    result.save(tmp_path / "out")
    assert message in cli("report", "out", *arguments, status=2).stderr
    assert not (tmp_path / "a.svg").exists()
