"""Every command in surroundings that are not ours: no home, no terminal, odd names, no room.

Each test runs in a mount namespace of its own (`sandbox.py`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from conftest import tiny_config
from copyback.inputs import configuration
from sandbox import Sandbox

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox import Done

COPYBACK = (sys.executable, "-m", "copyback")

#: Every command that writes something, one after the other, and what each has left.
EVERY_COMMAND = """
copyback() { "$PYTHON" -m copyback "$@" || echo "copyback $1: $?"; }
copyback run tiny.toml -q --requests --out "$OUT/run" > said
copyback compare tiny.toml -q --seeds 2 --jobs 1 --out "$OUT/compare" >> said
copyback precondition tiny.toml -q --save "$OUT/state" >> said
copyback trace convert tiny.toml "$OUT/trace.csv" --to msr -q >> said 2> "$OUT/lost"
rm "$OUT/run/report.html"
copyback report "$OUT/run" >> said
cd "$OUT"
head -q -c 15 run/report.html compare/report.html
# The others tell how long it took.
sha256sum run/*.parquet run/config.toml compare/results.parquet state trace.csv lost
"""


class Surroundings(NamedTuple):
    """What is unusual.

    Attributes
    ----------
    unset, env
        Names that the environment lacks, and what it has.
    then
        Lines of a shell that make the room.
    work, out
        Where the commands work, and where they write to.
    before
        What stands before the commands: redirections and limits.
    """

    unset: tuple[str, ...] = ()
    env: dict[str, str] = {}  # noqa: RUF012 - nobody changes it
    then: str = ""
    work: str = "."
    out: str = "."
    before: str = ""


#: Names that a shell and our messages could break at.
ODD = "a  b\n\tc'd\"é€ $x *"

SURROUNDINGS = {
    "nothing, in a place with an odd name": Surroundings(
        unset=("HOME", "TERM", "LANG", "LC_ALL", "USER", "TMPDIR"),
        then='mkdir "$ODD"',
        work='"$ODD"',
        before="exec <&-\numask 077\nulimit -n 64",
    ),
    "misleading, in a place that is read-only": Surroundings(
        env={
            "HOME": "home",
            "TERM": "none-such",
            "TZ": "Mars/Base",
            "TMPDIR": "/nowhere",
            "LC_ALL": "de_DE.ISO-8859-1",
            "PYTHONUTF8": "0",
            "COLUMNS": "1",
            "LINES": "1",
        },
        # The home is read-only, too, and what is written goes to another file system.
        then="""
mkdir home work out
mount -t tmpfs -o ro home home
mount -t tmpfs out out
cp tiny.toml work
mount --bind work work
mount -o remount,bind,ro work
""",
        work="work",
        out="../out",
    ),
}


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    lines = [f"{key} = {configuration.to_toml(value)}" for key, value in tiny_config().items()]
    (tmp_path / "tiny.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Sandbox(tmp_path)


def done_in(box: Sandbox, here: Surroundings) -> Done:
    """Do every command in these surroundings."""
    script = (
        f"cd {here.work}\n{here.before}\nOUT={here.out}\n"
        f'exec 3> "$NOTES/said"\n{EVERY_COMMAND.replace("said", "/dev/fd/3")}'
    )
    unset = [word for name in here.unset for word in ("-u", name)]
    return box.run(
        *("env", *unset, "sh", "-c", script),
        then=f'cp "{box.home}/tiny.toml" .\n{here.then}\n'
        + (f"cp tiny.toml {here.work} 2> /dev/null || true" if here.work != "." else ""),
        env={"PYTHON": sys.executable, "ODD": ODD, "NOTES": str(box.home), **here.env},
    )


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_every_command_writes_the_same_bytes_wherever_it_runs(
    box: Sandbox, name: str, usual: str
) -> None:
    done = done_in(box, SURROUNDINGS[name])
    assert done.stderr == ""
    assert done.stdout == usual
    assert not [left for left in done.left if "partial" in left]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the digests of what the commands write in usual surroundings."""
    home = tmp_path_factory.mktemp("usual")
    lines = [f"{key} = {configuration.to_toml(value)}" for key, value in tiny_config().items()]
    (home / "tiny.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = done_in(Sandbox(home), Surroundings())
    assert done.stdout.count("\n") == 9, done
    return done.stdout


#: What the commands write to, where a name goes.
WRITERS = {
    "run": ("run", "tiny.toml", "-q", "--out", "out"),
    "compare": ("compare", "tiny.toml", "-q", "--seeds", "2", "--jobs", "1", "--out", "out"),
    "precondition": ("precondition", "tiny.toml", "-q", "--save", "out"),
    "convert": ("trace", "convert", "tiny.toml", "out", "--to", "msr", "-q"),
}

#: What is in the way of a file or directory named `out`.
IN_THE_WAY = {
    "a read-only file system": "mount -o remount,ro .",
    "a dangling link out of reach": "ln -s nowhere/below/file out\nmount -o remount,ro .",
    "a loop of links": "ln -s out out",
    "a directory of somebody": "mkdir out\ntouch out/theirs",
}


@pytest.mark.parametrize("command", WRITERS)
def test_what_is_in_the_way_is_told_in_a_line_and_left_alone(box: Sandbox, command: str) -> None:
    for name, then in IN_THE_WAY.items():
        made = f'cp "{box.home}/tiny.toml" .\n{then}'
        before = box.run("true", then=made).left
        done = box.run(*COPYBACK, *WRITERS[command], then=made)
        assert done.status == 2, (name, done)
        # Of a read-only file system the directory is named that takes nothing, or cannot be made.
        assert done.fault.startswith(("out: ", f"{box.room}")), (name, done.fault)
        assert done.stdout == ""
        assert done.left == before, name


#: Everywhere that Python looks for a place, the working directory among them, takes no files.
NO_PLACE = """
mkdir here out
for there in /tmp /var/tmp /usr/tmp here; do
    test -d $there || continue
    mount --rbind $there $there
    mount -o remount,bind,ro $there
done
"""


def test_no_place_for_temporary_files_is_told_in_a_line(box: Sandbox) -> None:
    config = box.home / "tiny.toml"
    save = (*COPYBACK, "precondition", config, "-q", "--save")
    for path, status in (("../out/state", 0), ("/dev/stdout", 1)):
        done = box.run(
            *("sh", "-c", 'cd here; exec "$@"', "sh", *save, path),
            then=NO_PLACE,
            env={"TMPDIR": "/nowhere"},
        )
        assert done.status == status, done
        if status:
            assert done.fault.startswith("No usable temporary directory found in ")
