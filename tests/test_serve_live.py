"""The live page of a served drive: what it is told, who may look, and that it draws."""

from __future__ import annotations

import json
import re
import socket
import sys
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from browser import look, needs_browser
from copyback.words.tail import name, true_percentile
from nbd import Served, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import RunCli

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="works on Linux only")

SETS = ("--set=precondition.fill=1.0", "--set=precondition.overwrites=1.0", "--live=0")


@pytest.fixture
def watched(fast: Path, tmp_path: Path) -> Iterator[tuple[Served, str]]:
    with serving(fast, tmp_path / "drive.sock", *SETS) as served:
        assert served.process.stdout is not None
        told = re.fullmatch(
            r"Live page (http://127.0.0.1:\d+/)\n", served.process.stdout.readline()
        )
        assert told is not None
        yield served, told[1]


def get(address: str, **headers: str) -> str:
    request = urllib.request.Request(address, headers=headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return str(answer.read().decode())


def write(served: Served, pages: int) -> None:
    with served.client() as client:
        for page in range(pages):
            client.write(page * 4096 % (client.size - 4096), bytes([page % 255 + 1]) * 4096)
        client.read(0, 4096)


def seen(address: str, writes: int) -> list[dict[str, Any]]:
    """Return the rows, once they tell of so many writes."""
    rows: list[dict[str, Any]] = []
    until = time.monotonic() + 20
    while sum(row["write"]["count"] for row in rows) < writes:
        assert time.monotonic() < until, rows
        told = json.loads(get(f"{address}seen?from={len(rows)}"))
        rows += told["rows"]
        assert told["next"] == len(rows)
        time.sleep(0.05)
    return rows


def test_the_rows_tell_what_was_done(watched: tuple[Served, str]) -> None:
    served, address = watched
    write(served, 600)
    rows = seen(address, 600)
    assert sum(row["write"]["count"] for row in rows) == 600
    assert sum(row["write"]["bytes"] for row in rows) == 600 * 4096
    assert sum(row["read"]["count"] for row in rows) == 1
    last = rows[-1]
    assert last["host_bytes_written"] == 600 * 4096
    assert last["media_bytes_written"] > 600 * 4096
    assert len(last["die_free_blocks"]) == len(last["die_collecting"]) == 2
    assert sum(last["die_free_blocks"]) == last["free_blocks"]
    assert any(share > 0 for row in rows for share in row["die_collecting"])
    assert [row["at_s"] for row in rows] == sorted(row["at_s"] for row in rows)
    times = [row["write"] for row in rows if row["write"]["count"]]
    assert all(0 < one["p50_us"] <= one["p99_us"] <= one["max_us"] for one in times)
    told = json.loads(get(f"{address}seen?from=nonsense"))
    assert told["rows"][0] == rows[0]
    assert told["status"]["requests"] == 601
    above = name(true_percentile(told["status"]["tail"]["count"], 601))
    assert re.match(rf"Above {above}, [\d.]+ % of the time is ", told["status"]["tail_says"])


def test_it_needs_nothing_from_elsewhere_and_nobody_else_may_look(
    watched: tuple[Served, str],
) -> None:
    served, address = watched
    page = get(address)
    assert "connect-src 'self'" in page
    assert not re.search(r"""(src|href)=["']?(https?:)?//(?!github)""", page)
    for path, headers, status in [
        ("", {"Host": "example.org"}, 403),
        ("seen", {"Host": "example.org:80"}, 403),
        ("drive.toml", {}, 404),
        ("..%2f..%2fetc/passwd", {}, 404),
    ]:
        with pytest.raises(urllib.error.HTTPError) as refused:
            get(address + path, **headers)
        assert refused.value.code == status
        refused.value.close()
    served.end()
    with pytest.raises(urllib.error.URLError):
        get(address)


def test_a_port_that_is_taken_is_refused(fast: Path, tmp_path: Path, cli: RunCli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        nbd = f"--nbd=unix:{tmp_path}/drive.sock"
        told = cli("serve", fast, nbd, f"--live={port}", status=2).stderr
    assert told == f"copyback: error: --live {port}: cannot be used: Address already in use\n"


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_it_draws_what_it_is_told(watched: tuple[Served, str], *, dark: bool) -> None:
    served, address = watched
    write(served, 300)
    seen(address, 300)
    found = look(
        address,
        """
        const isEmpty = () => byId_("now-free").textContent === "–";
        for (let tries = 0; tries < 100 && isEmpty(); tries++) await settled();
        found.state = byId_("state").textContent;
        found.tail = byId_("tail-says").textContent;
        found.cards = [...document.querySelectorAll(".cards .value")].map((one) => one.textContent);
        found.dies = [...document.querySelectorAll("#die-cells .die")].map((one) => one.title);
        found.points = charts.map(({ u }) => u.data[0].length);
        found.writes = charts[0].u.data[2].reduce((all, one) => all + one, 0);
        """,
        dark=dark,
    ).found
    assert "of the drive's time" in found["state"]
    assert found["tail"].startswith("Above p9")
    assert found["cards"][4] != "–"
    assert len(found["dies"]) == 2
    assert found["dies"][0].startswith("die 0: collected ")
    assert len(found["points"]) == 4
    assert min(found["points"]) > 0
    assert found["writes"] > 0
