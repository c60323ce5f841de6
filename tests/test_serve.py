"""``copyback serve``: real programs on a drive whose every request runs again."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import copyback
import nbd
from copyback._core import InputError
from copyback.data.parquet import read_parquet
from copyback.serve.ask import ask
from copyback.serve.facts import facts
from nbd import RefusedError, Served, replayed, rows, serving
from processes import ending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import RunCli

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="works on Linux only")


@pytest.fixture
def drive(fast: Path, tmp_path: Path) -> Iterator[Served]:
    with serving(fast, tmp_path / "drive.sock") as served:
        yield served


def hammer(client: nbd.Client, requests: int, seed: int = 1, outstanding: int = 16) -> int:
    """Ask at random, many at a time; return how many requests that were."""
    draw = random.Random(seed)
    inside = 0
    for _ in range(requests):
        page = draw.randrange(client.size // 4096 - 4)
        offset, length = page * 4096 + draw.choice((0, 0, 512)), draw.choice((4096, 512, 8192))
        command = draw.choices((nbd.READ, nbd.WRITE, nbd.TRIM, nbd.FLUSH), (4, 8, 1, 1))[0]
        if command == nbd.FLUSH:
            client.send(command)
        elif command == nbd.WRITE:
            client.send(command, offset, length, draw.randbytes(length))
        else:
            client.send(command, offset, length)
        inside += 1
        if inside == outstanding:
            client.receive()
            inside -= 1
    for _ in range(inside):
        client.receive()
    return requests


def test_the_handshake_tells_what_the_drive_can_do(drive: Served) -> None:
    with drive.client() as client:
        assert client.size == 4 * 32 * 16 * 4096 * 3 // 4
        # Flags, flush, force unit access, trim, write zeroes, several connections.
        assert client.flags == 1 | 4 | 8 | 32 | 64 | 256
        assert client.blocks == (1, 4096, 32 << 20)
    with drive.client(begin=False) as client:
        client.socket.sendall(struct.pack(">I", 3))
        assert list(client.option(nbd.LIST, b"")) == [(2, b"\0\0\0\0"), (1, b"")]
        assert [kind for kind, _ in client.option(99, b"")] == [(1 << 31) + 1]
        with pytest.raises(RefusedError):
            client.go("nobody")
        assert client.go("")[0] > 0, "a client may try again"


def test_what_is_written_is_read_also_by_others(drive: Served) -> None:
    with drive.client() as one, drive.client() as other:
        draw = random.Random(3)
        mirror = bytearray(256 << 10)
        for _ in range(200):
            offset, length = draw.randrange(200 << 10), draw.randrange(1, 40 << 10)
            length = min(length, len(mirror) - offset)
            match draw.choice(("write", "zero", "zero solid", "write")):
                case "write":
                    data = draw.randbytes(length)
                    one.write(offset, data, draw.choice((0, nbd.FUA)))
                    mirror[offset : offset + length] = data
                case how:
                    flags = nbd.NO_HOLE if how == "zero solid" else 0
                    one.ask(nbd.WRITE_ZEROES, offset, length, flags=flags)
                    mirror[offset : offset + length] = bytes(length)
            assert other.read(offset, length) == mirror[offset : offset + length]
        one.ask(nbd.FLUSH)
        assert other.read(0, len(mirror)) == mirror


def test_a_trim_forgets_whole_pages_and_no_others(drive: Served) -> None:
    with drive.client() as client:
        client.write(0, b"x" * 16384)
        client.ask(nbd.TRIM, 100, 8192)
        assert client.read(0, 16384) == b"x" * 4096 + bytes(4096) + b"x" * 8192


def test_what_makes_no_sense_is_refused_and_the_connection_goes_on(drive: Served) -> None:
    with drive.client() as client:
        for error, command, offset, length, flags in [
            (22, nbd.READ, client.size - 1, 2, 0),
            (28, nbd.WRITE, client.size - 1, 2, 0),
            (22, nbd.TRIM, client.size, 1, 0),
            (22, nbd.READ, 0, 0, 0),
            (22, nbd.READ, 0, 33 << 20, 0),
            (22, nbd.READ, 0, 512, 128),
            (22, 77, 0, 512, 0),
            (22, nbd.FLUSH, 512, 0, 0),
        ]:
            data = bytes(length) if command == nbd.WRITE else b""
            with pytest.raises(RefusedError) as refused:
                client.ask(command, offset, length, data, flags)
            assert refused.value.number == error
        assert client.read(0, 4) == bytes(4)
    told = drive.end()
    assert "command 1 of 2 bytes" in told
    assert "was refused: NoSpace" in told


def test_rubbish_costs_only_its_connection(drive: Served) -> None:
    for rubbish in (b"GET / HTTP/1.1\r\n\r\n", bytes(64), b"\xff" * 4096):
        with drive.client(begin=False) as client:
            client.socket.sendall(rubbish)
            with pytest.raises((EOFError, ConnectionError)):
                client.take(1)
    with drive.client() as client:
        client.socket.sendall(b"no request of NBD, but long enough")
        with pytest.raises((EOFError, ConnectionError)):
            client.take(1)
    with drive.client() as client:
        client.write(0, b"still here")
        assert client.read(0, 10) == b"still here"
    told = drive.end()
    assert "does not speak NBD's fixed newstyle" in told
    assert "sends what is no request of NBD; it was cut off" in told


def test_a_hundred_clients_and_those_that_break_off_hinder_nobody(drive: Served) -> None:
    clients = [drive.client() for _ in range(100)]
    for number, client in enumerate(clients):
        client.send(nbd.WRITE, number * 4096, 4096, bytes([number]) * 4096)
    # Every other one goes without waiting, some in the middle of a request.
    for client in clients[::2]:
        client.socket.sendall(struct.pack(">IHH", 0x25609513, 0, 1))
        client.socket.close()
    for client in clients[1::2]:
        client.receive()
    for number, client in list(enumerate(clients))[1::2]:
        assert client.read(number * 4096, 4096) == bytes([number]) * 4096
        client.socket.close()
    with drive.client() as last:
        assert last.read(0, 1) == b"\0"
    assert "broken off with 1 requests unanswered" in drive.end()


def peak_mib(process: subprocess.Popen[str]) -> int:
    """Return the most memory that a process has held, in MiB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) >> 10


