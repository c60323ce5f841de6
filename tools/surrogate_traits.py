"""Write the table of docs/workloads.md that has surrogate workloads beside real relatives.

python tools/surrogate_traits.py                # writes it where it belongs
python tools/surrogate_traits.py --to DIR       # a copy of the page below DIR, to compare with
python tools/surrogate_traits.py --measure DIR  # measures again first; DIR has the real traces
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback_papers import surrogates

if TYPE_CHECKING:
    from copyback_papers.surrogates import Declared, Measured

ROOT = Path(__file__).parent.parent
PAGE = Path("docs/workloads.md")
PRESETS = ROOT / "crates/copyback-config/src/presets/workloads"

BEGIN = "<!-- measured by tools/surrogate_traits.py -->\n"
END = "<!-- end -->"


def main() -> None:
    """Write the page, and measure before if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT)
    parser.add_argument("--measure", type=Path, metavar="DIR")
    options = parser.parse_args()
    told = surrogates.declared()
    if options.measure is not None:
        surrogates.save(measure(told, options.measure))
    text = page((ROOT / PAGE).read_text(encoding="utf-8"), told)
    (options.to / PAGE).parent.mkdir(parents=True, exist_ok=True)
    (options.to / PAGE).write_text(text, encoding="utf-8")


def page(text: str, told: Declared) -> str:
    """Return the page with its table anew."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END, 1)
    return f"{before}{BEGIN}{surrogates.table(told, surrogates.load())}\n{END}{after}"


def measure(told: Declared, traces: Path) -> dict[str, Measured]:
    """Return the traits of all relatives and surrogates."""
    found = {name: surrogates.of_relative(one, traces) for name, one in told.relatives.items()}
    for name, one in told.surrogates.items():
        requests = found[one.relative].requests if one.relative else surrogates.USUAL
        found[name] = surrogates.of_surrogate(one, workload_of(name), requests)
    return found


def workload_of(preset: str) -> dict[str, Any]:
    """Return the workload of a preset, from its file and from those that it starts from."""
    own = tomllib.loads((PRESETS / f"{preset}.toml").read_text(encoding="utf-8"))["workload"]
    base = own.pop("preset", None)
    return laid_over(workload_of(base), own) if base else own


def laid_over(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return a table with the keys of another over its own, table by table."""
    tables = {key: value for key, value in own.items() if isinstance(value, dict)}
    inner = {key: laid_over(base.get(key, {}), value) for key, value in tables.items()}
    return {**base, **own, **inner}


if __name__ == "__main__":
    main()
