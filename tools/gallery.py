"""Write the gallery of figures, docs/gallery.md, from docs/gallery.toml, and take its pictures.

python tools/gallery.py                  # the page
python tools/gallery.py --to DIR         # a copy below DIR, to compare with
python tools/gallery.py --pictures       # the pictures too: runs every command; needs Chromium
python tools/gallery.py --pictures array slc-cliff
"""

from __future__ import annotations

import argparse
import base64
import shlex
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]

if TYPE_CHECKING:
    from collections.abc import Mapping

    Figure = Mapping[str, Any]

#: Width of the window that pictures are taken of.
WIDTH = 1240

#: Pixels of the page around an element.
MARGIN = 12

HEAD = """# Gallery

Figures that Copyback draws, each with the command that makes it. Every figure on a page has a
button that saves it as SVG or PNG; in a clone, `make pictures` takes the pictures below again.
"""

TAIL = """
## Of drives and papers

- [How the rate of a consumer drive falls](drives/samsung-970-evo-plus.md) as its SLC cache fills:
  on an empty drive, a half full one, and one that is 80% full.
- [How collections yield](drives/schedules.md) at half, 80% and 95% of what a datacentre drive
  sustains.
- [The papers' figures](reproduction.md), drawn again: `copyback paper run pgc-2011`.
- [Which design wins](tournament.md): `copyback tournament`.
"""

#: Where an element lies on its page.
_PLACE = """
(() => {
  const box = document.querySelector(%r).getBoundingClientRect();
  return [box.left + scrollX, box.top + scrollY, box.width, box.height];
})()
"""


def main() -> int:
    """Write the page, and take pictures if asked to. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT, help="where docs/gallery.md goes")
    parser.add_argument("--pictures", nargs="*", metavar="NAME", help="take these, or all")
    options = parser.parse_args()
    figures = tomllib.loads((ROOT / "docs/gallery.toml").read_text(encoding="utf-8"))["figures"]
    if options.pictures is not None:
        take([one for one in figures if not options.pictures or one["picture"] in options.pictures])
    page = options.to / "docs/gallery.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(HEAD + "".join(map(written, figures)) + TAIL, encoding="utf-8")
    return 0


def written(figure: Figure) -> str:
    """Write a figure's part of the page."""
    picture = f"![{figure['title']}](images/{figure['picture']}.png)"
    return (
        f"\n## {figure['title']}\n\n{figure['says']}\n\n"
        f"```sh\n{figure['command']}\n```\n\n{picture}\n"
    )


def take(figures: list[Figure]) -> None:
    """Run the command of each figure, and take its picture."""
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "examples").symlink_to(ROOT / "examples")
        (Path(home) / "out").mkdir()
        for figure in figures:
            print(figure["command"])
            command = [sys.executable, "-m", *shlex.split(figure["command"])]
            subprocess.run(command, cwd=home, check=True, stdout=subprocess.DEVNULL)
            png = pictured(Path(home) / figure["page"], figure["select"], figure["height"])
            (ROOT / f"docs/images/{figure['picture']}.png").write_bytes(png)


def pictured(page: Path, selector: str, height: int) -> bytes:
    """Return the picture of an element of a page, as PNG; no more than `height` pixels of it."""
    sys.path.insert(0, str(ROOT / "tests"))
    from browser import Browser

    window = {"width": WIDTH, "height": 1400, "deviceScaleFactor": 1, "mobile": False}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, Browser(home) as browser:
        session = browser.page()
        browser.ask("Emulation.setDeviceMetricsOverride", session, **window)
        # A picture of what lies below the window has none, and what is centred moves without it.
        browser.ask("Emulation.setScrollbarsHidden", session, hidden=True)
        browser.open(session, page.resolve().as_uri())
        place = browser.ask(
            "Runtime.evaluate", session, expression=_PLACE % selector, returnByValue=True
        )
        x, y, width, whole = place["result"]["value"]
        around = max(x - MARGIN, 0), max(y - MARGIN, 0), width + 2 * MARGIN, whole + 2 * MARGIN
        clip = {**dict(zip(("x", "y", "width", "height"), around, strict=True)), "scale": 1}
        clip["height"] = min(height, clip["height"])
        shot = browser.ask(
            "Page.captureScreenshot", session, format="png", clip=clip, captureBeyondViewport=True
        )
    return base64.b64decode(shot["data"])


if __name__ == "__main__":
    sys.exit(main())