def test_all_clients_together_have_a_bound(drive: Served) -> None:
    begins = peak_mib(drive.process)
    # Each less than a single client may have, but 992 MiB together; nobody reads an answer.
    clients = [drive.client() for _ in range(8)]
    for client in clients:
        for _ in range(31):
            client.send(nbd.READ, 0, 4 << 20)
    # Whoever has nothing under way is served meanwhile.
    with drive.client() as small:
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            small.write(5 << 20, b"small")
            assert small.read(5 << 20, 5) == b"small"
    assert peak_mib(drive.process) < begins + 512 + 96
    # Requests that waited are served once the answers before them are read.
    with ThreadPoolExecutor(len(clients)) as readers:
        for length in readers.map(
            lambda client: sum(len(client.receive()[2]) for _ in range(31)), clients
        ):
            assert length == 31 * (4 << 20)
    assert peak_mib(drive.process) < begins + 512 + 96
    for client in clients:
        client.socket.close()
    assert "waits, as all clients together have 5" in drive.end()


def test_a_client_that_forces_unit_access_is_not_stopped(drive: Served) -> None:
    # More than the 128 MiB that a client may have under way at once.
    with drive.client() as client:
        for _ in range(35):
            client.write(0, bytes(4 << 20), nbd.FUA)
        assert client.read(0, 1) == b"\0"


def test_a_thousand_requests_are_in_flight(fast: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    with serving(fast, tmp_path / "drive.sock", "--slower=100", "--log", log) as served:
        with served.client() as client:
            for number in range(1024):
                client.send(nbd.READ, number * 4096, 4096)
            assert {client.receive()[0] for _ in range(1024)} == set(range(1, 1025))
        served.end()
    table = read_parquet(log)
    begins = table["arrival_ns"].values
    ends = begins + table["response_ns"].values
    outstanding = [((begins <= at) & (ends > at)).sum() for at in begins]
    assert max(outstanding) > 900, "they were there together"


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"host.queue_depth": "2"},
        {"ssd.buffer.capacity": '"64KiB"', "ssd.gc.preemption": '"semi_preemptive"'},
        {"ssd.ftl.mapping": '{ type = "demand_paged", cache = "1KiB" }'},
        {"array.devices": "4", "array.layout": '"raid5"', "array.stripe": '"16KiB"'},
        {"array.devices": "3", "array.layout": '"raid0"', "array.queue_depth": "4"},
        {"ssd.power.protection": '"none"', "ssd.buffer.capacity": '"64KiB"'},
        {"precondition.fill": "1.0", "precondition.overwrites": "1.0"},
        {"ssd.timing.read": '"40us"', "ssd.ftl.allocation": '"dynamic"'},
    ],
)
def test_the_log_gives_the_very_responses_again(
    settings: dict[str, str], fast: Path, tmp_path: Path
) -> None:
    sets = [f"--set={key}={value}" for key, value in settings.items()]
    log = tmp_path / "log.parquet"
    with serving(fast, tmp_path / "drive.sock", "--log", log, *sets) as served:
        with served.client() as one, served.client() as other:
            hammer(one, 700, seed=1, outstanding=24)
            hammer(other, 300, seed=2, outstanding=3)
        served.end(signal.SIGTERM)
    live = read_parquet(log)
    assert len(live) == 1000
    for _ in range(2):
        assert replayed(fast, log, settings) == rows(live)
    # What clients saw is never less, and is there for all but the first of two parts.
    seen = live["measured_response_ns"]
    assert seen.is_valid is None or seen.is_valid.all()
    assert (seen.values >= live["response_ns"].values).all()


