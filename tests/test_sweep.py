"""Sweeps: what varies, runs kept and used again, lost workers, and what is compared."""

from __future__ import annotations

import html
import json
import math
import os
import pickle
import random
import re
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import copyback
from copyback import InputError
from copyback.data.destination import staged_file
from copyback.frame import Frame
from copyback.inputs import configuration
from copyback.sweep import execute
from copyback.sweep.axes import Axis, column, layers_of, parse_axis
from copyback.sweep.design import Design
from copyback.sweep.execute import MOST_ATTEMPTS, Execution, Task
from copyback.sweep.intervals import estimate
from copyback.sweep.local import LocalBackend
from copyback.sweep.memory import Share, share_of
from copyback.sweep.memory import estimate as estimate_memory
from copyback.sweep.plan import make_plan
from copyback.sweep.ratios import Ratio
from copyback.sweep.schemes import baseline_of, contests
from copyback.sweep.store import Store
from copyback.sweep.sweep_file import read_sweep
from copyback.sweep.work import Job, simulate
from processes import ending

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conftest import RunCli
    from copyback._core import Config

OVER = "ssd.gc.victim=greedy,fifo"


def rows(directory: Path) -> pl.DataFrame:
    return pl.read_parquet(directory / "results.parquet")


# What varies.


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("k=a,b", ("a", "b")),
        ("k= a , b ", ("a", "b")),
        ('k=greedy,{ type = "rga", d = 10 }', ("greedy", '{ type = "rga", d = 10 }')),
        ("k=[1, 2],[3]", ("[1, 2]", "[3]")),
        ('k="a,b",c', ('"a,b"', "c")),
        ("k={ x = 'a}' },b", ("{ x = 'a}' }", "b")),
    ],
)
def test_values_are_cut_at_commas_outside_of_brackets_and_quotes(
    text: str, values: tuple[str, ...]
) -> None:
    assert parse_axis(text) == Axis("k", values)


@pytest.mark.parametrize("text", ["", "key", "=a,b", "key=", "key=a,a"])
def test_an_axis_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_axis(text)


def test_columns_are_numbers_only_if_all_values_are() -> None:
    assert column("k", ["1", "2"]) == [1, 2]
    assert column("k", ["1", "2.5", None]) == [1.0, 2.5, None]
    assert column("k", ["1", "none"]) == ["1", "none"]
    assert column("k", ["true", '"x"']) == ["true", "x"]


def test_points_are_every_combination_with_seeds_innermost() -> None:
    design = Design(
        grid=(Axis("a", ("1", "2")), Axis("b", ("x",))),
        cases=((("c", "p"),), (("c", "q"), ("d", "r"))),
        seeds=(4, 5),
    )
    points = design.points()
    assert len(points) == 8
    assert points[0] == (("c", "p"), ("a", "1"), ("b", "x"), ("seed", "4"))
    assert points[1][-1] == ("seed", "5")
    assert points[-1] == (("c", "q"), ("d", "r"), ("a", "2"), ("b", "x"), ("seed", "5"))


def test_a_key_that_is_varied_twice_is_refused() -> None:
    with pytest.raises(InputError, match="a: is varied twice"):
        Design(grid=(Axis("a", ("1",)),), cases=((("a", "2"),),)).points()


SWEEP = """\
preset = "fifo-mqsim"
seeds = 2
baseline = { "ssd.gc.victim" = "greedy" }
list = [ { "ssd.gc.copyback" = true }, { "ssd.gc.copyback" = false } ]
[set]
"workload.path" = "below/a.csv"
[grid]
"ssd.gc.victim" = ["greedy", { type = "rga", d = 10 }]
trace = ["a.csv", "/b.csv"]
[random]
samples = 3
seed = 9
[random.keys]
"ssd.ftl.over_provisioning" = { min = 0.05, max = 0.4 }
"host.queue_depth" = { min = 1, max = 64, log = true }
"ssd.gc.victim_" = ["x", "y"]
"""


