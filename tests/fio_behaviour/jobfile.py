"""The text of a job file: jobs, each with its options and those of ``[global]`` before it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: Other names of options (HOWTO, "I/O type" and others).
_SAME = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "blockalign": "ba",
    "io_limit": "io_size",
    "timeout": "runtime",
    "start_delay": "startdelay",
    "wait_for_previous": "stonewall",
    "allrandrepeat": "randrepeat",
    "fill_fs": "fill_device",
    "steadystate": "ss",
    "steady_state": "ss",
}


@dataclass(frozen=True)
class Job:
    """A job by its name, and its options; an option without a value has None."""

    name: str
    options: dict[str, str | None]


def read(path: Path) -> list[Job]:
    """Return the jobs of a file, in order; those that only lay out files ask for nothing."""
    common: dict[str, str | None] = {}
    jobs: list[Job] = []
    options = common
    for line in _lines(path):
        if line.startswith("["):
            name = line[1 : line.index("]")].strip()
            options = common
            if name != "global":
                options = dict(common)
                jobs.append(Job(name, options))
            continue
        key, equals, value = line.partition("=")
        _set(options, key.strip().lower(), _filled(value.strip()) if equals else None)
    return [job for job in jobs if "create_only" not in job.options or _is_off(job)]


def _is_off(job: Job) -> bool:
    return job.options["create_only"] == "0"


def _lines(path: Path) -> list[str]:
    found = []
    for raw in path.read_text(encoding="utf-8", errors="replace").splitlines():
        line = re.split(r"[;#]", raw)[0].strip()
        if line.startswith("include "):
            found += _lines(path.parent / line.removeprefix("include ").strip())
        elif line:
            found.append(line)
    return found


def _set(options: dict[str, str | None], name: str, value: str | None) -> None:
    """Set an option; of two that say the same thing the later counts."""
    name = _SAME.get(name, name)
    if name == "rwmixwrite":
        name, value = "rwmixread", str(100 - int(value or 0))
    options[name] = value


def _filled(text: str) -> str:
    """Return a value with the variables of the environment in it."""
    return re.sub(r"\$\{([^}]*)\}", lambda match: os.environ.get(match[1], ""), text)