#: The log of a drive that was served somewhere else. `COPYBACK_SERVED_LOG=write` serves it here and
#: stores the log anew: where the model, and so the responses, are others.
STORED = Path(__file__).with_name("served") / "requests.parquet"

#: A drive with all that might depend on a machine: random choices, a buffer, a table in flash.
STORED_SETTINGS = {
    "ssd.ftl.mapping": '{ type = "demand_paged", cache = "1KiB" }',
    "ssd.gc.victim": '{ type = "rga", d = 3 }',
    "ssd.gc.preemption": '"semi_preemptive"',
    "ssd.buffer.capacity": '"64KiB"',
    "precondition.fill": "1.0",
    "precondition.overwrites": "1.0",
}


def test_a_log_of_another_machine_gives_the_same_responses(fast: Path, tmp_path: Path) -> None:
    sets = [f"--set={key}={value}" for key, value in STORED_SETTINGS.items()]
    if os.environ.get("COPYBACK_SERVED_LOG") == "write":
        with serving(fast, tmp_path / "drive.sock", "--log", STORED, *sets) as served:
            with served.client() as one, served.client() as other:
                hammer(one, 1_500, seed=1, outstanding=24)
                hammer(other, 500, seed=2, outstanding=3)
            served.end()
    live = rows(read_parquet(STORED))
    assert len(live) == 2_000
    assert replayed(fast, STORED, STORED_SETTINGS) == live


def test_the_log_says_when_the_clock_of_the_drive_began(fast: Path, tmp_path: Path) -> None:
    """By the calendar, at the first request: so that what programs log is found in it."""
    log = tmp_path / "requests.parquet"
    with serving(fast, tmp_path / "drive.sock", f"--log={log}", "--slower=3") as served:
        assert json.loads(ask(served.socket, "status"))["begun_unix_ns"] is None
        with served.client() as client:
            seen = []
            for _ in range(2):
                time.sleep(0.2)
                before = time.time_ns()
                client.write(0, b"x" * 4096)
                seen.append((before, time.time_ns()))
        served.end()
    told = facts(log)
    assert told is not None
    arrivals = read_parquet(log)["arrival_ns"].to_list()
    for (before, after), arrival in zip(seen, arrivals, strict=True):
        at = told["begun_unix_ns"] + arrival * 3
        # A calendar may be put right meanwhile.
        assert before - 50_000_000 < at < after + 50_000_000


def test_another_drive_is_refused_the_log_and_a_comparison_is_not(
    fast: Path, tmp_path: Path, cli: RunCli
) -> None:
    log = tmp_path / "log.parquet"
    with serving(fast, tmp_path / "drive.sock", "--log", log) as served:
        with served.client() as client:
            hammer(client, 50)
        served.end()
    # No export has named a handle, and so no run of the log speaks of handles.
    assert "handles" not in cli("run", fast, "--trace", log).stdout
    for other in ("--seed=5", "--set=ssd.gc.victim=fifo", "--set=precondition.fill=0.5"):
        told = cli("run", fast, "--trace", log, other, status=2).stderr
        assert f"{log}: the log of a drive with the digest" in told
        assert "copyback compare" in told
        assert len(told.splitlines()) == 1
    with pytest.raises(InputError, match="the log of a drive"):
        copyback.run(fast, trace=log, seed=5)
    over = (f"--over=trace={log}", "--over=ssd.gc.victim=greedy,fifo")
    told = cli("compare", fast, *over, "--out", tmp_path / "compared").stderr
    assert "requests come when they came then" in told


