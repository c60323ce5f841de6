"""Spare and schemes from how fast a drive writes while it ages."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

import copyback
from copyback.calibration.writes import schemes, spare, table, twin
from copyback.calibration.writes.judge import IN_TRANSITION, ON_THE_WAY, Timing, cells, spreads
from copyback.calibration.writes.pattern import FILLED_IN_ORDER
from copyback.calibration.writes.spare import Bound
from copyback.calibration.writes.study import MOVE_COST, study
from copyback.calibration.writes.table import AT

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli
    from copyback.calibration.writes.schemes import Scheme

HEAD = ["drive", "init", "gib", "pattern", "details", "written_capacities"]
RATES = ["first", "at1", "at2", "at3", "steady"]

#: Loads of a hidden drive of 120 raw GiB, by pattern, details and used GiB.
LOADS = [
    ("uniform", "", 100),
    ("uniform", "", 90),
    ("zipf-shuffle", "1.0", 100),
    ("zones-shuffle", "s0.9 f0.1 s0.1 f0.9", 100),
    ("zones-shuffle", "s0.5 f0 s0.5 f1", 100),
]
RAW_GIB = 120.0

#: Blocks of fewer pages than usual, for speed.
SHORT = ("ssd.geometry.pages_per_block", "64")


def write(path: Path, rows: list[list[object]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[*HEAD, *RATES], *rows])
    return path


def a_row(**changes: object) -> list[object]:
    usual = dict(zip([*HEAD, *RATES], ["X", FILLED_IN_ORDER, 100, "uniform", "", 5], strict=False))
    rates = {"first": 100_000, "at1": 50_000, "at2": 40_000, "at3": 40_000, "steady": 40_000}
    return list({**usual, **rates, **changes}.values())


def measured(path: Path, hidden: Scheme) -> Path:
    """Write the table of a drive whose scheme and size are known, of another seed."""
    timing = Timing(300_000.0, MOVE_COST)
    rows: list[list[object]] = []
    for pattern, details, gib in LOADS:
        told = a_row(gib=gib, pattern=pattern, details=details, written_capacities=6)
        row = table.read(write(path, [told]))[0]
        larger = [("seed", "7"), ("ssd.geometry.blocks_per_plane", "1536"), SHORT]
        aged = twin.age(row, RAW_GIB, hidden, larger)
        rates = [
            timing.rate(aged.at(AT[name]) if name in AT else aged.late(), 1e9) for name in RATES[1:]
        ]
        rows.append([*told[: len(HEAD)], timing.empty, *rates])
    return write(path, rows)


@pytest.mark.parametrize("name", ["greedy, host and GC apart", "FIFO, one open block"])
def test_the_scheme_of_a_hidden_drive_is_found(tmp_path: Path, name: str) -> None:
    known = {scheme.name: scheme for scheme in schemes.every()}
    asked = [
        known[name]
        for name in (
            "greedy, host and GC apart",
            "greedy, one open block",
            "FIFO, one open block",
            "random, one open block",
        )
    ]
    rows = table.read(measured(tmp_path / "rates.csv", known[name]))
    [drive] = study(rows, asked, move_cost=MOVE_COST, overrides=[SHORT], jobs=2, quiet=True).drives
    best, *others = drive.found
    assert best.scheme.name == name
    assert best.right == len(best.judged) == len(LOADS)
    assert best.raw.gib == pytest.approx(RAW_GIB, rel=0.01)
    assert all(drive.excluded_by(other) for other in others)
    assert drive.excluded_by(best) is None


@pytest.mark.parametrize("scheme", schemes.every(), ids=lambda scheme: scheme.name)
def test_every_scheme_is_a_configuration(tmp_path: Path, scheme: Scheme) -> None:
    [row] = table.read(write(tmp_path / "rates.csv", [a_row(written_capacities=0.2)]))
    aged = twin.age(row, RAW_GIB, scheme, [SHORT, ("ssd.geometry.blocks_per_plane", "256")])
    assert len(aged.rounds) == 4


@pytest.mark.parametrize("scheme", schemes.every(), ids=lambda scheme: scheme.name)
def test_every_scheme_has_room_on_the_smallest_drive(tmp_path: Path, scheme: Scheme) -> None:
    [row] = table.read(write(tmp_path / "rates.csv", [a_row()]))
    twin.check(row, spare.LEAST * row.gib, scheme, ())


def test_a_setting_is_checked_before_the_first_simulation(tmp_path: Path) -> None:
    rows = table.read(write(tmp_path / "rates.csv", [a_row()]))
    with pytest.raises(copyback.InputError, match="over_provisioning"):
        study(
            rows,
            schemes.every(),
            move_cost=MOVE_COST,
            overrides=[("ssd.geometry.blocks_per_plane", "64")],
            jobs=1,
            quiet=True,
        )


@pytest.mark.parametrize(
    ("rates", "bound"),
    [({"steady": 99_900}, Bound.MOST), ({"steady": 100}, Bound.LEAST), ({}, None)],
)
def test_a_raw_size_at_a_bound_is_told_and_its_rate_judged(
    tmp_path: Path, rates: dict[str, object], bound: Bound | None
) -> None:
    rows = table.read(write(tmp_path / "rates.csv", [a_row(**rates)]))
    [drive] = study(
        rows, [schemes.usual()], move_cost=MOVE_COST, overrides=[SHORT], jobs=1, quiet=True
    ).drives
    [found] = drive.found
    assert found.raw.bound is bound
    steady = found.rows[0][-1]
    assert (steady.column, steady.is_fitted) == ("steady", bound is None)


def test_a_table_of_nothing_but_the_fitted_rate_has_no_error(tmp_path: Path, cli: RunCli) -> None:
    path = write(tmp_path / "rates.csv", [a_row(at1="", at2="", at3="")])
    told = cli("calibrate", "--writes", path, "--quiet", "--json")
    assert told.stderr == ""
    [drive] = json.loads(told.stdout)["drives"]
    assert drive["schemes"][0]["error"] is None


def test_a_rate_is_that_of_the_formula() -> None:
    timing = Timing(300_000.0, 1.5)
    assert timing.rate(1.0, 1e9) == 300_000
    assert timing.rate(3.0, 1e9) == 75_000
    assert timing.rate(1.0, 200_000.0) == 200_000
    assert timing.write_amplification(75_000.0) == pytest.approx(3.0)


def test_rates_that_change_much_and_specimens_that_differ_have_more_room(tmp_path: Path) -> None:
    one = a_row(drive="X", at1=80_000)
    other = a_row(drive="X #2", at1=80_000, at3=60_000)
    rows = table.read(write(tmp_path / "rates.csv", [one, other]))
    assert [row.drive for row in rows] == ["X", "X"]
    aged = twin.Ageing([1.0] * 100)
    found = cells(rows[0], aged, Timing(100_000.0, 1.4), spreads(rows), is_fitted=True)
    assert [round(cell.tolerance, 3) for cell in found] == [IN_TRANSITION, ON_THE_WAY, 0.5, 0.1]
    assert [cell.is_fitted for cell in found] == [False, False, False, True]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"gib": "much"}, ":2: gib: found 'much'; allowed: a number above 0"),
        ({"steady": -1}, ":2: steady: found '-1'; allowed: a number above 0"),
        ({"pattern": "zipf-shuffle"}, ":2: details: found ''; allowed: numbers"),
        (
            {"pattern": "zones-shuffle", "details": "s1"},
            ":2: details: found 's1'; allowed: such as",
        ),
    ],
)
def test_a_damaged_row_is_told_with_its_place(
    tmp_path: Path, change: dict[str, object], fault: str
) -> None:
    path = write(tmp_path / "rates.csv", [a_row(**change)])
    with pytest.raises(copyback.InputError, match=r"rates\.csv") as found:
        table.read(path)
    assert fault in str(found.value)


def test_rows_that_cannot_be_simulated_are_told(tmp_path: Path, cli: RunCli) -> None:
    rows = [a_row(), a_row(pattern="fiozipf"), a_row(init="empty")]
    path = write(tmp_path / "rates.csv", rows)
    out = tmp_path / "out"
    told = cli("calibrate", "--writes", path, "--out", out, "--quiet")
    assert "1 row: no generator for fiozipf" in told.stdout
    assert "1 row: starts empty" in told.stdout
    [drive] = json.loads((out / "schemes.json").read_text())["drives"]
    assert drive["schemes"][0]["scheme"] == "greedy, host and GC apart"
    cli("run", out / "twin-x.toml", "--set", "precondition.overwrites=0.1", "--quiet")


def test_python_gives_what_the_command_gives(tmp_path: Path, cli: RunCli) -> None:
    path = write(tmp_path / "rates.csv", [a_row()])
    found = copyback.calibrate_writes(path, seed=3, out=tmp_path / "out")
    told = cli("calibrate", "--writes", path, "--seed", "3", "--json").stdout
    assert found.to_json() == told == (tmp_path / "out/schemes.json").read_text()
    with pytest.raises(copyback.InputError, match=r"calibrate_writes\(\): move_cost: found 'x'"):
        copyback.calibrate_writes(path, move_cost="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--schemes"], "--schemes: found beside a trace; allowed: one of them"),
        (["--writes", "FILE", "--trace", "FILE"], "--trace: found beside --writes"),
        (["--writes", "FILE", "--held-out", "0.2"], "--held-out: found beside --writes"),
        (["--writes", "FILE", "--times", "service"], "--times: found beside --writes"),
        (["--writes", "FILE", "--set", "ssd.gc.victim=fifo"], "--set ssd.gc.victim: found beside"),
        (
            ["--writes", "FILE", "--set", "workload.footprint=0.5"],
            "--set workload.footprint: ",
        ),
        (["--writes", "absent.csv"], "absent.csv: "),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, cli: RunCli, options: list[str], fault: str
) -> None:
    path = write(tmp_path / "rates.csv", [a_row()])
    given = [str(path) if option == "FILE" else option for option in options]
    told = cli("calibrate", *given, status=2)
    assert fault in told.stderr
    assert len(told.stderr.splitlines()) == 1
