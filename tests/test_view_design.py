"""``copyback view`` of a study: a design of its page is really run, if its button is pressed."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

import copyback
from browser import look, needs_browser
from conftest import tiny_config
from copyback.sweep.answer import number
from copyback.sweep.bounds import measure_named
from test_view import ask, post, viewing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import RunCli

STUDY = """
config = "tiny.toml"
objectives = ["mean", "ssd.ftl.over_provisioning"]
budget = 40_000
batch = 4
held_back = 20

[set]
"workload.requests" = 600

[space]
"ssd.gc.victim" = ["greedy", { type = "rga", d = { min = 2, max = 9 } }]
"ssd.ftl.over_provisioning" = { min = "25%", max = "40%" }
"""

#: A design of the space, and how the page asks for it.
CHOSEN = ["ssd.gc.victim={ type = 'rga', d = 4 }", "ssd.ftl.over_provisioning=0.3"]
ADDRESS = "/try?" + "&".join(f"set={quote(one)}" for one in CHOSEN)


@pytest.fixture
def study(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> Path:
    """Do a study, and return its directory."""
    (tiny_toml.parent / "study.toml").write_text(STUDY, encoding="utf-8")
    cli("design", tiny_toml.parent / "study.toml", "--jobs", "1", "-q", "--out", "out")
    return tmp_path / "out"


@pytest.fixture
def port(study: Path) -> Iterator[int]:
    with viewing(study) as served:
        yield served.port


def pressed(port: int, address: str) -> bytes:
    """Press the button of a page, and return what the page says in the end."""
    token = re.search(rb'name="token" value="([^"]+)"', ask(port, address)[1])
    assert token is not None
    assert post(port, address, {"token": token[1].decode()}) == (303, b"")
    deadline = time.monotonic() + 60
    while b"http-equiv" in (page := ask(port, address)[1]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return page


def test_a_design_is_run_when_asked_for_and_has_the_numbers_of_a_run(port: int) -> None:
    status, asked = ask(port, ADDRESS)
    assert status == 200
    assert b"Run it" in asked
    page = pressed(port, ADDRESS).decode()
    victim = {"type": "rga", "d": 4}
    run = copyback.run(
        tiny_config(),
        seed=1,
        workload__requests=600,
        ssd__gc__victim=victim,
        ssd__ftl__over_provisioning=0.3,
    )
    mean = number(measure_named("mean", ""), run.summary.response_us.all.mean or 0.0)
    assert f"<tr><th>mean</th><td>{mean}</td></tr>" in page
    assert "<tr><th>over_provisioning</th><td>0.300</td></tr>" in page


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            "ssd.gc.copyback=true",
            "ssd.gc.copyback: found outside the study; allowed: ssd.gc.victim",
        ),
        ("ssd.gc.victim=lru", "ssd.gc.victim"),
        ("nothing", "KEY=VALUE is needed"),
        (
            "ssd.gc.victim={ type = 'python', policy = 'os:system' }",
            "whose policies in Python are run only if you name them",
        ),
    ],
)
def test_what_cannot_be_run_is_told(port: int, asked: str, told: str) -> None:
    page = pressed(port, f"/try?set={quote(asked)}").decode()
    assert "This design cannot be run" in page
    assert told in page


def test_nothing_is_begun_without_the_token(port: int) -> None:
    assert post(port, ADDRESS, {"token": "mine"})[0] == 403
    assert b"Run it" in ask(port, ADDRESS)[1]
    # What is asked for is text, and no part of the page.
    page = ask(port, "/try?set=" + quote("<script>alert(1)</script>"))[1]
    assert b"<script>alert" not in page
    assert ask(port, "/try?" + "&".join(["set=a=1"] * 1_000))[0] == 404


def test_a_study_that_is_damaged_is_told(cli: RunCli, study: Path) -> None:
    content = json.loads((study / "design.json").read_text(encoding="utf-8"))
    (study / "design.json").write_text("{")
    done = cli("view", study, "--no-browser", status=2)
    assert "design.json: not JSON" in done.stderr
    damage = [("runs", {}), ("workloads", {"the workload of the configuration": 0})]
    for key, value in damage:
        (study / "design.json").write_text(json.dumps({**content, key: value}))
        assert f"design.json: {key}" in cli("view", study, "--no-browser", status=2).stderr
    (study / "design.json").write_text(json.dumps({"objectives": 1}))
    done = cli("view", study, "--no-browser", status=2)
    assert "design.json: " in done.stderr
    assert len(done.stderr.splitlines()) == 1


@needs_browser
def test_the_page_leads_there_where_it_is_served(port: int, study: Path) -> None:
    script = """
    const link = document.getElementById("tried-really");
    found.hidden = link.hidden;
    found.href = link.href;
    """
    served = look(f"http://127.0.0.1:{port}/", script).found
    assert not served["hidden"]
    assert "/try?set=ssd.gc.victim" in served["href"]
    assert look(study / "report.html", script).found["hidden"]