def test_a_log_goes_on_from_a_saved_state(fast: Path, tmp_path: Path, cli: RunCli) -> None:
    with fast.open("a") as config:
        config.write("[precondition]\nfill = 1.0\noverwrites = 1.0\n")
    state, log = tmp_path / "state", tmp_path / "log.parquet"
    cli("precondition", fast, "--save", state)
    with serving(fast, tmp_path / "drive.sock", "--log", log, "--state", state) as served:
        with served.client() as client:
            hammer(client, 300)
        served.end()
    live = rows(read_parquet(log))
    for start in (state, None):
        again = copyback.run(fast, trace=log, requests=True, state=start).requests
        assert rows(again) == live


def test_the_page_of_a_served_drive_is_that_of_its_log(fast: Path, tmp_path: Path) -> None:
    log, out = tmp_path / "log.parquet", tmp_path / "out"
    with serving(fast, tmp_path / "drive.sock", "--log", log, "--out", out) as served:
        with served.client() as client:
            hammer(client, 200)
        told = served.end()
    assert "answers came late by" in told
    summary = json.loads((out / "summary.json").read_text())
    operations = read_parquet(log)["operation"].values
    assert summary["requests"]["count"] == (operations < 2).sum(), "reads and writes"
    assert any("was served, 1 times slower" in note for note in summary["notes"])
    assert (out / "report.html").stat().st_size > 10_000


def test_a_run_whose_answers_come_late_is_not_to_be_believed(fast: Path, tmp_path: Path) -> None:
    sets = ("--set=ssd.timing.read=1ns", "--set=ssd.timing.transfer_rate=none")
    with serving(fast, tmp_path / "drive.sock", *sets) as served:
        with served.client() as client:
            for _ in range(50):
                client.read(0, 512)
        assert "this run is not to be believed" in served.end()
    with serving(
        fast, tmp_path / "drive.sock", "--set=ssd.timing.read=100us", "--slower=1000"
    ) as served:
        with served.client() as client:
            for _ in range(5):
                client.read(0, 512)
        assert "not to be believed" not in served.end()


