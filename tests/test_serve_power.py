"""``copyback serve`` when the power is cut: what comes back is what the drive has found."""

from __future__ import annotations

import contextlib
import json
import random
import struct
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

import copyback
import nbd
from copyback.data.parquet import read_parquet
from copyback.serve.ask import ask
from copyback.serve.facts import caveat, facts
from nbd import FAST, MAPPINGS, Served, replayed, rows, serving

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="works on Linux only")

PAGE = 4096

#: The pages that a client uses: few, so that blocks are collected and older versions are near.
PAGES = 96

#: What a drive needs to lose anything.
UNPROTECTED = {"ssd.power.protection": '"none"', "ssd.power.cuts": '"on_command"'}

BUFFER = {"ssd.buffer.capacity": '"64KiB"'}
LIES = {"ssd.power.flush": '"ignored"'}


@pytest.fixture
def fast(tmp_path: Path) -> Path:
    path = tmp_path / "fast.toml"
    # Cuts come while pages are being programmed, and blocks erased.
    path.write_text(FAST.replace('program = "20us"', 'program = "200us"'))
    return path


def sets(settings: dict[str, str]) -> list[str]:
    return [f"--set={key}={value}" for key, value in settings.items()]


def content(page: int, version: int) -> bytes:
    return struct.pack("<II", page + 1, version) * (PAGE // 8)


@dataclass
class Seen:
    """What a client knows of a page: which versions it may read after a cut."""

    #: All versions that it has ever asked for, 0 being zeroes.
    asked: set[int] = field(default_factory=lambda: {0})
    #: Versions up to this one may not come back.
    floor: int = 0
    #: The last version that was acknowledged.
    last: int = 0
    #: Whether it was trimmed since the last cut: then any version may come back.
    trimmed: bool = False


@dataclass
class Host:
    """A program that remembers what it was promised."""

    draw: random.Random
    trims: bool = False
    pages: list[Seen] = field(default_factory=lambda: [Seen() for _ in range(PAGES)])
    version: int = 0
    #: Pages of which an acknowledged write was gone after a cut, flushed or not.
    lost: int = 0
    #: Those that had been flushed.
    broken: list[str] = field(default_factory=list)

    def work(self, client: nbd.Client, requests: int, *, waits: bool = False) -> None:
        """Ask at random, up to eight at a time; unless it waits, some are left unanswered."""
        asked: dict[int, tuple[int, int, list[Seen]]] = {}
        for _ in range(requests):
            command = self.draw.choices((nbd.WRITE, nbd.FLUSH, nbd.TRIM), (20, 1, self.trims))[0]
            page = self.draw.randrange(PAGES)
            # Two writes of a page at a time may end in any order.
            while any(page == other for _, other, _ in asked.values()):
                page = self.draw.randrange(PAGES)
            self.ask(client, asked, command, page)
            while len(asked) >= 8:
                self.hear(client, asked)
        for _ in range(len(asked) if waits else self.draw.randrange(len(asked) + 1)):
            self.hear(client, asked)

    def ask(
        self,
        client: nbd.Client,
        asked: dict[int, tuple[int, int, list[Seen]]],
        command: int,
        page: int,
    ) -> None:
        if command == nbd.FLUSH:
            promised = [Seen(floor=seen.last) for seen in self.pages]
            asked[client.send(command)] = command, -1, promised
        elif command == nbd.TRIM:
            self.pages[page].trimmed = True
            asked[client.send(command, page * PAGE, PAGE)] = command, page, []
        else:
            self.version += 1
            self.pages[page].asked.add(self.version)
            data = content(page, self.version)
            cookie = client.send(command, page * PAGE, PAGE, data)
            asked[cookie] = command, page, [Seen(last=self.version)]

    def hear(self, client: nbd.Client, asked: dict[int, tuple[int, int, list[Seen]]]) -> None:
        cookie, error, _ = client.receive()
        assert error == 0
        command, page, told = asked.pop(cookie)
        if command == nbd.WRITE:
            self.pages[page].last = told[0].last
        elif command == nbd.FLUSH:
            for seen, promised in zip(self.pages, told, strict=True):
                seen.floor = max(seen.floor, promised.floor)

    def look(self, client: nbd.Client) -> None:
        """Read all after a cut, and see that no promise was broken."""
        for page, seen in enumerate(self.pages):
            data = client.read(page * PAGE, PAGE)
            named, version = struct.unpack("<II", data[:8])
            if version:
                assert data == content(page, version), f"page {page} is one that was written"
            else:
                assert data == bytes(PAGE)
                named = page + 1
            assert named == page + 1
            assert version in seen.asked
            self.lost += version < seen.last and not seen.trimmed
            if version < seen.floor and not seen.trimmed:
                self.broken.append(f"page {page}: {version} after {seen.floor} was flushed")
            # What comes back after a cut lies in the flash.
            seen.floor, seen.last, seen.trimmed = version, version, False


def cut(served: Served) -> dict[str, int]:
    found: dict[str, int] = json.loads(ask(served.socket, "cut"))
    return found


def is_cut_off(client: nbd.Client) -> bool:
    """Take what was answered before the cut; return whether the connection ends then."""
    try:
        while True:
            client.receive()
    except (EOFError, ConnectionError):
        return True
    except TimeoutError:
        return False


def crash(served: Served, host: Host, cuts: int) -> list[dict[str, int]]:
    """Work and cut the power, over and over; the power goes with requests unanswered."""
    found = []
    for _ in range(cuts):
        with served.client() as client:
            host.work(client, host.draw.randrange(10, 60))
            time.sleep(host.draw.random() * 0.002)
            found.append(cut(served))
            assert is_cut_off(client)
        with served.client() as client:
            host.look(client)
    return found


@pytest.fixture(params=[{}, BUFFER], ids=["no buffer", "buffer"])
def buffer(request: pytest.FixtureRequest) -> dict[str, str]:
    settings: dict[str, str] = request.param
    return settings


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_what_was_flushed_is_there_after_fifty_cuts(
    mapping: str, buffer: dict[str, str], fast: Path, tmp_path: Path
) -> None:
    settings = UNPROTECTED | MAPPINGS[mapping] | buffer
    log = tmp_path / "log.parquet"
    host = Host(random.Random(len(mapping)))
    with serving(fast, tmp_path / "drive.sock", "--log", log, *sets(settings)) as served:
        found = crash(served, host, 50)
        told = served.end()
    assert host.broken == []
    assert len(found) == 50
    assert all(one["flushed_pages_lost"] == 0 for one in found)
    assert sum(one["torn_pages"] for one in found) > 0
    # Without a write buffer what is acknowledged is in the flash.
    lost = sum(one["buffered_pages_lost"] for one in found)
    assert (lost > 0, host.lost > 0) == (bool(buffer), bool(buffer))
    assert "the power failed" in told
    # The log gives the same cuts and the very same responses.
    known = facts(log)
    assert known is not None
    assert known["cuts"] == found
    assert "its cuts of power (50) are left out" in str(caveat(log))
    assert replayed(fast, log, settings) == rows(read_parquet(log))


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_a_drive_that_lies_about_flushes_loses_what_was_flushed(
    mapping: str, fast: Path, tmp_path: Path
) -> None:
    settings = UNPROTECTED | MAPPINGS[mapping] | BUFFER | LIES
    log = tmp_path / "log.parquet"
    host = Host(random.Random(5))
    with serving(fast, tmp_path / "drive.sock", "--log", log, *sets(settings)) as served:
        found = crash(served, host, 15)
        served.end()
    assert host.broken
    assert sum(one["flushed_pages_lost"] for one in found) > 0
    assert replayed(fast, log, settings) == rows(read_parquet(log))


def test_trims_come_undone_and_nothing_else_does(fast: Path, tmp_path: Path) -> None:
    settings = UNPROTECTED | BUFFER
    host = Host(random.Random(7), trims=True)
    with serving(fast, tmp_path / "drive.sock", *sets(settings)) as served:
        crash(served, host, 40)
        with served.client() as client:
            client.write(0, content(0, 1), nbd.FUA)
            client.ask(nbd.TRIM, 0, PAGE)
            client.ask(nbd.FLUSH)
            assert client.read(0, PAGE) == bytes(PAGE)
            cut(served)
        with served.client() as client:
            assert client.read(0, PAGE) == content(0, 1)
            # Zeroes that are asked for stay.
            client.ask(nbd.WRITE_ZEROES, 0, PAGE, flags=nbd.FUA)
            cut(served)
        with served.client() as client:
            assert client.read(0, PAGE) == bytes(PAGE)
        served.end()
    assert host.broken == []


def test_what_waited_when_the_power_failed_is_never_written(fast: Path, tmp_path: Path) -> None:
    settings = UNPROTECTED | {"host.queue_depth": "1"}
    with serving(fast, tmp_path / "drive.sock", "--slower=50", *sets(settings)) as served:
        with served.client() as client:
            # Each takes a hundredth of a second.
            for page in range(32):
                client.send(nbd.WRITE, page * PAGE, PAGE, content(page, 1))
            client.receive()
            cut(served)
        with served.client() as client:
            found = [client.read(page * PAGE, PAGE) for page in range(32)]
            again = [client.read(page * PAGE, PAGE) for page in range(32)]
        served.end()
    assert found == again
    written = [page for page, data in enumerate(found) if data != bytes(PAGE)]
    assert written == list(range(len(written))), "those that came first"
    assert 1 <= len(written) < 16


def test_parts_of_pages_come_back_with_the_page(fast: Path, tmp_path: Path) -> None:
    with serving(fast, tmp_path / "drive.sock", *sets(UNPROTECTED | BUFFER)) as served:
        with served.client() as client:
            client.write(0, b"a" * PAGE, nbd.FUA)
            client.write(512, b"b" * 512, nbd.FUA)
            client.write(1024, b"c" * 512)
            cut(served)
        with served.client() as client:
            assert client.read(0, 2048) == b"a" * 512 + b"b" * 512 + b"a" * 1024
        served.end()


def test_what_the_data_file_held_before_is_there_again(fast: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    arguments = (f"--data={data}", *sets(UNPROTECTED | BUFFER))
    with serving(fast, tmp_path / "drive.sock", *arguments) as served:
        with served.client() as client:
            client.write(0, b"old" * 1000, nbd.FUA)
        served.end()
    with serving(fast, tmp_path / "drive.sock", *arguments) as served:
        with served.client() as client:
            client.write(0, b"new" * 1000)
            assert client.read(0, 3) == b"new"
            cut(served)
        with served.client() as client:
            assert client.read(0, 3000) == b"old" * 1000
        served.end()
    assert data.read_bytes()[:3000] == b"old" * 1000


def test_capacitors_keep_all_that_was_acknowledged(fast: Path, tmp_path: Path) -> None:
    settings = {"ssd.power.cuts": '"on_command"'} | BUFFER
    log = tmp_path / "log.parquet"
    host = Host(random.Random(9), trims=True)
    with serving(fast, tmp_path / "drive.sock", "--log", log, *sets(settings)) as served:
        found = crash(served, host, 10)
        served.end()
    assert host.lost == 0
    assert all(one["back_at_ns"] > one["at_ns"] for one in found)
    assert replayed(fast, log, settings) == rows(read_parquet(log))


def test_cuts_at_random_are_those_of_the_configuration(fast: Path, tmp_path: Path) -> None:
    cuts = {"ssd.power.cuts": '{ type = "random", count = 25, mean_interval = "40ms" }'}
    settings = UNPROTECTED | BUFFER | cuts
    log = tmp_path / "log.parquet"
    host = Host(random.Random(3))
    with serving(fast, tmp_path / "drive.sock", "--log", log, *sets(settings)) as served:
        for _ in range(15):
            with contextlib.suppress(EOFError, ConnectionError), served.client() as client:
                host.look(client)
                while True:
                    host.work(client, 20, waits=True)
        assert "on_command" in refusal(served)
        served.end()
    assert host.broken == []
    assert len(facts(log)["cuts"]) >= 15  # type: ignore[index]
    assert replayed(fast, log, settings) == rows(read_parquet(log))


def refusal(served: Served) -> str:
    with pytest.raises(copyback.InputError) as refused:
        cut(served)
    return str(refused.value)


def test_the_drive_comes_back_when_it_has_found_its_pages(fast: Path, tmp_path: Path) -> None:
    slow = ("--slower=20", "--set=ssd.timing.read=50us")
    with serving(fast, tmp_path / "drive.sock", *slow, *sets(UNPROTECTED)) as served:
        with served.client() as client:
            client.write(0, b"x" * PAGE)
            found = cut(served)
        begun = time.monotonic()
        with served.client() as client:
            assert client.read(0, 1) == b"x"
        waited = time.monotonic() - begun
        served.end()
    recovery_s = (found["back_at_ns"] - found["at_ns"]) * 1e-9
    assert recovery_s > 0.003
    assert waited > 0.9 * 20 * recovery_s


def test_what_cannot_be_cut_is_told(fast: Path, tmp_path: Path, cli: RunCli) -> None:
    with serving(fast, tmp_path / "drive.sock", *sets(UNPROTECTED)) as served:
        assert "its clock begins with the first request" in refusal(served)
        with served.client() as client:
            client.read(0, 1)
            told = json.loads(cli("serve", "--cut", served.socket).stdout)
            assert told["at_ns"] > 0
            with pytest.raises((EOFError, ConnectionError)):
                client.take(1)
        status = json.loads(cli("serve", "--status", served.socket).stdout)
        assert status["power_loss"]["cuts"] == 1
        served.end()
    with serving(fast, tmp_path / "drive.sock") as served:
        with served.client() as client:
            client.read(0, 1)
            told_refused = cli("serve", "--cut", served.socket, status=2).stderr
            assert "ssd.power.cuts" in told_refused
            assert len(told_refused.splitlines()) == 1
            assert client.read(0, 1) == b"\0"
        served.end()
    several = ("--set=array.devices=2", "--set=array.layout=raid0")
    nowhere = f"--nbd=unix:{tmp_path}/o.sock"
    told_refused = cli("serve", fast, nowhere, *sets(UNPROTECTED), *several, status=2).stderr
    assert "array.devices: found 2" in told_refused


@pytest.mark.parametrize("pages", [1, 2])
def test_a_flushed_page_is_gone_with_one_that_shares_its_cells(
    fast: Path, tmp_path: Path, pages: int
) -> None:
    """And only if pages share cells."""
    settings = {
        **UNPROTECTED,
        "ssd.geometry.channels": "1",
        "ssd.geometry.planes_per_die": "1",
        "ssd.power.paired_pages": str(pages),
    }
    log = tmp_path / "requests.parquet"
    lost = pages - 1
    with serving(
        fast, tmp_path / "drive.sock", *sets(settings), f"--log={log}", "--slower=500"
    ) as served:
        with served.client() as client:
            client.write(0, content(0, 1), nbd.FUA)
            # Its program takes a tenth of a second.
            client.send(nbd.WRITE, PAGE, PAGE, content(1, 2))
            time.sleep(0.03)
            cut = json.loads(ask(served.socket, "cut"))
        assert (cut["torn_pages"], cut["paired_pages_lost"]) == (1, lost)
        with served.client() as client:
            assert client.read(0, PAGE) == (bytes(PAGE) if lost else content(0, 1))
            assert client.read(PAGE, PAGE) == bytes(PAGE)
        told = served.end()
        assert ("lost with them though they were durable" in told) == bool(lost)
    assert replayed(fast, log, settings) == rows(read_parquet(log))


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_no_durable_page_is_lost_but_with_those_that_share_its_cells(
    mapping: str, fast: Path, tmp_path: Path
) -> None:
    """Whatever comes back was written once, and what a replay finds is the same."""
    settings = UNPROTECTED | MAPPINGS[mapping] | {"ssd.power.paired_pages": "4"}
    log = tmp_path / "log.parquet"
    host = Host(random.Random(9))
    with serving(fast, tmp_path / "drive.sock", "--log", log, *sets(settings)) as served:
        found = crash(served, host, 40)
        served.end()
    # Without a buffer all that was acknowledged was durable.
    assert host.lost <= sum(one["paired_pages_lost"] for one in found)
    assert sum(one["torn_pages"] for one in found) > 0
    assert replayed(fast, log, settings) == rows(read_parquet(log))
