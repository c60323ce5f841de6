"""Executes the notebooks of the documentation and keeps what their cells give; or checks that.

A cell's outputs are what Jupyter would keep: what it prints, the value of its last line as text
and HTML, and the figures that it shows. Texts must be the same again; a figure must be there, as
its bytes follow from the version of the library that draws it.
"""

from __future__ import annotations

import argparse
import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"

#: Fine enough to be read, and some twenty kilobytes.
DPI = 72

PNG = "image/png"

Cell = dict[str, Any]
Output = dict[str, Any]


def lines(text: str) -> list[str]:
    """Return a text as a notebook has it: its lines, each with its end."""
    return text.splitlines(keepends=True)


class Figures:
    """Takes what cells show with `plt.show`."""

    def __init__(self) -> None:
        from matplotlib import pyplot as plt

        plt.switch_backend("Agg")
        self._pyplot = plt
        self.shown: list[Output] = []
        plt.show = lambda *_, **__: self._show()

    def _show(self) -> None:
        for number in self._pyplot.get_fignums():
            data = drawn(self._pyplot.figure(number))
            self.shown.append({"output_type": "display_data", "metadata": {}, "data": data})
        self._pyplot.close("all")


def drawn(figure: Figure) -> dict[str, Any]:
    """Return a figure as Jupyter keeps it."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=DPI, metadata={"Software": None})
    size = " ".join(f"{edge * DPI:.0f}" for edge in figure.get_size_inches())
    text = f"<Figure of {size} pixels>"
    return {PNG: base64.b64encode(picture.getvalue()).decode() + "\n", "text/plain": [text]}


def shown(value: object) -> dict[str, Any]:
    """Return the value of a cell as Jupyter keeps it."""
    if isinstance(value, Figure):
        return drawn(value)
    text = {"text/plain": lines(repr(value))}
    as_html = getattr(value, "_repr_html_", None)
    return text if as_html is None else {"text/html": lines(as_html()), **text}


def executed(source: str, names: dict[str, Any], figures: Figures, count: int) -> list[Output]:
    """Execute a cell and return its outputs."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs: list[Output] = []
    if printed.getvalue():
        text = lines(printed.getvalue())
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    outputs += figures.shown
    figures.shown = []
    if value is not None:
        more = {"execution_count": count, "metadata": {}, "data": shown(value)}
        outputs.append({"output_type": "execute_result", **more})
    return outputs


def run(notebook: dict[str, Any], directory: Path) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells."""
    names: dict[str, Any] = {"__name__": "__main__"}
    figures = Figures()
    count = 0
    cells: list[Cell] = []
    with contextlib.chdir(directory):
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                cells.append(cell)
                continue
            count += 1
            outputs = executed("".join(cell["source"]), names, figures, count)
            cells.append({**cell, "execution_count": count, "outputs": outputs})
    return {**notebook, "cells": cells}


def texts(notebook: dict[str, Any]) -> Iterator[tuple[int, str, list[str] | str]]:
    """Yield what must be the same again: the number of a cell, the kind of an output, its text."""
    for number, cell in enumerate(notebook["cells"]):
        for output in cell.get("outputs", []):
            if output["output_type"] == "stream":
                yield number, output["name"], output["text"]
            for kind, text in output.get("data", {}).items():
                yield number, kind, "a figure" if kind == PNG else text


def differences(stored: dict[str, Any], fresh: dict[str, Any]) -> list[str]:
    """Return what a notebook's stored outputs have that they do not give now, a line each."""
    old, new = list(texts(stored)), list(texts(fresh))
    if len(old) != len(new):
        return [f"{len(old)} outputs are stored, and {len(new)} come now"]
    return [
        f"cell {number}, {kind}: {''.join(was)!r} is stored, {''.join(now)!r} comes now"
        for (number, kind, was), (_, _, now) in zip(old, new, strict=True)
        if was != now
    ]


def paths() -> list[Path]:
    """Return the notebooks."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def main() -> int:
    """Write the outputs, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("notebook", nargs="*", type=Path, help="else all of them")
    arguments = parser.parse_args()
    stale = 0
    for path in [one.resolve() for one in arguments.notebook] or paths():
        stored = json.loads(path.read_text(encoding="utf-8"))
        fresh = run(stored, path.parent)
        if arguments.check:
            for problem in differences(stored, fresh):
                stale += 1
                print(f"{path.name}: {problem[:400]}; run 'make notebooks'")
        else:
            text = json.dumps(fresh, indent=1, ensure_ascii=False) + "\n"
            path.write_text(text, encoding="utf-8")
            print(f"{path.name}: {path.stat().st_size >> 10} KiB")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