def test_time_runs_slower(fast: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    with serving(fast, tmp_path / "drive.sock", "--slower=100", "--log", log) as served:
        with served.client() as client:
            client.read(0, 512)
            client.read(0, 512)
        served.end()
    table = read_parquet(log)
    assert table["arrival_ns"].values[0] == 0
    assert table["arrival_ns"].values[1] >= table["response_ns"].values[0]


def test_a_socket_that_exists_is_left_alone(fast: Path, tmp_path: Path, cli: RunCli) -> None:
    path = tmp_path / "drive.sock"
    with serving(fast, path) as served:
        told = cli("serve", fast, f"--nbd=unix:{path}", status=2).stderr
        assert told == (
            f"copyback: error: {path}: somebody listens there already; "
            "allowed: a name that is free\n"
        )
        with served.client() as client:
            client.read(0, 1)
        served.process.kill()
        served.process.wait()
    # The socket of a server that was killed is in nobody's way.
    with serving(fast, path) as served:
        served.end()
    assert not path.exists()
    path.write_text("mine")
    assert "exists and is no socket" in cli("serve", fast, f"--nbd=unix:{path}", status=2).stderr


def test_data_lie_in_a_sparse_file_and_stay(fast: Path, tmp_path: Path, cli: RunCli) -> None:
    data = tmp_path / "data"
    with serving(fast, tmp_path / "drive.sock", "--data", data) as served:
        with served.client() as client:
            client.write(1 << 20, b"kept")
            size = client.size
        served.end()
    assert data.stat().st_size == size
    assert data.stat().st_blocks * 512 < size // 4
    with serving(fast, tmp_path / "drive.sock", "--data", data) as served:
        with served.client() as client:
            assert client.read(1 << 20, 4) == b"kept"
        told = cli("serve", fast, f"--nbd=unix:{tmp_path}/o.sock", "--data", data, status=2).stderr
        assert "another `copyback serve` has its data there" in told
    other = cli(
        "serve",
        fast,
        "--set=ssd.ftl.over_provisioning=0.5",
        f"--nbd=unix:{tmp_path}/o.sock",
        "--data",
        data,
        status=2,
    ).stderr
    assert f"{data}: found {size} bytes" in other


def test_a_full_disk_under_the_data_is_told_and_nothing_hangs(fast: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(fast, tmp_path / "drive.sock", "--data", data) as served:
        # A limit on the size of files is met as a full disk is: the system refuses the write.
        limit = 1 << 20
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (limit, limit))
        with served.client() as client:
            client.write(0, b"there is room")
            for _ in range(3):
                with pytest.raises(RefusedError) as refused:
                    client.write(2 << 20, b"there is none")
                assert refused.value.number == 28
            assert client.read(0, 13) == b"there is room"
            assert client.read(2 << 20, 5) == bytes(5)
        told = served.end()
    assert f"{data}: File too large" in told


def test_exports_are_ranges_with_handles(fast: Path, tmp_path: Path, cli: RunCli) -> None:
    log = tmp_path / "log.parquet"
    exports = ("--export=one=0B+1MiB@1", "--export=two=1MiB+2MiB@2")
    placement = "--set=ssd.ftl.placement={ type = 'by_hint', handles = 4 }"
    with serving(fast, tmp_path / "drive.sock", "--log", log, placement, *exports) as served:
        with served.client("one") as one, served.client("two") as two:
            assert (one.size, two.size) == (1 << 20, 2 << 20)
            one.write(0, b"first")
            two.write(0, b"second")
            assert (one.read(0, 5), two.read(0, 6)) == (b"first", b"second")
        with served.client(begin=False) as client:
            client.socket.sendall(struct.pack(">I", 3))
            with pytest.raises(RefusedError):
                client.go("")
        served.end()
    table = read_parquet(log)
    writes = table["operation"].values == 1
    assert table["handle"].values[writes].tolist() == [1, 2]
    assert table["offset"].values[writes].tolist() == [0, 1 << 20]
    for bad, said in [
        ("one=0B+1GiB", "allowed: at least one, up to the capacity"),
        ("nothing", "allowed: NAME=OFFSET+LENGTH"),
        ("one=0B+1MiB@70000", "allowed: 0 to 65535"),
    ]:
        told = cli("serve", fast, f"--nbd=unix:{tmp_path}/o.sock", f"--export={bad}", status=2)
        assert said in told.stderr


def test_only_this_machine_is_let_in_unless_it_is_said(fast: Path, cli: RunCli) -> None:
    told = cli("serve", fast, "--nbd=tcp:0.0.0.0:0", status=2).stderr
    assert "there is no password; say --open-to-network if that is meant" in told
    for bad in ("tcp:x", "drive.sock", "tcp:host:1", "unix:", "unix:" + "x" * 200):
        cli("serve", fast, f"--nbd={bad}", status=2)


def test_loopback_works_as_the_socket_does(fast: Path) -> None:
    with ending(
        subprocess.Popen(
            [sys.executable, "-m", "copyback", "serve", str(fast), "--nbd=tcp:0", "--quiet"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    ) as process:
        assert process.stdout is not None
        port = re.search(r"nbd://127\.0\.0\.1:(\d+)", process.stdout.readline())
        assert port is not None
        with socket.create_connection(("127.0.0.1", int(port[1])), timeout=10) as line:
            assert line.recv(16).startswith(b"NBDMAGIC")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0


def test_what_a_served_drive_cannot_do_is_refused(fast: Path, tmp_path: Path, cli: RunCli) -> None:
    at = f"--nbd=unix:{tmp_path}/drive.sock"
    for setting, said in [
        ("ssd.gc.idle=advanced", "ssd.gc.idle"),
        ("ssd.ftl.placement={ type = 'oracle' }", "oracle"),
    ]:
        assert said in cli("serve", fast, at, f"--set={setting}", status=2).stderr
    assert "--log FILE" in cli("serve", fast, at, "--out", tmp_path / "out", status=2).stderr
    assert "--slower" in cli("serve", fast, at, "--slower=0", status=2).stderr
    assert "--nbd" in cli("serve", fast, status=2).stderr
    told = cli("serve", "--status", tmp_path / "drive.sock", status=2).stderr
    assert "no drive is served there" in told


def test_a_running_server_tells_how_its_drive_stands(drive: Served, cli: RunCli) -> None:
    with drive.client() as client:
        for number in range(40):
            client.write(number * 4096, bytes(4096))
        found = json.loads(cli("serve", "--status", drive.socket).stdout)
    assert found["requests"] == 40
    assert found["host_bytes_written"] == 40 * 4096
    assert found["write_amplification"] == found["media_bytes_written"] / (40 * 4096) >= 1.0
    assert found["lateness"]["answers"] == 40