def test_a_sweep_file_has_a_grid_a_list_draws_and_seeds(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    file = read_sweep(path)
    assert (file.preset, file.config) == ("fifo-mqsim", None)
    # Paths are relative to the file.
    assert file.settings == [("workload.path", str(tmp_path / "below/a.csv"))]
    assert file.design.grid[1].values == (str(tmp_path / "a.csv"), "/b.csv")
    points = file.design.points()
    assert len(points) == 2 * 2 * 2 * 3 * 2
    assert points == read_sweep(path).design.points()
    for point in map(dict, points):
        assert 0.05 <= float(point["ssd.ftl.over_provisioning"]) <= 0.4
        assert 1 <= int(point["host.queue_depth"]) <= 64
        assert point["ssd.gc.victim_"] in {"x", "y"}


NAMED = """\
preset = "tlc-unbuffered-64gb"
skip_refused = true
[grid]
"ssd.gc.victim" = ["greedy", "fifo"]
[schemes."first"]
[schemes."other"]
"ssd.gc.preemption" = "partial"
[loads."hot"]
workload = "stand-in-tpc-c"
"workload.requests" = 50
[loads."mine"]
trace = "a.csv"
[quick]
seeds = 2
[quick.grid]
"ssd.gc.victim" = ["fifo"]
[quick.loads]
"hot"."workload.requests" = 5
"""


def test_named_schemes_stand_beside_the_grid_under_each_named_load(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(NAMED)
    design = read_sweep(path).design
    points = design.points()
    assert points[:2] == [
        (("load", "hot"), ("ssd.gc.victim", "greedy")),
        (("load", "hot"), ("ssd.gc.victim", "fifo")),
    ]
    assert points[4:] == [
        (("scheme", name), ("load", load)) for name in ("first", "other") for load in design.loads
    ]
    laid = [pair for layer in layers_of(points[6], design.named) for pair in layer.settings]
    assert laid[1:] == [
        ("workload", '{ preset = "stand-in-tpc-c" }'),
        ("ssd.gc.preemption", "partial"),
        ("workload.requests", "50"),
    ]
    assert ("trace", str(tmp_path / "a.csv")) in design.loads["mine"]


def test_a_quick_version_is_laid_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(NAMED)
    quick = read_sweep(path, quick=True, traces=tmp_path / "traces").design
    assert quick.seeds == (1, 2)
    assert quick.grid == (Axis("ssd.gc.victim", ("fifo",)),)
    assert quick.loads["hot"] == (("workload", "stand-in-tpc-c"), ("workload.requests", "5"))
    assert quick.loads["mine"] == (("trace", str(tmp_path / "traces" / "a.csv")),)
    path.write_text("[grid]\na = [1]")
    with pytest.raises(InputError, match="quick: is missing"):
        read_sweep(path, quick=True)


def test_a_point_of_the_grid_that_a_named_scheme_is_too_is_one_run(tiny: dict[str, Any]) -> None:
    design = Design(
        grid=(Axis("ssd.gc.victim", ("greedy", "fifo")),),
        schemes={"as it is": (), "yielding": (("ssd.gc.preemption", "partial"),)},
    )
    plan = make_plan(tiny, design.points(), named=design.named)
    assert plan.keys == ("scheme", "ssd.gc.victim")
    assert [dict(run.point) for run in plan.runs] == [
        {"scheme": "as it is", "ssd.gc.victim": "greedy"},
        {"ssd.gc.victim": "fifo"},
        {"scheme": "yielding"},
    ]
    twice = Design(schemes={"one": (), "two": ()})
    with pytest.raises(InputError, match=r"schemes\.two: is the same as schemes\.one"):
        make_plan(tiny, twice.points(), named=twice.named)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("grid = 3", "grid: found 3; a table is needed"),
        ("grid = { a = 3 }", "a: found 3; a list of values is needed"),
        ("grid = { a = [] }", "a: a sweep over it needs at least one value"),
        ("gird = {}", "gird: unknown key; did you mean grid?"),
        ("seeds = 0", "seeds: found 0; a number of seeds or a list"),
        ("seeds = [1, 1]", "seeds: found"),
        ("list = 3", "list: found 3; a list is needed"),
        ("random = { keys = { a = [1] } }", "random.samples: missing; a whole number from 1"),
        ("random = { samples = 1 }", "random.keys: missing; a table that is not empty is needed"),
        ("random = { samples = 1, keys = { a = { min = 2, max = 1 } } }", "found 2 to 1"),
        ("random = { samples = 1, keys = { a = { min = 0, max = 1, log = true } } }", "0 to 1"),
        ("random = { samples = 1, keys = { a = { min = 'x', max = 1 } } }", "found 'x'"),
        ("random = { samples = 0, keys = { a = [1] } }", "random.samples: found 0; a whole number"),
        ("random = { samples = 1, keys = {} }", "random.keys: found {}; a table that is not empty"),
        ("random = 3", "random: found 3; a table is needed"),
        ("list = [3]", "list[0]: found 3; a table is needed"),
        ("random = { samples = 1, keys = { a = 7 } }", "random.keys.a: found 7; a list or"),
        ("grid = ", "Invalid value"),
        ("config = 3", "config: found 3; a text is needed"),
        ("preset = []", "preset: found []; a text is needed"),
        ("skip_refused = 'yes'", "skip_refused: found 'yes'; true or false is needed"),
        ("loads = { a = 3 }", "loads.a: found 3; a table is needed"),
        ("schemes = 3", "schemes: found 3; a table is needed"),
        ("quick = 3", "quick: found 3; a table is needed"),
        ("quick = { quick = {} }", "quick.quick: unknown key"),
    ],
)
def test_a_wrong_sweep_file_is_refused_with_its_name(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    with pytest.raises(InputError) as found:
        read_sweep(path)
    assert fault in str(found.value)
    assert all(line.startswith(f"{path}: ") for line in str(found.value).splitlines())


def test_every_refused_point_is_named_before_anything_runs(tiny: dict[str, Any]) -> None:
    points = Design(grid=(Axis("ssd.gc.victim", ("greedy", "gredy", "fi")),)).points()
    with pytest.raises(InputError) as found:
        make_plan(tiny, points)
    lines = str(found.value).splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        "ssd.gc.victim=gredy",
        "ssd.gc.victim=fi",
    ]
    plan = make_plan(tiny, points, skip_refused=True)
    assert (len(plan.runs), len(plan.refused)) == (1, 2)
    seeds = Design(grid=(Axis("ssd.gc.victim.d", ("0", "1")),), seeds=(1, 2)).points()
    tiny["ssd"]["gc"] = {"victim": {"type": "rga"}}
    # A reason is told once, whatever the seed.
    assert len(make_plan(tiny, seeds, skip_refused=True).refused) == 1


