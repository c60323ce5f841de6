"""Asks a running server something, on the socket on which it takes commands."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.serve.address import control_of

if TYPE_CHECKING:
    from pathlib import Path

#: How long, in seconds, a server may take to answer.
_PATIENCE = 30.0


def ask(drive: Path, command: str) -> str:
    """Return the answer of the server whose drive is on the socket `drive`."""
    path = control_of(f"unix:{drive}")
    assert path is not None, "a Unix socket has one"
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(_PATIENCE)
        try:
            line.connect(path)
            line.sendall(f"{command}\n".encode())
            with line.makefile("r", encoding="utf-8") as answers:
                answer = answers.readline().strip()
        except OSError as fault:
            raise InputError(
                f"{drive}: no drive is served there: {path}: {fault.strerror or fault}"
            ) from None
    if not answer:
        raise InputError(f"{drive}: the server did not answer {command!r}")
    if refused := json.loads(answer).get("refused"):
        raise InputError(f"{drive}: {refused}")
    return answer
