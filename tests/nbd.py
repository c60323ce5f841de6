"""The smallest NBD client that tests need, and a served drive to talk to."""

from __future__ import annotations

import contextlib
import signal
import socket
import struct
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import copyback

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READ, WRITE, DISCONNECT, FLUSH, TRIM, WRITE_ZEROES = 0, 1, 2, 3, 4, 6
FUA, NO_HOLE = 1, 2

#: A fast drive, so that tests do not wait for its flash.
FAST = """
[ssd.geometry]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 32
pages_per_block = 16
page_size = "4KiB"
[ssd.timing]
read = "5us"
program = "20us"
erase = "100us"
[ssd.ftl]
over_provisioning = 0.25
"""

#: Every mapping that it may have.
MAPPINGS: dict[str, dict[str, str]] = {
    "page": {},
    "table in flash": {"ssd.ftl.mapping": '{ type = "demand_paged", cache = "1KiB" }'},
    "log block": {"ssd.ftl.mapping": '"log_block"', "ssd.ftl.over_provisioning": "0.4"},
    "buffered log block": {
        "ssd.ftl.mapping": '"buffered_log_block"',
        "ssd.ftl.over_provisioning": "0.5",
    },
    "superblock": {"ssd.ftl.mapping": '"superblock"', "ssd.ftl.over_provisioning": "0.4"},
}

OPTION = b"IHAVEOPT"
LIST, INFO, GO = 3, 6, 7


class RefusedError(Exception):
    """The server answered with an error."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Client:
    """One connection."""

    def __init__(self, path: Path, name: str = "", *, begin: bool = True) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(str(path))
        self.cookie = 0
        self.lengths: dict[int, int] = {}
        try:
            self.meet(name, begin=begin)
        except BaseException:
            self.socket.close()
            raise

    def meet(self, name: str, *, begin: bool) -> None:
        greeting = self.take(18)
        assert greeting[:16] == b"NBDMAGIC" + OPTION
        assert struct.unpack(">H", greeting[16:])[0] & 3 == 3
        if begin:
            self.socket.sendall(struct.pack(">I", 3))
            self.size, self.flags, self.blocks = self.go(name)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def take(self, count: int) -> bytes:
        parts = b""
        while len(parts) < count:
            part = self.socket.recv(count - len(parts))
            if not part:
                raise EOFError
            parts += part
        return parts

    def option(self, option: int, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Send an option; yield what it is answered with."""
        self.socket.sendall(OPTION + struct.pack(">II", option, len(data)) + data)
        while True:
            magic, answered, kind, length = struct.unpack(">QIII", self.take(20))
            assert magic == 0x3E889045565A9
            assert answered == option
            yield kind, self.take(length)
            if kind == 1 or kind >> 31:
                return

    def go(self, name: str) -> tuple[int, int, tuple[int, int, int]]:
        encoded = name.encode()
        data = struct.pack(">I", len(encoded)) + encoded + struct.pack(">HH", 1, 3)
        size, flags, blocks = 0, 0, (0, 0, 0)
        for kind, answer in self.option(GO, data):
            if kind >> 31:
                raise RefusedError(kind & 0xFFFF)
            if kind == 3 and answer[:2] == b"\0\0":
                size, flags = struct.unpack(">QH", answer[2:])
            elif kind == 3 and answer[:2] == b"\0\3":
                blocks = struct.unpack(">III", answer[2:])
        return size, flags, blocks

    def send(
        self, command: int, offset: int = 0, length: int = 0, data: bytes = b"", flags: int = 0
    ) -> int:
        """Ask without waiting; return the cookie."""
        self.cookie += 1
        self.lengths[self.cookie] = length if command == READ else 0
        head = struct.pack(">IHHQQI", 0x25609513, flags, command, self.cookie, offset, length)
        self.socket.sendall(head + data)
        return self.cookie

    def receive(self) -> tuple[int, int, bytes]:
        """Return cookie, error and data of the next answer."""
        magic, error, cookie = struct.unpack(">IIQ", self.take(16))
        assert magic == 0x67446698
        length = self.lengths.pop(cookie)
        return cookie, error, b"" if error else self.take(length)

    def ask(
        self, command: int, offset: int = 0, length: int = 0, data: bytes = b"", flags: int = 0
    ) -> bytes:
        """Ask and wait for the answer."""
        cookie = self.send(command, offset, length, data, flags)
        answered, error, found = self.receive()
        assert answered == cookie
        if error:
            raise RefusedError(error)
        return found

    def read(self, offset: int, length: int) -> bytes:
        return self.ask(READ, offset, length)

    def write(self, offset: int, data: bytes, flags: int = 0) -> None:
        self.ask(WRITE, offset, len(data), data, flags)


@dataclass
class Served:
    """A drive that is served by a process."""

    socket: Path
    process: subprocess.Popen[str]
    outputs: list[str] = field(default_factory=list)

    def end(self, number: int = signal.SIGINT, status: int = 0) -> str:
        """End it; return what it wrote on standard error."""
        self.process.send_signal(number)
        out, told = self.process.communicate(timeout=60)
        self.outputs += [out, told]
        assert self.process.returncode == status, told
        return told

    def client(self, name: str = "", *, begin: bool = True) -> Client:
        return Client(self.socket, name, begin=begin)


@contextlib.contextmanager
def serving(config: Path, socket_path: Path, *arguments: str | Path) -> Iterator[Served]:
    """Serve a drive in a process of its own; it is ended if the test has not."""
    command = [sys.executable, "-m", "copyback", "serve", str(config), f"--nbd=unix:{socket_path}"]
    process = subprocess.Popen(
        [*command, "--quiet", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        if not told.startswith("Serving "):
            raise AssertionError(process.communicate()[1])
        yield Served(socket_path, process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def rows(table: Any) -> list[tuple[int, ...]]:
    """Return the requests of a log or a run, and what they took, in an order of their own."""
    names = ("arrival_ns", "operation", "offset", "bytes", "response_ns")
    columns = [table[name].values.tolist() for name in names]
    return sorted(zip(*columns, strict=True))


def replayed(config: Path, log: Path, settings: dict[str, str]) -> list[tuple[int, ...]]:
    """Return what a run of a log gives."""
    overrides: dict[str, Any] = {
        key.replace(".", "__"): tomllib.loads(f"value = {value}")["value"]
        for key, value in settings.items()
    }
    again = copyback.run(config, trace=log, requests=True, **overrides).requests
    assert again is not None
    return rows(again)
