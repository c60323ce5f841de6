"""`copyback leaderboard`: designs with their results, which anybody can run again and add to."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from conftest import tiny_config
from copyback.inputs import configuration
from pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

STUDY = """
config = "tiny.toml"
objectives = ["WA", "throughput.iops"]
budget = 1_000
seeds = 2

[set]
"workload.inter_arrival" = { type = "exponential", mean = "1ms" }

[workloads.reads]
"workload.read_share" = 0.5
weight = 3
[workloads.writes]
"workload.read_share" = 0.0

[space]
"ssd.gc.victim" = ["greedy", "fifo"]
"""

#: Workloads of the study: shares of reads and weights.
LOADS = {"reads": (0.5, 3), "writes": (0.0, 1)}

GAP = {"type": "exponential", "mean": "1ms"}


def write(path: Path, **gc: Any) -> None:
    """Write the tiny drive with other keys in its section on collections."""
    tables = tiny_config()
    tables["ssd"]["gc"] = gc
    lines = [f"{key} = {configuration.to_toml(value)}" for key, value in tables.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def board(tiny_toml: Path, cli: RunCli) -> Path:
    """Make a board with its base and an entry with another victim."""
    home = tiny_toml.parent
    (home / "study.toml").write_text(STUDY, encoding="utf-8")
    cli("leaderboard", "new", "study.toml", "board.json")
    write(home / "mine.toml", victim="fifo")
    cli("leaderboard", "add", "board.json", "mine.toml", "--name", "FIFO", "--about", "Me, 2026")
    return home / "board.json"


def content(board: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(board.read_text(encoding="utf-8"))
    return found


def change(board: Path, old: str, new: str) -> None:
    text = board.read_text(encoding="utf-8")
    assert old in text
    board.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_an_entry_has_the_numbers_of_runs_by_hand(board: Path, cli: RunCli) -> None:
    base, fifo = content(board)["entries"]
    assert (base["name"], base["settings"], fifo["about"]) == ("base", {}, "Me, 2026")
    assert fifo["settings"] == {"ssd.gc.victim": '"fifo"'}
    by_hand: dict[str, list[float]] = {"greedy": [], "fifo": []}
    for entry, victim in ((base, "greedy"), (fifo, "fifo")):
        assert len(entry["runs"]) == 4
        for run in entry["runs"]:
            share, weight = LOADS[run["load"]]
            settings: dict[str, Any] = {
                "workload.read_share": share,
                "workload.inter_arrival": GAP,
                "ssd.gc.victim": victim,
            }
            result = copyback.run(tiny_config(), seed=run["seed"], **settings)
            summary = result.summary
            assert run["digest"] == summary["config_digest"]
            assert run["numbers"]["throughput.iops"] == summary["throughput"]["iops"]
            assert run["numbers"]["WA"] == summary["write_amplification"]
            by_hand[victim] += [math.log(summary["write_amplification"])] * weight
    # The greedy base moves less; the table has the weighted geometric means of both.
    means = {victim: math.exp(math.fsum(logs) / len(logs)) for victim, logs in by_hand.items()}
    assert means["greedy"] < means["fifo"]
    table = cli("leaderboard", "show", "board.json").stdout
    first, second = (table.index(name) for name in ("1  base", "2  FIFO"))
    assert first < second
    for mean in means.values():
        assert f"{mean:.3f}" in table
    assert "victim fifo" in table


def test_what_is_as_stored_is_told_and_what_is_not_is_named(board: Path, cli: RunCli) -> None:
    before = board.read_bytes()
    told = cli("leaderboard", "check", "board.json").stdout
    assert "2 entries, 8 runs: all as stored" in told
    assert board.read_bytes() == before
    number = content(board)["entries"][1]["runs"][2]["numbers"]["WA"]
    change(board, f'"WA": {number}', f'"WA": {number / 2}')
    told = cli("leaderboard", "check", "board.json", status=1).stdout
    assert told.strip() == f"FIFO, writes, seed 1: WA: found {number}, stored is {number / 2}"
    assert "4 runs: all" in cli("leaderboard", "check", "board.json", "--entry", "base").stdout
    digest = content(board)["entries"][0]["runs"][0]["digest"]
    change(board, digest, digest[::-1])
    told = cli("leaderboard", "check", "board.json", "--entry", "base", status=1).stdout
    assert f"base, reads, seed 1: configuration: found {digest}" in told


def test_what_another_version_stored_is_said(board: Path, cli: RunCli) -> None:
    change(board, f'"copyback": "{copyback.__version__}"', '"copyback": "0.0.1"')
    told = cli("leaderboard", "check", "board.json").stdout
    assert f"Stored by Copyback 0.0.1; this is {copyback.__version__}." in told


def test_an_entry_is_the_boards_drive(board: Path, cli: RunCli) -> None:
    before = board.read_bytes()
    home = board.parent

    def refused(*arguments: str) -> str:
        return cli("leaderboard", "add", "board.json", "other.toml", *arguments, status=2).stderr

    write(home / "other.toml", copyback=False)
    told = refused("--name", "x")
    assert "other.toml: ssd.gc.copyback: found false; allowed: true, as on the board" in told
    assert "open are ssd.gc.victim" in told
    write(home / "other.toml", victim="fifo")
    assert "is the same design as the entry FIFO" in refused("--name", "x")
    assert "has an entry of this name" in refused("--name", "FIFO")
    assert board.read_bytes() == before
    cli("leaderboard", "new", "study.toml", "board.json", status=2)
    assert board.read_bytes() == before
    # A board may leave more open.
    cli("leaderboard", "new", "study.toml", "wide.json", "--open", "ssd.gc")
    write(home / "other.toml", copyback=False)
    cli("leaderboard", "add", "wide.json", "other.toml", "--name", "x")
    assert content(home / "wide.json")["entries"][1]["settings"] == {"ssd.gc.copyback": "false"}


def test_a_policy_in_python_is_refused_and_not_loaded(board: Path, cli: RunCli) -> None:
    home = board.parent
    source = f"from pathlib import Path\n\nPath({str(home / 'ran')!r}).touch()\n"
    (home / "p.py").write_text(source, encoding="utf-8")
    write(home / "other.toml", victim={"type": "python", "policy": "p.py:P"})
    told = cli("leaderboard", "add", "board.json", "other.toml", "--name", "x", status=2).stderr
    assert "found a policy in Python; allowed on a board: policies that are built in" in told
    evil = '{ type = \\"python\\", policy = \\"p.py:P\\" }'
    change(board, '\\"fifo\\"', evil)
    told = cli("leaderboard", "check", "board.json", status=2).stderr
    assert "ssd.gc.victim: found a policy in Python" in told
    change(board, evil, '\\"fifo\\"')
    change(board, '"victim": "greedy"', '"victim": {"type": "python", "policy": "p.py:P"}')
    assert "policy in Python" in cli("leaderboard", "check", "board.json", status=2).stderr
    assert not (home / "ran").exists()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"schema": 1', '"schema": 2', "schema: found 2; allowed: 1"),
        ('"seed": 2', '"seed": 3', "entries[0].runs: found other runs than the board's"),
        ('"WA"', '"W"', "objectives[0]: "),
        ('"name": "FIFO"', '"name": "base"', "entries[0].name: found base twice"),
        ('"settings": {}', '"settings": {"seed": "2"}', "entries[0].settings: found seed"),
        ('"entries"', '"entry"', "entry: unknown key; did you mean entries?"),
        ('"loads": {', '"loads": [{', "not JSON"),
    ],
)
def test_a_wrong_board_is_refused(board: Path, cli: RunCli, old: str, new: str, told: str) -> None:
    change(board, old, new)
    fault = cli("leaderboard", "show", "board.json", status=2).stderr
    assert f"board.json: {told}" in fault
    assert len(fault.splitlines()) == 1


def test_a_load_that_reads_a_file_is_refused(tiny_toml: Path, cli: RunCli) -> None:
    home = tiny_toml.parent
    (home / "t.csv").write_text("timestamp_us,op,offset,length\n0,W,0,4096\n", encoding="utf-8")
    study = STUDY.replace('"workload.read_share" = 0.0', 'trace = "t.csv"')
    (home / "study.toml").write_text(study, encoding="utf-8")
    told = cli("leaderboard", "new", "study.toml", "board.json", status=2).stderr
    assert "trace: found a file that a run reads" in told
    assert not (home / "board.json").exists()


def test_the_board_of_the_examples_is_as_stored(cli: RunCli) -> None:
    stored = ROOT / "examples/design/leaderboard.json"
    told = cli("leaderboard", "check", stored).stdout
    assert "7 entries, 42 runs: all as stored." in told
