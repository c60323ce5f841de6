"""The classes of a summary: they say what the core says, and no less."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Literal, assert_type

import msgspec
import pytest

import copyback
from copyback import Result, Summary, summary
from copyback._core import Config, Simulation, statistics_schema, summary_schema
from copyback.data.section import Section
from copyback.process import checkout
from copyback.simulation.driver import Driver
from copyback.trace import statistics

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

ARRAY = {"array.devices": 3, "array.layout": "raid5", "metrics.excess_bound": "1ms"}
STEADY = {"stop": {"type": "steady_state", "round": "10ms", "window": 2, "most_rounds": 3}}
WORN = {"ssd.endurance.rated_cycles": 1000}
SETTINGS: list[dict[str, Any]] = [{}, ARRAY, STEADY, WORN]

#: What Python adds to what the core says.
ADDED = {"verdict": {"says"}, "simulator": set(summary.SimulatorSummary.__struct_fields__)}


@pytest.mark.parametrize("settings", SETTINGS)
def test_nothing_that_the_core_says_is_lost(tiny: dict[str, Any], settings: dict[str, Any]) -> None:
    result = copyback.run(tiny, **settings)
    simulation = Simulation(Config.load(toml=result.config_toml))
    assert simulation.summary() is None
    while not simulation.advance(1 << 20):
        pass
    told = json.loads(simulation.summary() or "")
    found = result.summary.to_dict()
    for key, added in ADDED.items():
        told[key], found[key] = (
            {name: value for name, value in table[key].items() if name not in added}
            for table in (told, found)
        )
    assert found == told


@pytest.mark.parametrize(
    ("text", "module"), [(summary_schema(), summary), (statistics_schema(), statistics)]
)
def test_the_classes_are_the_tables_of_the_schema(text: str, module: ModuleType) -> None:
    schema = json.loads(text)
    tables = {name: one for name, one in schema["$defs"].items() if "properties" in one}
    tables[schema["title"]] = schema
    for name, table in tables.items():
        if (known := getattr(module, name, None)) is None:
            continue  # its keys are those of the tables that it is part of
        fields = {field.name: field.required for field in msgspec.structs.fields(known)}
        assert set(fields) == set(table["properties"]), name
        assert {key for key in fields if fields[key]} == set(table.get("required", ())), name


def test_a_run_from_a_checkout_says_its_commit(
    tiny: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = copyback.run(tiny).summary.simulator.commit
    if found is not None:
        assert re.fullmatch("[0-9a-f]{40}(-dirty)?", found)
    monkeypatch.setattr(checkout, "HOME", tmp_path)
    assert checkout.commit.__wrapped__() is None
    driver = Driver(Config.load(toml=""), commit=lambda: None)
    while not driver.simulation.advance(1 << 20):
        pass
    assert "commit" not in driver.summary("a test").simulator


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_a_checkout_is_looked_at_without_its_lock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def git(*arguments: str) -> str:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        command = ["git", *who, *arguments]
        done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    monkeypatch.setattr(checkout, "HOME", tmp_path)
    git("init")
    assert checkout.commit.__wrapped__() is None
    file = tmp_path / "file"
    file.write_text("one")
    git("add", "file")
    git("commit", "--message", "One")
    head = git("rev-parse", "HEAD")
    # Another time of a file is what `git` would note in the index.
    os.utime(file, (1, 1))
    (tmp_path / "other").write_text("is not of the checkout")
    before = (tmp_path / ".git/index").read_bytes()
    assert checkout.commit.__wrapped__() == head
    assert (tmp_path / ".git/index").read_bytes() == before
    file.write_text("two")
    assert checkout.commit.__wrapped__() == f"{head}-dirty"


def test_every_key_has_a_type(tiny: dict[str, Any]) -> None:
    found = copyback.run(tiny).summary
    assert_type(found.gc.kinds.look_ahead, int)
    assert_type(found.response_us.read.p99, float | None)
    assert_type(found.endurance, summary.EnduranceSummary | None)
    if found.verdict.load is not None:
        kinds = Literal["sustained", "caught_up", "overload", "undecided"]
        assert_type(found.verdict.load.state, kinds)


def test_what_is_missing_is_none_and_no_key(tiny: dict[str, Any]) -> None:
    found = copyback.run(tiny).summary
    assert found.endurance is None
    assert "endurance" not in found
    assert "endurance" not in found.to_dict()
    assert found.get("endurance", 7) == 7
    with pytest.raises(KeyError):
        _ = found["endurance"]
    # What is null is there.
    read = copyback.run(tiny, workload__read_share=1.0).summary
    assert read.write_amplification is None
    assert "write_amplification" in read
    assert read["write_amplification"] is None
    assert dict(found.gc) == dict(found.gc.items())
    assert next(iter(found)) == "verdict"
    assert len(found) == len(found.keys())


def test_a_result_with_another_kind_of_value_is_refused(
    tiny: dict[str, Any], tmp_path: Path
) -> None:
    home = copyback.run(tiny).save(tmp_path / "out")
    assert isinstance(Result.load(home).summary, Section)
    file = home / "summary.json"
    text = json.loads(file.read_text())
    text["gc"]["collections"] = "many"
    file.write_text(json.dumps(text))
    with pytest.raises(copyback.InputError, match=r"Expected `int`, got `str` - at `\$.gc.coll"):
        Result.load(home)
    del text["gc"]
    file.write_text(json.dumps(text))
    with pytest.raises(copyback.InputError, match="missing required field `gc`"):
        Result.load(home)
    assert issubclass(Summary, Section)
