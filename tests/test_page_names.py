"""What the pages name exists: files, keys, commands, names of the code (tests/page_names.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from page_names import wrong_names
from pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

#: Names of other programs, of what the reader makes, and what a page shows to be wrong.
ELSEWHERE = {
    "README.md": {"example-load/natural/linux-mysql.load.gz"},
    "docs/concepts/determinism.md": {"HashSet"},
    "docs/decisions/0077-paced-collections-charge-each-written-page.md": {
        "drivers/lightnvm/pblk-rl.c",
        "ftl_nv_cache_throttle_update",
        "lib/ftl/ftl_nv_cache.h",
    },
    "docs/guide/add-a-policy.md": {
        "crates/copyback/src/ftl/mapping/patient/mod.rs",
        "crates/copyback/src/scheduler/when/yield_to_reads.rs",
        "crates/copyback/src/victim/first_below.rs",
        "preemption = {'type': 'yield_to_reads', 'poll': '600ns'}",
        "ssd = {'gc': {'victim': {'type': 'first_below', 'pages': 180}}}",
        "victim = {'type': 'first_below', 'pages': 52}",
    },
    "docs/guide/add-a-trace-format.md": {"crates/copyback-workload/src/trace/plain.rs"},
    # The page says to write it.
    "docs/guide/arrays.md": {"array.toml"},
    "docs/guide/fio.md": {"copyback notes"},
    "docs/guide/getting-started.md": {
        "--set ssd.gc.victm",
        "ssd = {'gc': {'victm': 'fifo'}}",
    },
    # Options of `examples/kv-cache/make_trace.py`, which tests/test_llm_cache.py holds.
    "docs/guide/llm-cache.md": {
        "--ahead",
        "--bytes-per-token",
        "--other",
        "--other-writes",
        "--ssd",
    },
    # PostgreSQL's own.
    "docs/guide/postgresql.md": {
        "checkpoint_completion_target",
        "pg_stat_wal",
        "wal_sync_time",
        "wal_write_time",
    },
    "docs/guide/reading-the-report.md": {
        "excess_read",
        "excess_write",
        "flow_0_read",
        "measured_write",
    },
    "docs/guide/tutorial.md": {"mine.py"},
    "docs/reference/configuration.md": {"preset = NAME"},
    "docs/reproduction/sepbit-2022-tables.md": {"trace_replay"},
}
#: Pages of what was, and of other simulators, whose names are not ours.
PAST = {"CHANGELOG.md", "docs/validation.md"}
PAGES = sorted(
    name
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if (name := path.relative_to(ROOT).as_posix()) not in PAST
)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_exists(page: str) -> None:
    """But for what is known to be elsewhere, which is still on the page."""
    assert set(wrong_names(ROOT / page)) == ELSEWHERE.get(page, set())


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("`victim/greedy.rs`, `crates/copyback/src/victim/`", []),
        ("`victim/greediest.rs`", ["victim/greediest.rs"]),
        ("`ssd.gc.victim`, `gc.collections`, `flows.0.response_us.all.mean`", []),
        ("`ssd.gc.victims`, `gc.collection`", ["gc.collection", "ssd.gc.victims"]),
        ('`victim = "fifo"`, `width = { type = "threshold" }`', []),
        ('`victim = "lifo"`', ["victim = lifo"]),
        ('```toml\n[ssd.gc]\nwide = "serial"\n```', ["ssd = {'gc': {'wide': 'serial'}}"]),
        ("`copyback run --out DIR`, `--seed`, `copyback trace info`", []),
        ("`copyback walk`, `--seeed`", ["--seeed", "copyback walk"]),
        ("```sh\ncopyback show \\\n  --bound | wc --lines\n```", ["copyback show --bound"]),
        ("`copyback run --set ssd.gc.victim=lifo`", ["ssd = {'gc': {'victim': 'lifo'}}"]),
        ("`copyback.run`, `copyback.fio`, `Geometry`", []),
        ("`copyback.walk`", ["copyback.walk"]),
        ("```python\ncopyback.walk(1)\n```", ["copyback.walk"]),
        ("`no_such_word`, `Ssd::nowhere_at_all`", ["no_such_word", "nowhere_at_all"]),
    ],
)
def test_a_name_that_does_not_exist_is_found(text: str, wrong: list[str], tmp_path: Path) -> None:
    """Each kind of name, right and wrong."""
    page = tmp_path / "page.md"
    page.write_text(text)
    assert wrong_names(page) == wrong