def test_keys_of_runs_tell_configurations_and_contents_of_traces_apart(
    tiny: dict[str, Any], tmp_path: Path
) -> None:
    trace = tmp_path / "t.csv"
    points = Design(grid=(Axis("trace", (str(trace),)),)).points()

    def key(text: str) -> str:
        trace.write_text(text)
        return make_plan(tiny, points).runs[0].key

    first, later = "0,0,read,0,4096\n", "0,0,write,0,4096\n"
    keys = [key(first), key(later), key(first)]
    assert keys[0] == keys[2] != keys[1]
    seeds = make_plan(tiny, Design(seeds=(1, 2)).points()).runs
    assert seeds[0].key != seeds[1].key
    assert len(make_plan(tiny, [(), ()]).runs) == 1


# Running it.


def test_a_comparison_holds_what_single_runs_give(tiny: dict[str, Any], tmp_path: Path) -> None:
    found = copyback.compare(
        tiny, over={"ssd.gc.victim": ["greedy", "fifo"]}, seeds=2, out=tmp_path / "sweep"
    )
    assert found.frame["seed"].to_list() == [1, 2, 1, 2]
    assert rows(tmp_path / "sweep").equals(found.frame.to_polars())
    for row in found.frame.iter_rows():
        alone = copyback.run(tiny, seed=row["seed"], ssd__gc__victim=row["ssd.gc.victim"])
        assert row["response_us.all.mean"] == alone.summary.response_us.all.mean
        assert row["flash.erases"] == alone.summary.flash.erases
        assert found.result(row["run"]).series.equals(alone.series)


