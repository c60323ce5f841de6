"""A page in headless Chromium: a script is run in it, and what it found comes back.

There is no driver in between: the script is put behind the page's own and writes what it found into
the document, which Chromium prints. What a page saves is caught on its way to a file.
"""

from __future__ import annotations

import base64
import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")

_CATCH = """
const savedFiles = [], faults = [], found = {};
addEventListener("error", (event) => faults.push(event.message));
addEventListener("unhandledrejection", (event) => faults.push(String(event.reason)));
const blobs = new Map();
const makeUrl = URL.createObjectURL;
URL.createObjectURL = (blob) => { const url = makeUrl(blob); blobs.set(url, blob); return url; };
const follow = HTMLAnchorElement.prototype.click;
HTMLAnchorElement.prototype.click = function () {
  if (!this.download) return follow.call(this);
  const name = this.download;
  savedFiles.push(new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done({ name, content: reader.result.split(",")[1] });
    reader.readAsDataURL(blobs.get(this.href));
  }));
};
const byId_ = (id) => document.getElementById(id);
const choose = (id, value) => {
  const own = byId_(id);
  own.value = value;
  for (const kind of ["input", "change"]) own.dispatchEvent(new Event(kind, { bubbles: true }));
};
const exportsOf = (id, name) => {
  const own = byId_(id);
  const behind = () => (own.closest(".scroll") ?? own).nextElementSibling;
  const buttons = (own.tagName === "FIGURE" ? own : behind()).querySelectorAll(".exports button");
  [...buttons].find((one) => one.textContent === name).click();
};
const settled = () => new Promise((done) => setTimeout(done, 50));
"""

_TELL = """
.catch((fault) => faults.push(String(fault))).then(async () => {
  await new Promise((done) => setTimeout(done, 300));
  const told = { found, faults, files: await Promise.all(savedFiles), hash: location.hash };
  const made = document.createElement("pre");
  made.id = "told-to-test";
  made.textContent = JSON.stringify(told);
  document.body.append(made);
});
"""


@dataclass(frozen=True)
class Seen:
    """What a script found in a page.

    Attributes
    ----------
    found
        What it put into `found`.
    files
        What the page saved, by name.
    hash
        The end of the page's address.
    """

    found: dict[str, Any]
    files: dict[str, bytes]
    hash: str


def look(page: Path, script: str, *, width: int = 1280, address: str = "") -> Seen:
    """Open a page, run a script in it, and return what it found; no fault may be left.

    Parameters
    ----------
    script
        Fills `found`; may `await`, `choose(id, value)` and click `exportsOf(id, "SVG")`.
    address
        What stands behind the page's name: ``#load=...``.
    """
    assert CHROMIUM is not None
    text = page.read_text(encoding="utf-8")
    prepared = text.replace("<body>", f"<body><script>{_CATCH}</script>", 1).replace(
        "</body>", f"<script>(async () => {{ {script} }})(){_TELL}</script></body>"
    )
    copy = page.with_name("looked-at.html")
    copy.write_text(prepared, encoding="utf-8")
    try:
        done = subprocess.run(
            [
                CHROMIUM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                f"--user-data-dir={page.parent.parent / 'chromium'}",
                f"--window-size={width},1000",
                "--virtual-time-budget=20000",
                "--dump-dom",
                f"{copy.as_uri()}{address}",
            ],
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
    finally:
        copy.unlink()
    told = re.search(r'<pre id="told-to-test">(.*?)</pre>', done.stdout, re.DOTALL)
    assert told is not None, done.stderr[-2000:]
    seen = json.loads(html.unescape(told[1]))
    assert seen["faults"] == []
    files = {one["name"]: base64.b64decode(one["content"]) for one in seen["files"]}
    return Seen(seen["found"], files, seen["hash"])
