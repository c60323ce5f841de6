"""One grammar of the command line: the same thing is written the same way in every command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import copyback

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

TRACE = "128166372003061629,hm,0,Write,8192,4096,0\n128166372003061729,hm,0,Read,0,4096,0\n"
VICTIMS = "ssd.gc.victim=greedy,fifo"


def test_a_trace_is_the_workload_of_every_command_that_takes_one(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    (tmp_path / "two.csv").write_text(TRACE)
    trace = ("--trace", "two.csv", "--format", "msr")
    cli("compare", tiny_toml, *trace, "--over", VICTIMS, "--out", "out", "--quiet")
    found = copyback.Comparison.load(tmp_path / "out")
    assert found.frame["requests.reads"].to_list() == [1, 1]
    least = "ssd.ftl.over_provisioning=20%..30%"
    cli("search", tiny_toml, *trace, "--least", least, "--where", "p99<1s", "--quiet")
    cli("precondition", tiny_toml, *trace, "--save", "state", "--quiet")
    cli("run", tiny_toml, *trace, "--state", "state", "--quiet")


@pytest.mark.parametrize("command", ["compare", "search"])
def test_a_trace_and_a_workload_are_refused_together(
    cli: RunCli, tiny_toml: Path, command: str
) -> None:
    error = cli(command, tiny_toml, "--trace", "a.csv", "--workload", "b", status=2).stderr
    assert error == "copyback: error: a trace (a.csv) and a workload (b): give one\n"


def test_a_share_may_be_written_in_per_cent_wherever_one_goes(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    done = cli(
        *("compare", tiny_toml, "--over", "workload.read_share=25%,0.5", "--out", "out", "--quiet"),
    )
    assert done.stderr == ""
    found = copyback.Comparison.load(tmp_path / "out")
    assert len(found.frame) == 2
    search = ("search", tiny_toml, "--least", "ssd.ftl.over_provisioning=20%..0.3")
    lines = cli(*search, "--where", "WA<100", "--within", "5%", "--quiet").stdout.splitlines()
    assert lines[0].startswith("Answer")
    error = cli(*search, "--where", "WA<100", "--within", "5x", status=2).stderr
    assert error.endswith("found 5x; allowed: a share such as 25% or 0.25\n")


def test_a_range_that_is_drawn_from_may_be_in_per_cent(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    keys = '"workload.read_share" = { min = "25%", max = "50%" }'
    (tmp_path / "sweep.toml").write_text(f"[random]\nsamples = 2\n[random.keys]\n{keys}\n")
    cli("compare", tiny_toml, "--sweep", "sweep.toml", "--out", "out", "--quiet")
    shares = copyback.Comparison.load(tmp_path / "out").frame["workload.read_share"].to_list()
    assert all(0.25 <= share <= 0.5 for share in shares)


@pytest.mark.parametrize("bound", ["p99<5", "read.p99.9<=0.5", "response_us.all.mean<80"])
def test_a_time_without_a_unit_is_refused(cli: RunCli, tiny_toml: Path, bound: str) -> None:
    least = "ssd.ftl.over_provisioning=0.2..0.3"
    error = cli("search", tiny_toml, "--least", least, "--where", bound, status=2).stderr
    number = bound.rpartition("<")[2].removeprefix("=")
    assert error == (
        f"copyback: error: --where {bound}: found {number} without a unit; allowed: a time, such "
        f"as {number}ms\n"
    )


@pytest.mark.parametrize("seeds", ["2,5", "[2, 5]"])
def test_seeds_may_be_listed(cli: RunCli, tiny_toml: Path, tmp_path: Path, seeds: str) -> None:
    cli("compare", tiny_toml, "--seeds", seeds, "--out", "out", "--quiet")
    assert copyback.Comparison.load(tmp_path / "out").frame["seed"].to_list() == [2, 5]
    found = copyback.compare(tiny_toml, seeds=[2, 5])
    assert found.frame["seed"].to_list() == [2, 5]


@pytest.mark.parametrize("seeds", ["[2,5", "a", "1,1", "0", "-1", "", "1,"])
def test_other_seeds_are_one_line(cli: RunCli, tiny_toml: Path, seeds: str) -> None:
    error = cli("compare", tiny_toml, f"--seeds={seeds}", status=2).stderr
    assert error.startswith(f"copyback: error: --seeds {seeds}: found")
    assert "; allowed: " in error
    assert error.count("\n") == 1


def test_a_timeline_past_the_end_says_what_to_do(cli: RunCli, tiny_toml: Path) -> None:
    done = cli("run", tiny_toml, "--timeline", "1000s:1001s", "--out", "out", "--quiet")
    (line,) = done.stderr.splitlines()
    assert line.startswith("copyback: --timeline 1000s:1001s: found 1000s, and the run ended at")
    assert line.endswith("; allowed: a window that begins before the end")
    inside = cli("run", tiny_toml, "--timeline", "0s:1s", "--out", "in", "--quiet")
    assert inside.stderr == ""


# Finished runs.


@pytest.fixture
def runs(cli: RunCli, tiny_toml: Path) -> None:
    cli("run", tiny_toml, "--out", "out/a", "--quiet")
    cli("run", tiny_toml, "--set", "ssd.gc.victim=fifo", "--out", "out/b", "--quiet")


@pytest.mark.usefixtures("runs")
def test_finished_runs_are_compared_as_they_are(cli: RunCli, tmp_path: Path) -> None:
    lines = cli("compare", "out/a", "out/b").stdout.splitlines()
    assert any(line.startswith("Differ in    ssd.gc.victim (greedy, fifo)") for line in lines)
    header = next(line for line in lines if line.startswith("Scheme"))
    columns = header.split()
    for name in ("out/a", "out/b"):
        row = next(line for line in lines if line.startswith(name)).split()
        summary = json.loads((tmp_path / name / "summary.json").read_text())
        place = columns.index("IOPS") - len(columns)
        assert int(row[place].replace(",", "")) == round(summary["throughput"]["iops"])


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["out/a"], "out/a: found one directory; allowed: two or more finished runs, or a"),
        (["out/a", "out/a"], "out/a: is given twice; allowed: different runs"),
        (["out/a", "nowhere"], "nowhere: found no directory; allowed: directories of finished"),
        (["out/a", "tiny.toml"], "tiny.toml: found no directory; allowed: directories of"),
        (["out/a", "out"], "out: not a Copyback result: it has no summary.json"),
        (["out/a", "out/b", "--seeds", "2"], "--seeds: found beside finished runs, which are"),
        (["out/a", "out/b", "--out", "c"], "--out: found beside finished runs, which are"),
    ],
)
def test_other_finished_runs_are_one_line(cli: RunCli, arguments: list[str], told: str) -> None:
    error = cli("compare", *arguments, status=2).stderr
    assert error.startswith(f"copyback: error: {told}")
    assert error.count("\n") == 1


# What a configuration leaves out or writes in another way.


def test_until_steady_is_its_name_alone(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    def rounds(setting: str) -> str:
        cli("run", tiny_toml, "--set", setting, "--out", "out", "--quiet")
        return (tmp_path / "out" / "summary.json").read_text()

    bare = json.loads(rounds("precondition.overwrites=until_steady"))
    table = json.loads(rounds('precondition.overwrites={ type = "until_steady" }'))
    assert bare["response_us"] == table["response_us"]
    assert bare["precondition"] == table["precondition"]
    wrong = ("run", tiny_toml, "--set", "precondition.overwrites=until_stead")
    assert 'found "until_stead"; allowed: a number' in cli(*wrong, status=2).stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[ssd.gc]\nvictim = fifo\n", ':2:10: found fifo without quotes; allowed: "fifo"'),
        ("[workload]\nread_share = 25%\n", ':2:14: found 25% without quotes; allowed: "25%"'),
        ("[ssd.timing]\nread = 75us # x\n", ':2:8: found 75us without quotes; allowed: "75us"'),
        ("audit = True\n", ":1:9: found True; allowed: true"),
        ("[ssd.gc]\nvictim = { type = rga, d = 2 }\n", ":2:19: found rga without quotes; allow"),
        (
            '[workload]\npath = "a.csv"\n',
            ':2: workload.path: found a key of type "trace"; allowed: type = "trace" beside it',
        ),
    ],
)
def test_what_a_configuration_lacks_is_said(
    cli: RunCli, tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "own.toml").write_text(text)
    error = cli("run", "own.toml", status=2).stderr
    assert error.startswith(f"copyback: error: own.toml{told}")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[grid]\n"ssd.gc.victim" = [fifo]\n', ':2:20: found fifo without quotes; allowed: "fifo"'),
        ('[set]\n"workload.read_share" = 5%\n', ':2:25: found 5% without quotes; allowed: "5%"'),
    ],
)
def test_what_a_sweep_file_lacks_is_said(cli: RunCli, tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "sweep.toml").write_text(text)
    error = cli("compare", "--sweep", "sweep.toml", status=2).stderr
    assert error == f"copyback: error: sweep.toml{told}\n"


# Columns of any file.


def counts(cli: RunCli, tiny_toml: Path, keys: str) -> tuple[int, int]:
    form = f'workload.format={{ type = "csv", {keys} }}'
    done = cli("run", tiny_toml, "--trace", "own.txt", "--set", form, "--json", "--quiet")
    requests = json.loads(done.stdout)["requests"]
    return requests["reads"], requests["writes"]


def test_every_row_of_a_file_may_be_a_write(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    rows = "0.0, 51, loader, C, 80, 8, 4096\n0.1, 51, loader, Q, 88, 8, 4096\n"
    (tmp_path / "own.txt").write_text(rows)
    keys = 'time = "1:s", offset = "5:sectors", length = "6:sectors"'
    assert counts(cli, tiny_toml, f'{keys}, all = "write"') == (0, 2)
    assert counts(cli, tiny_toml, f'{keys}, all = "read"') == (2, 0)
    assert counts(cli, tiny_toml, f'{keys}, all = "write", skip = "4:Q|G"') == (0, 1)


def test_the_sign_of_an_address_may_be_the_operation(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.txt").write_text("1,1000,64,16\n1,1200,-32,8\n2,1500,80,16\n")
    keys = 'time = "2:us", offset = "3:sectors", length = "4:sectors"'
    assert counts(cli, tiny_toml, f'{keys}, negative = "read"') == (1, 2)
    assert counts(cli, tiny_toml, f'{keys}, negative = "write"') == (2, 1)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("", "operation: found nothing; allowed: the column of the operation, or all ="),
        (', operation = "1", all = "read"', "operation: found more than one of operation, all"),
        (', all = "read", skip = "x"', 'skip: found "x"; allowed: a column and values such as'),
    ],
)
def test_columns_that_make_no_sense_are_one_line(
    cli: RunCli, tiny_toml: Path, tmp_path: Path, keys: str, told: str
) -> None:
    (tmp_path / "own.txt").write_text("1,2,3\n")
    form = f'{{ type = "csv", time = "1:s", offset = "2:bytes", length = "3:bytes"{keys} }}'
    set_ = f"workload.format={form}"
    error = cli("run", tiny_toml, "--trace", "own.txt", "--set", set_, status=2).stderr
    assert f"workload.format.{told}" in error
    assert error.count("\n") == 1


def test_an_unknown_table_is_told_its_own_columns(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.txt").write_text("ts,lba,size,op\n0,8,4096,W\n10,16,4096,R\n")
    error = cli("run", tiny_toml, "--trace", "own.txt", status=2).stderr
    form = (
        '{ type = "csv", time = "ts:us", operation = "op", offset = "lba:sectors", '
        'length = "size:bytes" }'
    )
    assert form in error
    # What it says can be typed.
    keys = form.removeprefix('{ type = "csv", ').removesuffix(" }")
    assert counts(cli, tiny_toml, keys) == (1, 1)
