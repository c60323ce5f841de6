"""A page in headless Chromium: a script is run in it, and what it found comes back.

Chromium is told what to do in its DevTools protocol, through a pipe: that needs no driver and no
library. What a page saves is caught on its way to a file.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

#: Seconds after which no answer comes any more.
PATIENCE = 120

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
(async () => {
  try { await (async () => { %s })(); } catch (fault) { faults.push(String(fault)); }
  await settled();
  return { found, faults, files: await Promise.all(savedFiles), hash: location.hash };
})()
"""


class Browser:
    """A Chromium that ends with the block that it is made in."""

    def __init__(self, profile: str) -> None:
        assert CHROMIUM is not None
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()

        def arrange() -> None:
            # Chromium reads commands from 3 and writes answers to 4.
            high = os.dup(commands), os.dup(answers)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [
                CHROMIUM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--remote-debugging-pipe",
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=arrange,
            close_fds=False,
        )
        os.close(commands)
        os.close(answers)
        self._waiting = b""
        #: What has been loaded: Chromium may say so before it answers.
        self._loaded: set[str] = set()
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._send("Browser.close", {}, None)
        os.close(self._commands)
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._answers)

    def page(self) -> str:
        """Open an empty page, and return its session."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session: str = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable", session)
        self.ask("Page.setLifecycleEventsEnabled", session, enabled=True)
        return session

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a command."""
        number = self._send(method, parameters, session)
        while True:
            told = self._read()
            if told.get("id") == number:
                assert "error" not in told, told["error"]
                answer: dict[str, Any] = told["result"]
                return answer

    def open(self, session: str, url: str) -> None:
        """Return when a page has been loaded."""
        loader = self.ask("Page.navigate", session, url=url)["loaderId"]
        while loader not in self._loaded:
            self._read()

    def _send(self, method: str, parameters: dict[str, Any], session: str | None) -> int:
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        return self._count

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            assert select.select([self._answers], [], [], PATIENCE)[0], "Chromium does not answer"
            piece = os.read(self._answers, 1 << 20)
            assert piece, "Chromium has ended"
            self._waiting += piece
        text, _, self._waiting = self._waiting.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if message.get("method") == "Page.lifecycleEvent" and message["params"]["name"] == "load":
            self._loaded.add(message["params"]["loaderId"])
        return message


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


def look(
    page: Path | str, script: str, *, width: int = 1280, address: str = "", dark: bool = False
) -> Seen:
    """Open a page, run a script in it, and return what it found; no fault may be left.

    Parameters
    ----------
    page
        A file, or an address.
    script
        Fills `found`; may `await`, `choose(id, value)` and click `exportsOf(id, "SVG")`.
    address
        What stands behind the page's name: ``#load=...``.
    dark
        Whether the reader wants dark colours.
    """
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    window = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(profile) as browser:
        session = browser.page()
        browser.ask("Emulation.setDeviceMetricsOverride", session, **window)
        browser.ask("Emulation.setEmulatedMedia", session, features=[scheme])
        browser.ask("Page.addScriptToEvaluateOnNewDocument", session, source=_CATCH)
        where = page if isinstance(page, str) else page.resolve().as_uri()
        browser.open(session, where + address)
        told = browser.ask(
            "Runtime.evaluate",
            session,
            expression=_TELL % script,
            awaitPromise=True,
            returnByValue=True,
        )
    assert "exceptionDetails" not in told, told["exceptionDetails"]
    seen = told["result"]["value"]
    assert seen["faults"] == [], seen["faults"]
    files = {one["name"]: base64.b64decode(one["content"]) for one in seen["files"]}
    return Seen(seen["found"], files, seen["hash"])
