"""Pages can be read by everybody: axe finds nothing, in light and dark, on a phone and a screen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest

import copyback
from browser import look, needs_browser
from conftest import tiny_config
from test_calibrate import did, guessed
from test_calibrate_load import drive, measured
from tiny_paper import write

pytestmark = needs_browser

EXAMPLES = Path(__file__).parent.parent / "examples"

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

#: Each violation as its rule and the places where it is found.
_ASK = """
const told = await axe.run(document, { resultTypes: ["violations"] });
found.violations = told.violations.map(
  (rule) => rule.id + ": " + rule.nodes.slice(0, 5)
    .map((node) => node.target.join(" ") + " (" + node.failureSummary + ")").join(", "));
"""

#: What the keyboard reaches says what it is; what shows a hand to the mouse is within its reach.
_REACH = """
const reached = [...document.querySelectorAll("a, button, input, select, [tabindex]")]
  .filter((one) => one.tabIndex >= 0);
const named = (one) => one.textContent + (one.getAttribute("aria-label") ?? "") + one.title
  + [...(one.labels ?? [])].map((label) => label.textContent).join("");
const shown = (one) => one.outerHTML.slice(0, 90);
found.unnamed = reached.filter((one) => !named(one).trim()).map(shown);
const isHand = (one) => getComputedStyle(one).cursor === "pointer";
found.unreachable = [...document.querySelectorAll("body *")]
  .filter((one) => isHand(one) && !isHand(one.parentElement))
  .filter((one) => !reached.includes(one) && !one.querySelector("a, button, input, select")
    && !(one.tagName === "LABEL" && one.control) && one.tagName !== "SUMMARY")
  .map(shown);
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make a page of each kind, with every section that it can have."""
    home = tmp_path_factory.mktemp("pages")
    everything: dict[str, Any] = {"metrics__slowest": 8, "workload__duration": "2s"}
    array = copyback.run(EXAMPLES / "raid5.toml", metrics__collections=True, **everything)
    tenants = copyback.run(EXAMPLES / "tenants.toml", metrics__slowest=8)
    trace = copyback.trace_info(EXAMPLES / "linux-mysql.load.gz")
    compared = copyback.compare(
        tiny_config(),
        over={"ssd.ftl.over_provisioning": [0.25, 0.3, 0.4], "workload.read_share": [0.2, 0.6]},
        seeds=2,
        out=home / "comparison",
    )
    did("2KiB").write_parquet(home / "measured.parquet")
    fitted = copyback.calibrate(guessed(), trace=home / "measured.parquet")
    curve = measured(home / "curve.csv")
    copyback.calibrate_load(drive(), curve=curve, seconds=0.2, budget=10, out=home / "load")
    (home / "sheet.toml").write_text("random-read = 10_000\n")
    copyback.calibrate_sheet(drive(), sheet=home / "sheet.toml", budget=10, out=home / "sheet")
    paper = ["-m", "copyback", "paper", "run", write(home / "tiny"), "--out", home / "paper"]
    subprocess.run([sys.executable, *map(str, paper)], check=True, capture_output=True)
    return {
        "array": array.report(home / "array.html"),
        "tenants": tenants.report(home / "tenants.html"),
        "trace": trace.report(home / "trace.html"),
        "comparison": compared.report(),
        "calibration": fitted.save(home / "calibration") / "report.html",
        "load": home / "load/report.html",
        "sheet": home / "sheet/report.html",
        "paper": home / "paper/report.html",
    }


KINDS = ["array", "tenants", "trace", "comparison", "calibration", "load", "sheet", "paper"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [420, 1280])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(pages: dict[str, Path], kind: str, width: int, dark: bool) -> None:
    """Contrast, names, structure: all rules of axe."""
    assert look(pages[kind], AXE + _ASK, width=width, dark=dark).found["violations"] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_keyboard_reaches_everything(pages: dict[str, Path], kind: str) -> None:
    """Whatever reacts to a click has its turn, and says what it is."""
    found = look(pages[kind], _REACH).found
    assert found["unnamed"] == []
    assert found["unreachable"] == []