def test_a_second_sweep_uses_the_runs_of_the_first(tiny: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    first = copyback.compare(tiny, over={"ssd.gc.victim": ["greedy", "fifo"]}, out=out)
    made = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    more = copyback.compare(tiny, over={"ssd.gc.victim": ["fifo", "random", "greedy"]}, out=out)
    assert (first.reused, more.reused, len(more.frame)) == (0, 2, 3)
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert not (out / "states").exists()
    assert not (out / ".lock").exists()


def test_a_sweep_that_is_killed_goes_on_and_gives_the_same_bytes(
    tiny_toml: Path, tmp_path: Path
) -> None:
    arguments: list[str | Path] = [
        tiny_toml,
        "--over",
        OVER,
        "--over",
        "ssd.ftl.over_provisioning=0.2,0.25,0.3",
    ]
    command: list[str | Path] = [sys.executable, "-m", "copyback", "compare", *arguments]
    command += ["--seeds", "3", "--quiet"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    subprocess.run([*command, "--out", whole], check=True, capture_output=True)
    moments = random.Random(5)
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGKILL):
        with ending(
            subprocess.Popen(
                [*command, "--out", broken], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        ) as process:
            limit = time.monotonic() + 30
            before = len(list(broken.glob("runs/[0-9a-f]*")))
            wanted = before + moments.randint(1, 4)
            while len(list(broken.glob("runs/[0-9a-f]*"))) < wanted and process.poll() is None:
                assert time.monotonic() < limit
                time.sleep(0.005)
            process.send_signal(number)
        kept = list(broken.glob("runs/[0-9a-f]*"))
        assert all((run / "summary.json").is_file() for run in kept)
    made = {run: run.stat().st_mtime_ns for run in broken.glob("runs/[0-9a-f]*")}
    subprocess.run([*command, "--out", broken], check=True, capture_output=True)
    assert {run: run.stat().st_mtime_ns for run in made} == made
    name = "results.parquet"
    assert (broken / name).read_bytes() == (whole / name).read_bytes()
    assert sorted(run.name for run in (broken / "runs").iterdir()) == sorted(
        run.name for run in (whole / "runs").iterdir()
    )


def test_workers_end_with_a_sweep_that_is_killed(tiny_toml: Path, tmp_path: Path) -> None:
    marker = f"requests={10**7 + os.getpid()}"
    command: list[str | Path] = [sys.executable, "-m", "copyback", "compare", tiny_toml]
    command += [
        "--over",
        OVER,
        "--quiet",
        "--set",
        f"workload.{marker}",
        "--jobs",
        "2",
        "--out",
        tmp_path / "out",
    ]
    with ending(
        subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
    ) as process:
        limit = time.monotonic() + 30
        while len(_session(process.pid)) < 3:
            assert time.monotonic() < limit, "no workers"
            time.sleep(0.05)
        process.kill()
    limit = time.monotonic() + 30
    while _session(process.pid):
        assert time.monotonic() < limit, "workers stay"
        time.sleep(0.05)


def _session(leader: int) -> list[int]:
    """Return the living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == leader and fields[0] != "Z":
                found.append(int(entry.name))
    return found


class Flaky:
    """A backend that does nothing, and loses the workers that `losses` says."""

    def __init__(self, losses: Mapping[str, int]) -> None:
        self.left = dict(losses)
        self.done: list[str] = []
        self.kept: set[str] = set()

    def _settle(self, name: str, result: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.left.get(name, 0) > 0:
            self.left[name] -= 1
            future.set_exception(BrokenExecutor("lost"))
        else:
            self.done.append(name)
            future.set_result(result)
        return future

    def prepare(self, job: Job, digest: str) -> Future[Any]:
        assert job.config_toml in "ac"
        self.kept.add(digest)
        return self._settle(digest, digest)

    def simulate(self, job: Job, state: Any) -> Future[Any]:
        assert state is None or state in self.kept
        return self._settle(job.config_toml, {"state": str(state).encode()})

    def under_way(self) -> float:
        return 0.0

    def forget(self, state: Any) -> None:
        self.kept.remove(state)


def tasks() -> list[Task]:
    return [Task(key, Job(key, ""), digest) for key, digest in zip("abcd", "xyxz", strict=True)]


def test_what_is_lost_is_done_again_and_devices_are_prepared_once() -> None:
    backend = Flaky({"x": 1, "a": 2, "d": MOST_ATTEMPTS - 1})
    files: dict[str, Mapping[str, bytes]] = {}

    def keep(task: Task, found: Mapping[str, bytes]) -> None:
        assert task.key not in files
        files[task.key] = found

    Execution(tasks(), backend, keep).run()
    assert sorted(backend.done) == ["a", "b", "c", "d", "x"]
    assert {key: found["state"] for key, found in files.items()} == {
        "a": b"x",
        "b": b"None",
        "c": b"x",
        "d": b"None",
    }
    assert not backend.kept


def test_a_run_that_kills_every_worker_ends_the_sweep() -> None:
    with pytest.raises(BrokenExecutor):
        Execution(tasks(), Flaky({"b": MOST_ATTEMPTS}), lambda *_: None).run()


def large(job: Job, state: Path | None) -> bytes:
    """Give more than a pipe holds."""
    del job, state
    return bytes(1 << 20)


def test_results_do_not_go_through_the_pool_s_pipe_in_which_half_a_message_would_stay(
    tmp_path: Path,
) -> None:
    told: list[int] = []
    with LocalBackend(2, tmp_path, large) as backend:
        pool = backend._pool
        submit = pool.submit

        def watched(function: Any, *arguments: Any) -> Future[Any]:
            future = submit(function, *arguments)
            future.add_done_callback(lambda done: told.append(len(pickle.dumps(done.result()))))
            return future

        pool.submit = watched  # type: ignore[assignment, method-assign]
        found = [backend.simulate(Job(key, ""), None) for key in "abcd"]
        assert [one.result(60) for one in found] == [bytes(1 << 20)] * 4
    # A write of so little to a pipe happens whole or not at all.
    assert len(told) == 4
    assert max(told) < select.PIPE_BUF
    assert not list(tmp_path.iterdir())


def test_a_store_keeps_whole_runs_only(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.add("k", RUN_FILES)
        assert store.holds("k", "seed = 1")
        assert not store.holds("other", "seed = 1")
        with pytest.raises(InputError, match="another sweep is running"), Store(tmp_path / "s"):
            pass
        half = tmp_path / "s" / "runs" / ".partial-other"
        half.mkdir()
    with Store(tmp_path / "s") as store:
        assert store.holds("k", "seed = 1")
        assert not half.exists()


RUN_FILES = {
    "summary.json": b'{"schema": 2}',
    "config.toml": b"seed = 1",
    "distribution.parquet": b"PAR1 PAR1",
    "series.parquet": b"PAR1 PAR1",
}


@pytest.mark.parametrize("name", RUN_FILES)
@pytest.mark.parametrize("length", [0, 5])
def test_a_run_with_a_damaged_file_is_done_again(tmp_path: Path, name: str, length: int) -> None:
    with Store(tmp_path / "s") as store:
        store.add("k", {**RUN_FILES, name: b"{PAR1}"[:length]})
        assert not store.holds("k", "seed = 1")
        store.add("k", RUN_FILES)
        assert store.holds("k", "seed = 1")


def test_a_full_disk_is_named_and_leaves_no_half_run(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    with Store(tmp_path / "s") as store:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        # Beyond it a write fails, as it does on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        try:
            with pytest.raises(OSError, match="File too large") as found:
                store.add("k", {"summary.json": b" " * 1000})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert found.value.filename == str(tmp_path / "s")
        assert not list((tmp_path / "s" / "runs").iterdir())


def test_what_a_killed_sweep_leaves_is_no_stranger(tmp_path: Path) -> None:
    # Killed right after it came, and while it wrote its results.
    home = tmp_path / "s"
    home.mkdir()
    (home / ".lock").touch()
    (home / ".sweep.json.partial-x").touch()
    with Store(home) as store:
        store.add("k", RUN_FILES)
    (home / ".results.parquet.partial-y").touch()
    with Store(home) as store:
        assert store.holds("k", "seed = 1")
        assert not list(home.glob("*partial*"))
    (home / ".other.partial-z").touch()
    with pytest.raises(InputError, match="something other than a sweep"):
        Store(home)


def test_a_directory_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("mine")
    with pytest.raises(InputError, match=r"something other than a sweep \(x.txt\)"):
        Store(tmp_path)
    with pytest.raises(InputError, match="is a file"):
        Store(tmp_path / "x.txt")
    (tmp_path / "one").mkdir()
    with staged_file(tmp_path / "one" / "summary.json") as partial:
        partial.write_text("{}")
    with pytest.raises(InputError, match="holds a single run"):
        Store(tmp_path / "one")


# Memory.


def sized(blocks: int, **settings: str) -> Config:
    return configuration.load(
        {"ssd": {"geometry": {"blocks_per_plane": blocks}}, "workload": {"type": "synthetic"}},
        settings=list(settings.items()),
    )


def test_as_many_processes_run_at_once_as_fit() -> None:
    small, large = sized(64), sized(8192)
    mib = 1 << 20
    # 8.4 million pages at 16 bytes, their blocks and dies, requests under way, and what every
    # process holds.
    pages = 16 * 8 * 2 * 8192 * 64
    assert 128 * mib + pages < estimate_memory(large) < 128 * mib + 1.1 * pages
    assert share_of(None, [large], 4) == Share(4, None)
    rows = sized(64, **{"metrics.requests": "true", "workload.requests": "1000"})
    bare = sized(64, **{"workload.requests": "1000"})
    assert estimate_memory(rows) - estimate_memory(bare) == 128 * 1000
    room = share_of(1024 * mib, [small, large], 4)
    assert room.processes == (1024 - 257) // 270
    assert room.memory is not None
    assert room.memory * room.processes <= (1024 - 256) * mib
    assert share_of(1 << 40, [small], 4).processes == 4
    with pytest.raises(InputError, match=r"--memory 300 MiB: the largest run needs about 26\d MiB"):
        share_of(300 * mib, [large], 4)


def test_a_run_that_holds_more_than_it_may_ends_itself(tiny: dict[str, Any]) -> None:
    job = Job(configuration.load(tiny).to_toml(), "", memory=1 << 20)
    with pytest.raises(InputError, match=r"--memory: a run holds .*, more than was expected"):
        simulate(job, None)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_all_processes_of_a_sweep_stay_within_the_memory(tiny_toml: Path, tmp_path: Path) -> None:
    command: list[str | Path] = [sys.executable, "-m", "copyback", "compare", tiny_toml, "--quiet"]
    command += [
        "--set",
        "ssd.geometry.blocks_per_plane=65536",
        "--set",
        "precondition.overwrites=0",
    ]
    command += ["--over", OVER, "--seeds", "2", "--jobs", "4", "--memory", "750MiB"]
    most = 0
    processes = 0
    with ending(
        subprocess.Popen(
            [*command, "--out", tmp_path / "out"], stdout=subprocess.DEVNULL, start_new_session=True
        )
    ) as process:
        while process.poll() is None:
            held = [_resident(member) for member in _session(process.pid)]
            most, processes = max(most, sum(held)), max(processes, len(held))
            time.sleep(0.02)
        assert process.returncode == 0
    assert most <= 750 << 20
    # The sweep itself, the keeper of its semaphores, what is forked for runs, and two of these at
    # once, of 192 MiB each.
    assert processes <= 5


def _resident(process: int) -> int:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


# What is compared.


def test_intervals_are_student_s() -> None:
    # Half-width of five values 1..5: t(0.975, 4) x sqrt(2.5 / 5).
    found = estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found.mean == 3.0
    assert found.half_width == pytest.approx(2.7764451 * math.sqrt(0.5))
    assert estimate([7.0]).half_width is None


def test_intervals_of_means_hold_the_truth_as_often_as_they_say() -> None:
    draws = random.Random(3)
    held = 0
    for _ in range(2000):
        found = estimate([draws.gauss(10.0, 3.0) for _ in range(5)])
        assert found.half_width is not None
        held += abs(found.mean - 10.0) <= found.half_width
    assert 0.935 < held / 2000 < 0.965


def test_schemes_are_compared_under_the_same_load() -> None:
    frame = Frame(
        {
            "ssd.gc.victim": ["greedy", "fifo", "greedy", "fifo"],
            "workload.read_share": [0.1, 0.1, 0.9, 0.9],
            "seed": [1, 1, 1, 1],
            "run": ["a", "b", "c", "d"],
            "response_us.all.count": [9, 9, 9, 9],
            "response_us.all.mean": [10.0, 20.0, 4.0, 3.0],
            "write_amplification": [2.0, 2.0, None, None],
        }
    )
    low, high = contests(frame, ["ssd.gc.victim", "workload.read_share"])
    assert low.load == (("workload.read_share", 0.1),)
    greedy, fifo = low.schemes
    assert greedy.is_baseline
    assert not greedy.ratios
    assert fifo.ratios["mean"] == Ratio(2.0, None, None)
    assert set(high.schemes[0].values) == {"mean"}
    swapped = contests(frame, ["ssd.gc.victim", "workload.read_share"], {"ssd.gc.victim": "fifo"})
    assert [scheme.is_baseline for scheme in swapped[1].schemes] == [False, True]
    assert swapped[1].schemes[0].ratios["mean"].text == "+33.3 %"


@pytest.mark.parametrize(
    ("baseline", "fault"),
    [
        (("ssd.gc.victim", "random"), "baseline: ssd.gc.victim is never random; it is greedy"),
        (("workload.read_share", "0.1"), "baseline: workload.read_share tells workloads apart"),
    ],
)
def test_a_baseline_that_is_not_there_is_refused(baseline: tuple[str, str], fault: str) -> None:
    varied: dict[str, list[Any]] = {"ssd.gc.victim": ["greedy"], "workload.read_share": [0.1]}
    with pytest.raises(InputError, match=fault):
        baseline_of(varied, (baseline,))


# The command.


def test_the_command_prints_a_table_and_says_where_results_are(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    done = cli("compare", tiny_toml, "--over", OVER, "--seeds", "2", "--out", "sweep", "--quiet")
    lines = done.stdout.splitlines()
    header = next(line for line in lines if line.startswith("Scheme"))
    assert header.split() == [
        "Scheme",
        "mean",
        "p99",
        "p99.9",
        "p99.99",
        "max",
        "WA",
        "erases",
        "IOPS",
        "MiB/s",
    ]
    assert any(line.startswith("victim greedy") for line in lines)
    assert any(" to " in line and "−" in line for line in lines)
    assert lines[-3] == "Results      sweep/results.parquet (4 runs)"
    assert lines[-2] == "Winners      sweep/winners.md"
    assert lines[-1] == "Report       sweep/report.html"
    again = cli("compare", tiny_toml, "--over", OVER, "--seeds", "2", "--out", "sweep")
    assert again.stdout.splitlines()[:-3] == lines[:-3]
    assert "(4 runs, 4 of them from before)" in again.stdout
    marker = json.loads((tmp_path / "sweep" / "sweep.json").read_text())
    assert marker["copyback"] == copyback.__version__


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "nothing to compare: give --over KEY=A,B,C, --seeds N or a --sweep FILE"),
        (["--over", "ssd.gc.victim"], "--over ssd.gc.victim: KEY=A,B,C is needed"),
        (["--over", "ssd.gc.victim=greedy,gredy"], "ssd.gc.victim=gredy: "),
        (["--over", OVER, "--over", OVER], "ssd.gc.victim: is varied twice"),
        (["--over", "trace=a.csv"], "a.csv"),
        (["--over", OVER, "--baseline", "ssd.gc.victim=random"], "is never random"),
        (["--sweep", "absent.toml"], "absent.toml: No such file"),
        (["--over", OVER, "--jobs", "1", "--dask", "x:1"], "--jobs and --dask: "),
        (["--over", OVER, "--memory", "1GiB", "--dask", "x:1"], "--memory and --dask: "),
        (["--over", OVER, "--memory", "4"], "--memory 4 B: the largest run needs about"),
        (["--over", OVER, "--memory", "100MiB"], "--memory 100 MiB: the largest run needs about"),
        (["--over", OVER, "--quick"], "--quick: is for a sweep file"),
    ],
)
def test_bad_arguments_leave_nothing_behind(
    cli: RunCli, tiny_toml: Path, tmp_path: Path, arguments: list[str], fault: str
) -> None:
    before = set(tmp_path.iterdir())
    done = cli("compare", tiny_toml, *arguments, "--out", "new", status=2)
    assert fault in done.stderr
    assert all(line.startswith("copyback: error: ") for line in done.stderr.splitlines())
    assert set(tmp_path.iterdir()) == before


# The page.


def page_data(page: str) -> dict[str, Any]:
    text = page.partition('id="data">')[2].partition("</script>")[0]
    data: dict[str, Any] = json.loads(text)
    return data


def test_the_page_has_every_scheme_and_needs_no_network(
    tiny: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "sweep"
    found = copyback.compare(
        tiny,
        over={"ssd.gc.victim": ["greedy", "fifo"], "workload.read_share": [0.2, 0.7]},
        seeds=3,
        baseline={"ssd.gc.victim": "fifo"},
        out=out,
    )
    page = (out / "report.html").read_text()
    links = set(re.findall(r"""(?:src|href)=["']([^"'#]+)""", page))
    assert links <= {"data:,", "https://github.com/leeoniya/uPlot"}
    data = page_data(page)
    assert data["loads"] == ["read_share 0.2", "read_share 0.7"]
    assert [scheme["name"] for scheme in data["schemes"]] == ["victim greedy", "victim fifo"] * 2
    assert [scheme["baseline"] for scheme in data["schemes"]] == [False, True] * 2
    row = found.frame.row(0)
    first = data["schemes"][0]
    assert first["values"]["p99.9"][str(row["seed"])] == row["response_us.all.p99_9"]
    assert data["t"][3] == pytest.approx(4.302653)
    # The curve ends at the slowest request: the mean of the maxima, all runs being as long.
    worst = found.contests[0].schemes[0].values["max"].mean
    assert first["curve"][-1] == pytest.approx(worst, rel=0.01)
    # Over time: the longest response and all collections of the first seed, and its dies.
    over_time = first["time"]
    assert len(over_time["max"]) == len(over_time["collections"]) == data["points"]
    assert max(filter(None, over_time["max"])) == pytest.approx(
        row["response_us.all.max"], rel=0.01
    )
    assert sum(filter(None, over_time["collections"])) == row["gc.collections"]
    assert over_time["heat"]["labels"] == ["die 0", "die 1"]
    # Made again from the files, it is the same.
    copyback.Comparison.load(out).report()
    assert (out / "report.html").read_text() == page


def test_report_makes_the_page_of_a_sweep_again(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    cli("compare", tiny_toml, "--over", OVER, "--out", "sweep", "--quiet")
    page = tmp_path / "sweep" / "report.html"
    before = page.read_text()
    page.unlink()
    assert cli("report", "sweep").stdout == "sweep/report.html\n"
    assert page.read_text() == before
    results = tmp_path / "sweep" / "results.parquet"
    results.write_bytes(results.read_bytes()[:-100])
    assert (
        "results.parquet: damaged; run the sweep again" in cli("report", "sweep", status=2).stderr
    )
    results.unlink()
    refused = cli("report", "sweep", status=2)
    assert "no sweep has been finished here" in refused.stderr


# Loads that cannot be replayed.


def alibaba(rows: int, *, step: int = 4096) -> str:
    return "".join(f"0,R,{row * step},4096,{row * 1000}\n" for row in range(rows))


@pytest.fixture
def traces(tmp_path: Path) -> dict[str, Path]:
    contents = {
        "good": alibaba(300),
        "beyond": alibaba(300) + alibaba(300, step=1 << 30),
        "damaged": alibaba(200) + "0,R,12\n",
        "empty": "",
    }
    for name, content in contents.items():
        (tmp_path / f"{name}.csv").write_text(content)
    return {name: tmp_path / f"{name}.csv" for name in contents}


def test_bad_traces_are_told_together_before_the_first_run_and_leave_the_others_alone(
    cli: RunCli, tiny_toml: Path, tmp_path: Path, traces: dict[str, Path]
) -> None:
    traces["absent"] = tmp_path / "absent.csv"
    over = ",".join(map(str, traces.values()))
    command = (
        "compare",
        tiny_toml,
        "--over",
        f"trace={over}",
        "--set",
        "workload.beyond_device=refuse",
        "--seeds",
        "2",
        "--out",
        "out",
        "-q",
    )
    done = cli(*command, status=2)
    told = done.stderr.splitlines()
    assert len(told) == 4
    # The good trace's rows come first in this one: only a check of all of it finds the fault.
    assert f"trace={traces['beyond']} (2 runs): {traces['beyond']}:302: offset: " in told[0]
    assert f"trace={traces['damaged']} (2 runs): {traces['damaged']}:201: columns: " in told[1]
    assert f"trace={traces['empty']} (2 runs): {traces['empty']}: found no requests" in told[2]
    assert (
        f"trace={traces['absent']} (2 runs): {traces['absent']}: there is no such file" in told[3]
    )
    assert [line for line in done.stdout.splitlines() if line.startswith("Failed")] == [
        line.replace("copyback: error: ", "Failed       ") for line in told
    ]
    found = copyback.Comparison.load(tmp_path / "out")
    assert found.frame["trace"].to_list() == [str(traces["good"])] * 2
    assert len(found.failed) == 4
    assert found.failed[0] in html.unescape((tmp_path / "out" / "report.html").read_text())
    # Mended, it is run, and what is done is not done again.
    traces["beyond"].write_text(alibaba(100))
    traces["damaged"].write_text(alibaba(120))
    traces["empty"].write_text(alibaba(140))
    traces["absent"].write_text(alibaba(160))
    again = cli(*command)
    assert "(10 runs, 2 of them from before)" in again.stdout


def test_a_sweep_of_bad_traces_only_leaves_nothing(
    cli: RunCli, tiny_toml: Path, tmp_path: Path, traces: dict[str, Path]
) -> None:
    before = set(tmp_path.iterdir())
    over = f"trace={traces['beyond']},{traces['empty']}"
    refuse = ("--set", "workload.beyond_device=refuse")
    done = cli("compare", tiny_toml, "--over", over, *refuse, "--out", "out", status=2)
    told = done.stderr.splitlines()
    assert len(told) == 3
    assert told[-1] == "copyback: error: no run of the sweep can be done"
    assert set(tmp_path.iterdir()) == before


def test_a_trace_is_checked_as_it_would_be_replayed(
    tiny: dict[str, Any], traces: dict[str, Path], recwarn: pytest.WarningsRecorder
) -> None:
    # Only the first rows, or only what fits: nothing is wrong with that.
    for key, value in (("workload.limit", 300), ("workload.beyond_device", "wrap")):
        found = copyback.compare(
            tiny, over={"trace": [traces["beyond"]], key: [value], "seed": [1, 2]}
        )
        assert not found.failed
    assert not recwarn.list
    with pytest.warns(UserWarning, match="offset: found bytes"):
        found = copyback.compare(
            tiny,
            over={
                "trace": [traces["good"], traces["beyond"]],
                "workload.beyond_device": ["refuse"],
            },
        )
    assert (len(found.frame), len(found.failed)) == (1, 1)


def test_a_workload_is_checked_for_each_unit_of_mapping(tiny: dict[str, Any]) -> None:
    # Requests start at units, of which a size must be a part.
    base = {**tiny["ssd"], "geometry": {**tiny["ssd"]["geometry"], "page_size": "16KiB"}}
    base["gc"] = {**base.get("gc", {}), "copyback": False}
    workload = {"type": "synthetic", "requests": 50, "size_alignment": "8KiB"}
    with pytest.warns(UserWarning, match="size_alignment: found 8192 bytes"):
        found = copyback.compare(
            {**tiny, "ssd": base, "workload": workload},
            over={"ssd.ftl.mapping_unit": ["8KiB", "4KiB"]},
        )
    assert (len(found.frame), len(found.failed)) == (1, 1)


def test_runs_under_way_are_told_of_before_the_first_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "LOOK_EVERY_S", 0.05)
    config = configuration.load(
        {"workload": {"type": "synthetic", "requests": 400_000}}, preset="pgc-2011"
    )
    told: list[float] = []
    with LocalBackend(1, tmp_path) as backend:
        task = Task("one", Job(config.to_toml(), "copyback"), "x")
        Execution([task], backend, lambda *_: None, on_waiting=told.append).run()
    assert any(0 < share < 1 for share in told), told
    assert told == sorted(told)
    assert backend.under_way() == 0


class Failing(Flaky):
    """A backend whose work fails as `faults` says."""

    def __init__(self, faults: Mapping[str, Exception]) -> None:
        super().__init__({})
        self.faults = faults

    def _settle(self, name: str, result: Any) -> Future[Any]:
        if name not in self.faults:
            return super()._settle(name, result)
        future: Future[Any] = Future()
        future.set_exception(self.faults[name])
        return future


@pytest.mark.parametrize(
    ("fault", "done", "failed"), [("b", "acdx", "b"), ("a", "bcdx", "a"), ("x", "bd", "ac")]
)
def test_a_run_with_a_fault_of_its_own_leaves_the_others_alone(
    fault: str, done: str, failed: str
) -> None:
    backend = Failing({fault: InputError("bad")})
    lost: list[str] = []
    Execution(tasks(), backend, lambda *_: None, lambda task, _: lost.append(task.key)).run()
    assert "".join(sorted(backend.done)) == done
    assert "".join(lost) == failed
    assert backend.kept <= {"x"} if fault == "x" else not backend.kept
    with pytest.raises(InputError, match="bad"):
        Execution(tasks(), Failing({fault: InputError("bad")}), lambda *_: None).run()
    with pytest.raises(OSError, match="full"):
        Execution(tasks(), Failing({fault: OSError("full")}), lambda *_: None, print).run()


def test_the_page_has_every_key_and_result_as_an_axis(tiny: dict[str, Any], tmp_path: Path) -> None:
    found = copyback.compare(
        tiny,
        over={"ssd.ftl.over_provisioning": [0.25, 0.4], "ssd.timing.read": ["25us", "50us"]},
        seeds=2,
        out=tmp_path / "sweep",
    )
    data = page_data((tmp_path / "sweep" / "report.html").read_text())
    assert [(axis["name"], axis["kind"]) for axis in data["axes"]] == [
        ("over_provisioning", "number"),
        ("read", "time"),
    ]
    scheme = data["schemes"][1]
    assert scheme["at"] == [0.25, 50.0]
    rows = list(found.frame.iter_rows())
    for run in scheme["runs"]:
        assert data["runs"][run] == rows[run]["run"]
        moved = data["columns"]["gc.pages_moved"][run]
        assert moved == pytest.approx(rows[run]["gc.pages_moved"], rel=1e-5)
    # What is the same everywhere is no axis.
    assert "requests.count" not in data["columns"]


PROGRAM = """
import json, sys
import copyback
from copyback.sweep import processes

over = {"ssd.gc.victim": ["greedy", "fifo"]}
found = copyback.compare(json.loads(sys.argv[1]), over=over, out="anew", jobs=2)
method = processes.context().get_start_method()
print(json.dumps([method, found.frame["write_amplification"].to_list()]))
"""


def test_a_program_gets_processes_that_are_started_anew(
    tiny: dict[str, Any], tmp_path: Path
) -> None:
    # Not forked from one that has imported the library, as those of these tests are.
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, program, json.dumps(tiny)],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    method, anew = json.loads(done.stdout)
    assert method == "spawn"
    over = {"ssd.gc.victim": ["greedy", "fifo"]}
    forked = copyback.compare(tiny, over=over, out=tmp_path / "forked", jobs=2)
    assert anew == forked.frame["write_amplification"].to_list()
