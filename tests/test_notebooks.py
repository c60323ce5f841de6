"""The notebooks of the documentation still give what is stored in them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))

#: All of them together, so that a clone stays small.
MOST_BYTES = 300_000


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tools = loaded()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_what_is_stored(path: Path) -> None:
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert tools.differences(stored, tools.run(stored, path.parent)) == []
    kinds = {kind for _, kind, _ in tools.texts(stored)}
    assert {"image/png", "text/html"} <= kinds
    codes = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in codes] == list(range(1, len(codes) + 1))


def test_they_are_small() -> None:
    assert NOTEBOOKS
    assert sum(path.stat().st_size for path in NOTEBOOKS) < MOST_BYTES


def notebook(*sources: str) -> dict[str, Any]:
    return {"cells": [{"cell_type": "code", "source": [source]} for source in sources]}


def test_outputs_are_those_of_jupyter(tmp_path: Path) -> None:
    sources = (
        "x = 2\nprint('a\\nb')\nx * 3",
        "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()",
    )
    found = tools.run(notebook(*sources), tmp_path)
    stream, value = found["cells"][0]["outputs"]
    assert stream == {"name": "stdout", "output_type": "stream", "text": ["a\n", "b\n"]}
    assert (value["output_type"], value["data"]) == ("execute_result", {"text/plain": ["6"]})
    (figure,) = found["cells"][1]["outputs"]
    assert set(figure["data"]) == {"image/png", "text/plain"}


def test_what_has_changed_is_told(tmp_path: Path) -> None:
    stored = tools.run(notebook("1 + 1", "print(3)"), tmp_path)
    fresh = tools.run(notebook("1 + 2", "print(3)"), tmp_path)
    (problem,) = tools.differences(stored, fresh)
    assert problem == "cell 0, text/plain: '2' is stored, '3' comes now"
    fewer = tools.run(notebook("1 + 1", "None"), tmp_path)
    assert tools.differences(stored, fewer) == ["2 outputs are stored, and 1 come now"]
