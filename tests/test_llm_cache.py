"""The example of a cache of KV blocks: what it writes, and what a drive makes of it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
import pytest

import copyback
from pages import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import llm_cache

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "examples" / "kv-cache"
EXCERPT = EXAMPLE / "conversation-1000.jsonl.gz"
#: Bytes of a block of the default model, and of the default scale.
BLOCK = 512 * 320 * 1024
SCALED = BLOCK // 128


class Made(NamedTuple):
    """What the script has printed, by the word before or behind a number, and its trace."""

    printed: str
    trace: pl.DataFrame
    path: Path

    def number_before(self, words: str) -> int:
        return int(self.printed.partition(f" {words}")[0].split()[-1].replace(",", ""))


def script(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLE / "make_trace.py", *map(str, arguments)],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def make(home: Path, *options: str, requests: Path = EXCERPT) -> Made:
    out = home / "kv.parquet"
    done = script(requests, out, *options)
    assert (done.returncode, done.stderr) == (0, "")
    return Made(done.stdout, pl.read_parquet(out), out)


def requests_of(path: Path) -> list[list[int]]:
    return [json.loads(line)["hash_ids"] for line in gzip.open(path, "rt")]


def run(made: Made, **settings: Any) -> copyback.Summary:
    return copyback.run(EXAMPLE / "drive.toml", trace=made.path, cache=False, **settings).summary


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Return a file of four prompts, the first three of which have a block in common."""
    path = tmp_path / "few.jsonl"
    prompts = [[1, 2], [1, 3], [1, 2], [4, 5]]
    rows = [{"timestamp": 10 * at, "hash_ids": prompt} for at, prompt in enumerate(prompts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("write", "asked"),
    [
        # DRAM holds two blocks, and the block that others need is used last.
        ("evicted", ["10 write 0", "20 read 0", "20 write 1", "30 write 1"]),
        (
            "through",
            ["0 write 0", "0 write 1", "10 write 0", "20 write 0", "30 write 0", "30 write 1"],
        ),
        ("reused", ["30 write 0"]),
    ],
)
def test_what_reaches_the_ssd_of_two_blocks(
    few: Path, tmp_path: Path, write: str, asked: list[str]
) -> None:
    """By hand: reads, writes and slots, with two blocks in DRAM and two slots."""
    made = make(tmp_path, "--dram=320MiB", "--ssd=320MiB", f"--write={write}", requests=few)
    rows = made.trace.select("arrival_ns", "operation", "offset").iter_rows()
    assert [f"{ns // 10**6} {what} {at // SCALED}" for ns, what, at in rows] == asked


def test_hits_in_dram_are_those_of_reuse_distances(tmp_path: Path) -> None:
    """LRU holds a block as long as fewer others than it has room for were used since."""
    room, hits = 3000, 0
    used: list[int] = []
    last: dict[int, int] = {}
    for blocks in requests_of(EXCERPT):
        hits += sum(block in last and len(set(used[last[block] :])) <= room for block in blocks)
        for block in reversed(blocks):
            last[block] = len(used)
            used.append(block)
    made = make(tmp_path, f"--dram={room * 160}MiB")
    assert made.number_before("found in DRAM") == hits


@pytest.mark.parametrize("options", [(), ("--evict=fifo",), ("--ahead=5%",), ("--write=through",)])
def test_bytes_and_blocks_are_conserved(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Each block asked for is found or computed; what is written is what is traced."""
    made = make(tmp_path, *options)
    found = sum(
        made.number_before(words) for words in ("found in DRAM", "on the SSD ·", "computed")
    )
    assert found == sum(map(len, requests_of(EXCERPT)))
    of = {
        name[0]: rows for name, rows in made.trace.partition_by("operation", as_dict=True).items()
    }
    assert of["write"].height == made.number_before("blocks written")
    assert of["read"].height == made.number_before("on the SSD ·")
    assert of["write"]["bytes"].sum() == made.number_before("blocks written") * SCALED
    assert (made.trace["offset"] % SCALED).sum() == 0
    if options == ("--write=through",):
        assert of["write"].height == made.number_before("computed")


def test_a_slot_is_read_only_while_it_holds_a_block(tmp_path: Path) -> None:
    """With trims, it is written only while it is free, and trimmed only while it is not."""
    made = make(tmp_path, "--ahead=5%")
    held: set[int] = set()
    for what, at in made.trace.select("operation", "offset").iter_rows():
        assert (at in held) == (what != "write")
        held ^= {at} if what != "read" else set()
    assert len(held) == 4352 - round(0.05 * 4352)


def test_slots_that_are_given_up_by_age_are_a_log(tmp_path: Path) -> None:
    """Written one behind the other, round and round."""
    writes = make(tmp_path, "--evict=fifo").trace.filter(pl.col("operation") == "write")
    slots = 680 * 1024 // 160
    assert writes["offset"].to_list() == [at % slots * SCALED for at in range(writes.height)]


def test_large_blocks_alone_are_written_once(tmp_path: Path) -> None:
    """The drive moves nothing, and its years are flash × cycles over what is written."""
    made = make(tmp_path)
    summary = run(made)
    written = made.number_before("blocks written") * SCALED
    assert summary.host_bytes_written == written
    assert summary.write_amplification == pytest.approx(1.0, abs=5e-4)
    endurance = summary.endurance
    assert endurance is not None
    assert endurance.tbw is not None
    assert endurance.tbw == pytest.approx(endurance.flash_bytes * 3000 / 1e12, rel=1e-3)
    arrivals = made.trace["arrival_ns"].to_list()
    years = endurance.tbw * 1e12 / written * (arrivals[-1] - arrivals[0]) / 1e9 / (365 * 86_400)
    assert endurance.years_at_this_load == pytest.approx(years, rel=0.01)


def test_other_data_are_as_many_as_asked_for_and_moved(tmp_path: Path) -> None:
    """They lie behind the tier, under a handle of their own, which saves moves."""
    made = make(tmp_path, "--ssd=600GiB", "--other=160GiB", "--other-writes=25%")
    writes = made.trace.filter(pl.col("operation") == "write")
    cache, other = (writes.filter(pl.col("handle") == handle) for handle in (0, 1))
    assert sum(other["bytes"]) == pytest.approx(0.25 * sum(cache["bytes"]), rel=1e-3)
    assert max(cache["offset"]) < 600 * 2**30 // 128 <= min(other["offset"])
    mixed = run(made).write_amplification
    apart = run(made, ssd__ftl__placement={"type": "by_hint", "handles": 2}).write_amplification
    assert mixed is not None
    assert apart is not None
    assert 1.05 < apart < mixed


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: found '{'; allowed: an object in JSON"),
        ("[1]", "line 2: found '[1]'; allowed: an object in JSON"),
        ('{"hash_ids": [1]}', "line 2: timestamp: found None; allowed: whole milliseconds"),
        (
            '{"timestamp": 1, "hash_ids": [1, "a"]}',
            "line 2: hash_ids: found [1, 'a']; allowed: a list of whole numbers",
        ),
        ('{"timestamp": 1, "hash_ids": [2, 2]}', "line 2: hash_ids: found 2 twice; allowed: once"),
        (
            '{"timestamp": 4, "hash_ids": []}',
            "line 2: timestamp: found 4; allowed: no less than 5, the one before",
        ),
    ],
)
def test_a_line_that_is_no_request_is_refused(tmp_path: Path, line: str, said: str) -> None:
    """Its place, what was found and what is allowed; the trace is not begun."""
    requests = tmp_path / "bad.jsonl"
    requests.write_text(f'{{"timestamp": 5, "hash_ids": [1]}}\n{line}\n')
    done = script(requests, tmp_path / "out.parquet")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{requests}: {said}\n")
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--scale=3"], "--scale: found 3; allowed: "),
        (["--ssd=1MiB"], "--ssd: found 1048576 bytes; allowed: a block of 167772160 bytes or more"),
        (["--dram=much"], "found much; allowed: a size such as 128GiB"),
        (["--ahead=7"], "found 7; allowed: a share such as 10%"),
    ],
)
def test_options_that_make_no_cache_are_refused(
    few: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    """In one line behind the usage."""
    done = script(few, tmp_path / "out.parquet", *options)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]


def test_files_that_are_no_requests_are_refused(tmp_path: Path) -> None:
    """Missing, not text, not in gzip, or without a write."""
    text, cut, empty = tmp_path / "text", tmp_path / "cut.gz", tmp_path / "empty"
    text.write_bytes(b"\xff\xfe\x00")
    cut.write_bytes(EXCERPT.read_bytes()[:1000])
    empty.write_text("")
    for path in (tmp_path / "none", text, cut, empty):
        done = script(path, tmp_path / "out.parquet")
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        assert str(path) in done.stderr
    assert not (tmp_path / "out.parquet").exists()


def test_the_page_is_that_of_the_stored_hour() -> None:
    text = (ROOT / llm_cache.PAGE).read_text(encoding="utf-8")
    stored = json.loads(llm_cache.STORED.read_text(encoding="utf-8"))
    assert llm_cache.page(text, stored) == text
    assert [row["name"] for row in stored["rows"]] == list(llm_cache.TRACES)
    assert "dirty" not in stored["commit"]


def test_blocks_of_a_stored_row_are_those_of_the_trace(
    few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the cache alone: other data are not counted."""
    monkeypatch.setattr(llm_cache, "COMMON", ("--dram=320MiB", "--scale=1024"))
    monkeypatch.setattr(llm_cache, "TRACES", {"few": (*llm_cache.BESIDE, "--write=through")})
    found = llm_cache.measured(few)
    assert found["requests"] == 4
    (row,) = found["rows"]
    assert row["blocks"] == {"write": 5, "read": 1}
