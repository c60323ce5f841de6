"""Try the wheels in an environment of their own: their size, and the commands that need no extra.

    python tools/check_wheel.py target/wheel/*.whl    # the base alone, or both

The environment is made beside the wheels. What is not as promised is said in a sentence, with exit
status 1.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: What an installation without extras may take, in MB.
MOST_MB = 150

#: What it must not bring.
ABSENT = ("copyback_papers", "distributed", "matplotlib", "pandas", "polars", "scipy")

#: What the commands that need no extra are about.
SMALL = ("--set", "workload.time_scale=0.02")
DRIVE = ("--preset", "tlc-unbuffered-64gb", "--trace", "my-trace.gz", *SMALL)
STUDY = (
    *("--preset", "tlc-unbuffered-64gb", "--over", "trace=my-trace.gz", *SMALL),
    *("--over", "ssd.gc.preemption=partial,semi_preemptive,paced"),
)
QUESTION = (
    *("--preset", "tlc-unbuffered-64gb", "--set", "workload.requests=3000"),
    *("--least", "ssd.ftl.over_provisioning=0.1..0.4", "--where", "WA < 100"),
)
#: They use one another's files.
COMMANDS = (
    ("trace", "info", "my-trace.gz"),
    ("run", *DRIVE, "--requests", "--out", "out/one"),
    ("report", "out/one"),
    ("precondition", "--preset", "tlc-unbuffered-64gb", "--save", "drive.state"),
    ("run", *DRIVE, "--state", "drive.state", "--json"),
    ("compare", *STUDY, "--out", "out/mine"),
    ("report", "out/mine", "--runs"),
    ("search", *QUESTION, "--out", "out/found"),
)
#: What the wheel of the papers adds.
OF_PAPERS = (("validate", "--only", "suspend, 1x1x1x2"), ("paper", "list"))
LEFT = ("out/one/report.html", "out/one/requests.parquet", "out/mine/report.html", "out/found")


class WrongError(Exception):
    """What is not as promised."""


def main() -> int:
    """Try the wheel. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", type=Path, nargs="+")
    parser.add_argument("--uv", default="uv")
    given = parser.parse_args()
    # The base first: its name goes on with a hyphen.
    base, *others = sorted(
        (wheel.resolve() for wheel in given.wheels), key=lambda wheel: wheel.name
    )
    home = base.parent
    try:
        copyback = installed(base, home / "env", given.uv)
        tried(copyback, home)
        refused(copyback)
        viewed(copyback, home)
        for wheel in others:
            install(wheel, copyback.parent, given.uv)
            for arguments in OF_PAPERS:
                run(copyback, arguments, home)
    except WrongError as wrong:
        print(f"check-wheel: {wrong}", file=sys.stderr)
        return 1
    return 0


def installed(wheel: Path, environment: Path, uv: str) -> Path:
    """Install the wheel and nothing else; return its command."""
    make = [uv, "venv", "--quiet", "--python", sys.executable, "--clear", str(environment)]
    subprocess.run(make, check=True)
    bin_ = environment / ("Scripts" if sys.platform == "win32" else "bin")
    (packages,) = environment.glob("**/site-packages")
    before = size_mb(packages)
    install(wheel, bin_, uv)
    taken = size_mb(packages) - before
    print(f"with what it needs: {taken:.0f} MB")
    there = [name for name in ABSENT if (packages / name).exists()]
    if there:
        raise WrongError(f"the base brings {', '.join(there)}")
    if taken > MOST_MB:
        raise WrongError(f"the base takes {taken:.0f} MB; {MOST_MB} MB are allowed")
    return bin_ / "copyback"


def install(wheel: Path, bin_: Path, uv: str) -> None:
    """Install a wheel, and say how large it is."""
    command = [uv, "pip", "install", "--quiet", "--python", str(bin_ / "python"), str(wheel)]
    subprocess.run(command, check=True)
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes")


def size_mb(directory: Path) -> float:
    """Return what the files of a directory take."""
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file()) / 1e6


def tried(copyback: Path, home: Path) -> None:
    """Run every command that needs no extra."""
    shutil.rmtree(home / "out", ignore_errors=True)
    trace = home / "my-trace.gz"
    shutil.copy(ROOT / "examples" / "linux-mysql.load.gz", trace)
    for arguments in COMMANDS:
        run(copyback, arguments, home)
    if absent := [name for name in LEFT if not (home / name).exists()]:
        raise WrongError(f"nothing was left in {absent[0]}")


def run(copyback: Path, arguments: tuple[str, ...], home: Path) -> None:
    """Run a command."""
    began = time.monotonic()
    done = subprocess.run(
        [copyback, *arguments], check=False, cwd=home, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise WrongError(f"copyback {' '.join(arguments)}: {done.stderr.strip()}")
    print(f"copyback {arguments[0]}: {time.monotonic() - began:.1f} s")


def refused(copyback: Path) -> None:
    """See that commands of the papers' package say what installs it."""
    for arguments in OF_PAPERS:
        done = subprocess.run([copyback, *arguments], check=False, capture_output=True, text=True)
        if done.returncode != 2 or "pip install 'copyback[papers]'" not in done.stderr:
            raise WrongError(f"copyback {arguments[0]}, without its package: {done.stderr.strip()}")


def viewed(copyback: Path, home: Path) -> None:
    """Look at a page as `view` serves it."""
    command = [str(copyback), "view", "out/mine", "--no-browser"]
    with subprocess.Popen(
        command, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as serving:
        try:
            told = serving.stdout.readline() if serving.stdout is not None else ""
            address = next((word for word in told.split() if word.startswith("http")), None)
            if address is None:
                raise WrongError(f"copyback view said: {told.strip()}")
            with urllib.request.urlopen(address, timeout=30) as page:
                if b"<!doctype html>" not in page.read(1000):
                    raise WrongError(f"copyback view serves no page at {address}")
        finally:
            serving.terminate()
    print("copyback view: serves the page")


if __name__ == "__main__":
    sys.exit(main())
