"""Address of a served drive, and which parts of it are served under which name."""

from __future__ import annotations

import ipaddress
import os
import re

from copyback._core import InputError, size_bytes

#: An export's name, range and placement handle: ``tenant=1GiB+1GiB@2``.
_EXPORT = re.compile(
    r"(?P<name>[^=]+)=(?P<offset>[^+@]+)\+(?P<length>[^+@]+)(@(?P<handle>\d+))?", re.ASCII
)

#: Most bytes of the name of a Unix socket, with the zero behind it.
_LONGEST_SOCKET = 108

LOOPBACK = "127.0.0.1"


def address(text: str, *, open_to_network: bool = False) -> str:
    """Return the address to listen on, whole.

    Only this machine is let in unless it is said that the network may.

    >>> address("tcp:10809")
    'tcp:127.0.0.1:10809'
    """
    kind, colon, place = text.partition(":")
    if kind == "unix" and place:
        if len(os.fsencode(place)) >= _LONGEST_SOCKET:
            raise InputError(
                f"--nbd {text}: found a name of {len(os.fsencode(place))} bytes; allowed for a "
                f"socket: {_LONGEST_SOCKET - 1}"
            )
        return text
    if kind != "tcp" or not colon:
        raise InputError(
            f"--nbd {text}: allowed: unix:PATH, tcp:PORT for this machine only, or tcp:ADDRESS:PORT"
        )
    host, _, port = place.rpartition(":")
    return f"tcp:{_host(host.strip('[]') or LOOPBACK, text, open_to_network)}:{_port(port, text)}"


def _host(host: str, text: str, open_to_network: bool) -> str:
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        raise InputError(
            f"--nbd {text}: {host} is no address; allowed: one such as {LOOPBACK}"
        ) from None
    if not found.is_loopback and not open_to_network:
        raise InputError(
            f"--nbd {text}: whoever reaches {host} could read and write all of it, as there is no "
            "password; say --open-to-network if that is meant"
        )
    return f"[{found}]" if found.version == 6 else str(found)


def _port(port: str, text: str) -> int:
    if not (port.isascii() and port.isdecimal() and int(port) <= 65535):
        raise InputError(f"--nbd {text}: {port!r} is no port; allowed: 0 to 65535")
    return int(port)


def export(text: str) -> tuple[str, int, int, int | None]:
    """Return name, first byte, bytes and placement handle of an export.

    >>> export("tenant=1MiB+2MiB@3")
    ('tenant', 1048576, 2097152, 3)
    """
    found = _EXPORT.fullmatch(text)
    if found is None:
        raise InputError(
            f"--export {text}: allowed: NAME=OFFSET+LENGTH or NAME=OFFSET+LENGTH@HANDLE, such as "
            "tenant=0B+1GiB@2"
        )
    try:
        offset, length = size_bytes(found["offset"]), size_bytes(found["length"])
    except InputError as fault:
        raise InputError(f"--export {text}: {fault}") from None
    handle = None if found["handle"] is None else int(found["handle"])
    if handle is not None and handle > 0xFFFF:
        raise InputError(f"--export {text}: found handle {handle}; allowed: 0 to 65535")
    return found["name"], offset, length, handle


def control_of(nbd: str) -> str | None:
    """Return the socket on which a server at `nbd` takes commands, if it has one.

    >>> control_of("unix:drive.sock")
    'drive.sock.control'
    """
    kind, _, path = nbd.partition(":")
    return f"{path}.control" if kind == "unix" else None
