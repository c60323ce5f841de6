"""Build the wheel that is released: profile-guided where that can be done here, plain where not.

    python tools/release_wheel.py           # the wheel is left in dist; see `make release-wheel`

On Linux it is linked by zig against a C library as old as the tag manylinux_2_17 says, and maturin
checks that.

A profile-guided wheel is built twice: once to count what the runs of benches/train.py do, and once
with these counts. Both builds must find out the same. What is in the way is said in a sentence.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "target" / "pgo"
RAW, MERGED = WORK / "raw", WORK / "merged.profdata"
#: The build for training, the wheels to try, and the environments that they are tried in.
TRAINED, BUILT = "trained", "built"

#: What links a wheel for other machines.
MATURIN, ZIG = "maturin==1.16.0", "ziglang==0.17.1"


class NotHereError(Exception):
    """Why there is no profile-guided build here."""


def main() -> int:
    """Build the wheel. Returns the exit status."""
    uv = sys.argv[1] if len(sys.argv) > 1 else "uv"
    try:
        merge = profdata()
    except NotHereError as why:
        print(f"the wheel is a plain build, slower and with the same results: {why}")
        build(released(uv, ROOT / "dist"), "")
        return 0
    shutil.rmtree(RAW, ignore_errors=True)
    build(to_be_trained(uv, fresh(TRAINED)), f"-Cprofile-generate={RAW}")
    expected = digests(uv, TRAINED)
    subprocess.run([str(merge), "merge", "-o", str(MERGED), str(RAW)], check=True)
    build(released(uv, fresh(BUILT)), f"-Cprofile-use={MERGED}")
    if digests(uv, BUILT) != expected:
        print(
            "the profile-guided build finds out something else: no wheel is left", file=sys.stderr
        )
        return 1
    (ROOT / "dist").mkdir(exist_ok=True)
    wheel = shutil.copy(only_wheel(BUILT), ROOT / "dist")
    print(f"{wheel} is profile-guided; {len(expected)} runs found out what they did before it")
    return 0


def profdata() -> Path:
    """Find the tool that merges profiles, of the compiler's own LLVM: others can't read them."""
    told = output(["rustc", "-vV"])
    host, llvm = told_of("host", told), told_of("LLVM version", told)
    if (target := os.environ.get("CARGO_BUILD_TARGET", host)) != host:
        raise NotHereError(f"what is built for {target} can't be run here to train it")
    own = Path(output(["rustc", "--print", "target-libdir"]).strip()).parent / "bin/llvm-profdata"
    if not own.exists() and shutil.which("rustup"):
        subprocess.run(["rustup", "component", "add", "llvm-tools"], check=False)
    if own.exists():
        return own
    return of_system(llvm)


def of_system(llvm: str) -> Path:
    """Find the system's tool, if it is of the same LLVM."""
    major = llvm.partition(".")[0]
    for name in (f"llvm-profdata-{major}", "llvm-profdata"):
        found = shutil.which(name)
        if found and f"LLVM version {major}." in output([found, "--version"]):
            return Path(found)
    raise NotHereError(
        f"no llvm-profdata of LLVM {major} (`rustup component add llvm-tools` brings it)"
    )


def told_of(key: str, told: str) -> str:
    """Read what the compiler says of itself."""
    found = re.search(rf"^{key}: (.*)$", told, re.MULTILINE)
    if found is None:
        raise NotHereError(f"`rustc -vV` does not say its {key}")
    return found[1]


def output(command: list[str]) -> str:
    """Run a command for what it prints; some tools do not know `--version` and fail."""
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


def fresh(name: str) -> Path:
    """Return a folder without earlier wheels."""
    shutil.rmtree(WORK / name, ignore_errors=True)
    return WORK / name


def build(command: list[str], flags: str) -> None:
    """Build a wheel; the plain one where every other build has its parts, too."""
    environment = dict(os.environ)
    if flags:
        environment["RUSTFLAGS"] = flags
        environment["CARGO_TARGET_DIR"] = str(WORK / "build")
    elif sys.platform == "linux":
        # Apart from other builds, whose parts in C are of another compiler.
        environment["CARGO_TARGET_DIR"] = str(ROOT / "target" / "zig")
    subprocess.run(command, check=True, cwd=ROOT, env=environment)


def released(uv: str, directory: Path) -> list[str]:
    """Return what builds the wheel that is released: on Linux one for other machines, too."""
    if sys.platform != "linux":
        return [uv, "build", "--quiet", "--wheel", "--out-dir", str(directory)]
    return [*maturin(uv, directory), "--zig", "--compatibility", "manylinux_2_17"]


def to_be_trained(uv: str, directory: Path) -> list[str]:
    """Return what builds a wheel that counts what it does, for this machine alone.

    The system links it: zig takes the name of the profiler's runtime for that of a file.
    """
    if sys.platform != "linux":
        return released(uv, directory)
    # The same target by name: functions are known to the profile by names that follow from it.
    host = told_of("host", output(["rustc", "-vV"]))
    return [*maturin(uv, directory), "--target", host, "--compatibility", "linux"]


def maturin(uv: str, directory: Path) -> list[str]:
    """Return what builds a wheel with the tools of a release."""
    tools = [uv, "tool", "run", "--quiet", "--from", MATURIN, "--with", ZIG]
    return [*tools, "maturin", "build", "--release", "--out", str(directory)]


def digests(uv: str, name: str) -> list[str]:
    """Install a wheel in an environment of its own and run what is trained; a digest a run."""
    home = WORK / f"{name}-env"
    python = str(home / "bin" / "python")
    make = [uv, "venv", "--quiet", "--python", sys.executable, "--clear", str(home)]
    subprocess.run(make, check=True)
    install = [uv, "pip", "install", "--quiet", "--python", python, str(only_wheel(name))]
    subprocess.run(install, check=True)
    # Isolated: the sources beside it are no package of that environment.
    train = [python, "-I", str(ROOT / "benches" / "train.py")]
    done = subprocess.run(train, check=True, stdout=subprocess.PIPE, text=True, cwd=WORK)
    return done.stdout.split()


def only_wheel(name: str) -> Path:
    """Find the wheel that was built."""
    (wheel,) = (WORK / name).glob("*.whl")
    return wheel


if __name__ == "__main__":
    sys.exit(main())
