"""Evaluations of a search, kept in a file as they end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Self

from filelock import FileLock, Timeout

from copyback._core import InputError
from copyback.data.destination import refusal
from copyback.data.outputs import make_parents

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from copyback.calibration.search.aim import Numbers

EVALUATIONS = "evaluations.jsonl"
LOCK = ".lock"


@dataclass(frozen=True)
class Evaluation:
    """Values that were tried, and what they gave.

    Attributes
    ----------
    values
        In the order of the keys that are fitted.
    found
        Simulated numbers of each load; None if the simulation failed.
    fault
        Reason of a failure, else empty.
    """

    values: tuple[float, ...]
    loss: float
    found: dict[Any, Numbers] | None
    fault: str = ""

    @classmethod
    def of(cls, stored: dict[str, Any], place: Callable[[str], Any] = float) -> Evaluation:
        """Return an evaluation from a line of the file.

        Parameters
        ----------
        place
            Makes the place of a load from its text.
        """
        found = stored["found"]
        return cls(
            values=tuple(map(float, stored["values"])),
            loss=float(stored["loss"]),
            found=None if found is None else {place(text): own for text, own in found.items()},
            fault=stored["fault"],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a line of the file."""
        found = None
        if self.found is not None:
            found = {str(place): own for place, own in self.found.items()}
        return {
            "values": list(self.values),
            "loss": self.loss,
            "found": found,
            "fault": self.fault,
        }


class Kept:
    """The file of evaluations in a directory, held by one process at a time.

    Parameters
    ----------
    directory
        Where it is; without one, nothing is kept.
    head
        Facts of the search. A file with others is refused.
    place
        Makes the place of a load from its text.
    """

    def __init__(
        self, directory: Path | None, head: dict[str, Any], place: Callable[[str], Any]
    ) -> None:
        self._directory = directory
        self._head = head
        self._place = place
        self._file: IO[bytes] | None = None
        self.known: dict[tuple[float, ...], Evaluation] = {}

    def __enter__(self) -> Self:
        if self._directory is None:
            return self
        make_parents(self._directory)
        self._lock = FileLock(self._directory / LOCK)
        try:
            self._lock.acquire(timeout=0)
            self._open(self._directory / EVALUATIONS)
        except Timeout:
            raise InputError(f"{self._directory}: another calibration is running here") from None
        except OSError as fault:
            raise refusal(self._directory, fault) from None
        except InputError:
            self._release(self._directory)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None and self._directory is not None:
            self._file.close()
            self._release(self._directory)

    def add(self, one: Evaluation) -> None:
        """Keep an evaluation."""
        self.known[one.values] = one
        self._write(one.to_dict())

    def _open(self, path: Path) -> None:
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        # A process that is killed may leave half a line.
        whole = [line for line in lines if line.endswith(b"\n")]
        stored = [_read(line, f"{path}:{number}") for number, line in enumerate(whole, 1)]
        if stored:
            _check(stored[0], self._head, path)
            evaluations = [Evaluation.of(line, self._place) for line in stored[1:]]
            self.known = {one.values: one for one in evaluations}
        # Unbuffered: what has ended is kept, whatever ends the process.
        self._file = path.open("ab", buffering=0)
        self._file.truncate(sum(map(len, whole)))
        if not stored:
            self._write(self._head)

    def _write(self, fields: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(fields, separators=(",", ":")).encode() + b"\n")

    def _release(self, directory: Path) -> None:
        (directory / LOCK).unlink(missing_ok=True)
        self._lock.release()


def _read(line: bytes, place: str) -> dict[str, Any]:
    try:
        stored: dict[str, Any] = json.loads(line)
    except ValueError:
        stored = {}
    if not isinstance(stored, dict) or not stored.keys() >= {"values", "loss", "found", "fault"}:
        if isinstance(stored, dict) and "schema" in stored:
            return stored
        raise InputError(f"{place}: found no evaluation; allowed: lines that this command wrote")
    return stored


def _check(stored: dict[str, Any], head: dict[str, Any], path: Path) -> None:
    """Refuse the evaluations of another search."""
    # As the file has it: tuples are lists.
    expected = json.loads(json.dumps(head))
    for name in expected:
        if stored.get(name) != expected[name]:
            raise InputError(
                f"{path}:1: found a search with another {name}; "
                "allowed: the one that goes on, or a new directory"
            )
