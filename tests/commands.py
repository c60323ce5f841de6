"""Commands in processes of their own that need not import everything anew.

Most of the time of a short command goes into imports. So one process imports what commands need,
and is forked for each of them: a command has a process, working directory, environment, streams
and exit status of its own, and ends as any interpreter does. Tests of what happens before or while
modules are imported (locale, laziness, extras) start an interpreter instead, and so does a command
with settings of the interpreter's in its environment.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback import __main__, report
from copyback.commands import cli

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What commands import, most of them not until they need it.
MODULES = (
    "numpy",
    "jinja2",
    "rich.console",
    "rich.progress",
    "matplotlib.figure",
    "matplotlib.backends.backend_svg",
    "copyback.data.outputs",
    "copyback.data.parquet",
    "copyback.report.array",
    "copyback.report.heat",
    "copyback.report.plots",
    "copyback.report.slowest",
    "copyback.sweep.comparison",
    "copyback.sweep.fragment",
)
TIMEOUT_S = 120


class Commands:
    """Runs ``python -m copyback`` by forking a process that has imported it."""

    def __init__(self) -> None:
        self._settings = settings(os.environ)
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONUTF8": "1"},
            encoding="utf-8",
        )

    def run(
        self, arguments: list[str], cwd: Path, env: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; one that takes longer than two minutes is killed and raises."""
        if settings(env) != self._settings:
            return in_an_interpreter(arguments, cwd, env)
        with tempfile.TemporaryDirectory() as streams:
            asked = {"arguments": arguments, "cwd": str(cwd), "env": env, "streams": streams}
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            status = json.loads(self._process.stdout.readline())
            if status is None:
                raise subprocess.TimeoutExpired(arguments, TIMEOUT_S)
            out, err = (Path(streams, name).read_text(encoding="utf-8") for name in ("out", "err"))
        return subprocess.CompletedProcess(arguments, status, out, err)

    def close(self) -> None:
        """End the process that is forked."""
        self._process.communicate()


def settings(env: Mapping[str, str]) -> dict[str, str]:
    """Return what of an environment an interpreter reads as it starts."""
    return {name: value for name, value in env.items() if name.startswith("PYTHON")}


def in_an_interpreter(
    arguments: list[str], cwd: Path, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command as a user's shell does."""
    return subprocess.run(
        [sys.executable, "-m", "copyback", *arguments],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env={"PYTHONUTF8": "1", **env},
        timeout=TIMEOUT_S,
        check=False,
    )


def serve() -> None:
    """Fork for each command that is asked for on stdin, and answer with its exit status."""
    for name in MODULES:
        import_module(name)
    pages = report.environment()
    for name in pages.list_templates():
        # It is compiled, and kept.
        pages.get_template(name)
    # No command needs to look for garbage in what it has not made itself.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            become(asked)
            return
        print(json.dumps(ended(child)), flush=True)


def become(asked: dict[str, Any]) -> None:
    """Turn this process into the command, and run it. Raises `SystemExit`."""
    streams = Path(asked["streams"])
    for descriptor, path in enumerate((Path(os.devnull), streams / "out", streams / "err")):
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(file, descriptor)
        os.close(file)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = [__main__.__file__, *asked["arguments"]]
    cli.main()


def ended(child: int) -> int | None:
    """Wait for a process. Returns its exit status, or nothing if it had to be killed."""
    until = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    serve()
