"""What the base of an installation does, and what it says of a part that needs more."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import copyback
from copyback.process.extras import INSTALLED_BY, LIBRARIES

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

#: Libraries that a base installation does not have.
ABSENT = ("copyback_papers", "distributed", "matplotlib", "optuna", "pandas", "polars", "scipy")

#: What a library is imported as, where that is not its name.
IMPORTED_AS = {"scikit_learn": "sklearn"}


def base(code: str) -> subprocess.CompletedProcess[str]:
    """Run Python as if only the base were installed."""
    hidden = f"import sys\nfor name in {ABSENT}: sys.modules[name] = None\n"
    command = [sys.executable, "-c", hidden + code]
    return subprocess.run(command, capture_output=True, check=False, text=True)


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command line as if only the base were installed."""
    words = ["copyback", *map(str, arguments)]
    return base(f"sys.argv = {words}\nfrom copyback.commands.cli import main\nmain()")


def names_in(requirements: list[str]) -> set[str]:
    names = (requirement.partition(">")[0].partition("[")[0] for requirement in requirements)
    return {name.replace("-", "_") for name in names}


def test_the_base_runs_compares_searches_and_reports(tiny_toml: Path, tmp_path: Path) -> None:
    out, study, found = tmp_path / "one", tmp_path / "study", tmp_path / "found"
    rows = "--set=metrics.requests=true"
    state = tmp_path / "a.state"
    asked = ("--set=workload.requests=300", "--quiet", "--out")
    least = "--least=ssd.ftl.over_provisioning=0.25..0.5"
    for arguments in (
        ("run", tiny_toml, rows, "--out", out, "--quiet"),
        ("report", out),
        ("precondition", tiny_toml, "--save", state, "--quiet"),
        ("run", tiny_toml, "--state", state, "--quiet"),
        ("compare", tiny_toml, "--over=ssd.gc.victim=greedy,fifo", "--seeds=2", *asked, study),
        ("report", study, "--runs"),
        ("search", tiny_toml, least, "--where=WA < 100", *asked, found),
        ("trace", "info", ROOT / "examples" / "linux-mysql.load.gz"),
    ):
        done = command(*arguments)
        assert done.returncode == 0, (arguments, done.stderr)
    assert (out / "requests.parquet").stat().st_size > 1000
    assert (study / "report.html").exists()
    assert (found / "results.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("calibrate", "--preset", "pgc-2011"),
            "copyback calibrate needs polars: pip install 'copyback[calibrate]'",
        ),
        (
            ("design", "study.toml"),
            "copyback design needs optuna: pip install 'copyback[design]'",
        ),
        (
            ("trace", "floor", "a.csv", "b.csv"),
            "copyback trace floor needs polars: pip install 'copyback[calibrate]'",
        ),
        (
            ("paper", "run", "pgc-2011"),
            "copyback paper needs copyback_papers: pip install 'copyback[papers]'",
        ),
        (
            ("paper", "--help"),
            "copyback paper needs copyback_papers: pip install 'copyback[papers]'",
        ),
        (
            ("validate", "--only", "MQSim", "--list"),
            "copyback validate needs copyback_papers: pip install 'copyback[papers]'",
        ),
        (
            ("compare", "--preset", "pgc-2011", "--over=seed=1,2", "--dask=tcp://127.0.0.1:1"),
            "--dask needs distributed: pip install 'copyback[dask]'",
        ),
    ],
)
def test_a_command_that_needs_more_says_what_installs_it(
    arguments: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    out = ("--out", tmp_path / "out") if arguments[0] == "compare" else ()
    done = command(*arguments, *out)
    assert done.returncode == 2
    assert done.stderr.strip() == f"copyback: error: {told}"
    assert not done.stdout


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("found.to_polars()", "to_polars() needs polars: pip install 'copyback[polars]'"),
        ("found.series.to_pandas()", "to_pandas() needs pandas: pip install 'pandas'"),
        ("found.plot()", "a figure needs matplotlib: pip install 'copyback[notebooks]'"),
        ("copyback.calibrate", "calibrate() needs polars: pip install 'copyback[calibrate]'"),
    ],
)
def test_a_function_that_needs_more_says_what_installs_it(
    code: str, told: str, tiny_toml: Path
) -> None:
    done = base(
        "import copyback\n"
        f"found = copyback.run({str(tiny_toml)!r}, workload__requests=50)\n"
        f"try: {code}\n"
        "except copyback.InputError as fault: print(fault)"
    )
    assert done.stdout.strip() == told, done.stderr


def test_the_extras_bring_what_they_are_said_to() -> None:
    extras: dict[str, list[str]] = PROJECT["optional-dependencies"]
    for extra, libraries in LIBRARIES.items():
        brought = {IMPORTED_AS.get(name, name) for name in names_in(extras[extra])}
        assert brought == set(libraries)
    for library, installed_by in INSTALLED_BY.items():
        if installed_by != library:
            assert library in names_in(extras[installed_by.removeprefix("copyback[")[:-1]])
    assert extras["all"] == [f"copyback[{','.join(sorted(set(extras) - {'all'}))}]"]
    assert not names_in(PROJECT["dependencies"]) & set(ABSENT)


def test_the_help_lists_the_commands_that_need_more_as_well() -> None:
    told = command("--help").stdout
    assert [word for word in ("paper", "validate", "run") if f" {word} " not in told] == []


def test_the_packages_of_this_repository_have_one_version() -> None:
    papers = tomllib.loads((ROOT / "packages/papers/pyproject.toml").read_text())["project"]
    assert papers["version"] == copyback.__version__
