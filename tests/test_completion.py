"""What a shell is offered after TAB, by the protocol that it asks with."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from copyback import _core
from copyback._core import Config
from copyback.commands import completing

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

#: Modules that take long to import, which nobody should wait for after TAB.
HEAVY = ("polars", "numpy", "scipy", "jinja2")


def bash_words(line: str) -> list[str]:
    """Cut a line as bash does, which takes = and : for ends of words."""
    words: list[str] = []
    for word in line.split(" "):
        piece = ""
        for character in word:
            if piece and (character in "=:") != (piece[-1] in "=:"):
                words.append(piece)
                piece = ""
            piece += character
        words.append(piece)
    return words


def offered(cli: RunCli, line: str) -> list[str]:
    words = bash_words(line)
    asked = {
        "_COPYBACK_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = cli(env=asked)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("copyback run --preset tlc-n", ["tlc-nvme", "tlc-nvme-64gb"]),
        ("copyback run --preset=tlc-n", ["tlc-nvme", "tlc-nvme-64gb"]),
        ("copyback run --workload fifo-mqsim-w", ["fifo-mqsim-write-only"]),
        ("copyback run --format bl", ["blkreplay", "blkparse", "block_events", "blktrace"]),
        ("copyback run --set ssd.gc.vic", ["ssd.gc.victim="]),
        ("copyback run --set ssd.gc.victim=", None),
        ("copyback run --set ssd.gc.victim=gre", ["greedy"]),
        ("copyback run --set ssd.gc.copyback=", ["true", "false"]),
        ("copyback run --set ssd.gc.victim.", None),
        ("copyback run --set workload.request_s", ["workload.request_size="]),
        ("copyback run --set workload.preset=two", None),
        ("copyback run --set ssd.ftl.allocation=CW", ["CWDP", "CWPD"]),
        ("copyback run --set preset=tlc-n", ["tlc-nvme", "tlc-nvme-64gb"]),
        ("copyback run --set ssd.timing.read=", ["25us"]),
        ("copyback run --set nothing.like=", []),
        ("copyback compare --over ssd.gc.vic", ["ssd.gc.victim="]),
        ("copyback compare --over ssd.gc.victim=greedy,fi", ["greedy,fifo"]),
        ("copyback compare --over ssd.gc.copyback=true,", ["true,false"]),
        ("copyback compare --over workload=pgc-2011-b", ["pgc-2011-base"]),
        ("copyback search --least ssd.ftl.over", ["ssd.ftl.over_provisioning="]),
        ("copyback paper run harm", ["harmonia-2012"]),
        ("copyback paper run pgc-2011 --scale f", ["full"]),
        ("copyback show preset tlc-nvme-", ["tlc-nvme-64gb"]),
        ("copyback trace info --set workload.time_s", ["workload.time_scale="]),
        ("copyback impo", ["import"]),
        ("copyback run --timeline 1s:2s --preset femu", ["femu-bbssd"]),
    ],
)
def test_bash_is_offered(cli: RunCli, line: str, expected: list[str] | None) -> None:
    found = offered(cli, line)
    if expected is not None:
        assert found == expected
    elif line.endswith("victim="):
        assert {"greedy", "rga", "fifo", "cost_benefit"} <= set(found)
    elif line.endswith("victim."):
        assert {"ssd.gc.victim.d=", "ssd.gc.victim.age="} <= set(found)
    else:
        assert found == ["two-hosts-cache", "two-hosts-log-and-tree"]


def test_a_word_that_is_not_cut_is_given_back_whole(cli: RunCli) -> None:
    asked = {
        "_COPYBACK_COMPLETE": "complete_bash",
        "COMP_WORDS": "copyback\nrun\n--set\nssd.gc.victim=gre",
        "COMP_CWORD": "3",
    }
    assert cli(env=asked).stdout == "ssd.gc.victim=greedy\n"


def test_zsh_and_fish_are_offered_whole_words(cli: RunCli) -> None:
    asked = "copyback run --set ssd.gc.victim=gre"
    zsh = {"_COPYBACK_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": asked}
    assert '"ssd.gc.victim=greedy"' in cli(env=zsh).stdout
    fish = {
        "_COPYBACK_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": asked,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    assert cli(env=fish).stdout.splitlines() == ["ssd.gc.victim=greedy"]


def refusal(key: str, value: str) -> str:
    try:
        Config.load(settings=[(key, value)])
    except _core.InputError as fault:
        return str(fault)
    return ""


def test_every_value_that_is_offered_is_one_of_its_key() -> None:
    schema = completing.Schema()
    offered = [(key, value) for key in schema.keys_from("ssd.") for value in schema.values(key)]
    assert len(offered) > 100
    for key, value in offered:
        # It may not go with the defaults of other keys.
        said = refusal(key, value)
        for words in ("did you mean", "unknown key", f'found "{value}" (allowed'):
            assert words not in said, (key, value)
    assert "(allowed" in refusal("ssd.gc.victim", "nobody's")


def test_every_key_of_the_reference_is_offered() -> None:
    known = set(completing.Schema().keys_from(""))
    for key, _, _ in _core.policies():
        if "[" not in key:
            assert key in known, key


def test_what_is_heavy_is_not_imported_for_it() -> None:
    asked = {
        **os.environ,
        "_COPYBACK_COMPLETE": "complete_bash",
        "COMP_WORDS": "copyback\nrun\n--set\nssd.gc.victim\n=\n",
        "COMP_CWORD": "5",
    }
    code = (
        "import sys\n"
        "from copyback.commands.cli import main\n"
        "try:\n    main()\n"
        f"finally:\n    print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=asked)
    assert "greedy" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_script_of_bash_completes_in_bash(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "copyback").write_text(f'#!/bin/sh\nexec {sys.executable} -m copyback "$@"\n')
    (tmp_path / "copyback").chmod(0o755)
    script = cli("completion", "bash").stdout
    words = shlex.join(bash_words("copyback run --set ssd.gc.victim=gre"))
    ask = (
        f"{script}\nCOMP_WORDS=({words}); COMP_CWORD=5\n"
        '_copyback_completion copyback; echo "${COMPREPLY[@]}"; complete -p copyback\n'
    )
    path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", ask], capture_output=True, text=True, env=path, check=True
    )
    assert done.stdout.splitlines()[0] == "greedy"
    assert "-F _copyback_completion copyback" in done.stdout


@pytest.mark.parametrize(("shell", "words"), [("zsh", "#compdef copyback"), ("fish", "complete ")])
def test_the_other_scripts_ask_the_same(cli: RunCli, shell: str, words: str) -> None:
    script = cli("completion", shell).stdout
    assert words in script
    assert f"_COPYBACK_COMPLETE=complete_{shell}" in script
