"""``copyback show``: what there is to choose from."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated

import typer

from copyback import _core
from copyback._core import InputError
from copyback.commands import completing

app = typer.Typer(help="Show presets, policies, the JSON schemas or the reference.")


@app.command()
def presets(
    names: Annotated[bool, typer.Option("--names", help="Print only the names.")] = False,
) -> None:
    """List the presets: drives, and workloads."""
    drives, workloads = _core.presets(), _core.workload_presets()
    if names:
        print("\n".join(name for name, _, _ in drives + workloads))
        return
    print("Drives (--preset NAME, or preset at the top of a configuration)")
    _print_pairs([(f"  {name}", about) for name, about, _ in drives])
    print("\nWorkloads (--workload NAME, or preset in [workload])")
    _print_pairs([(f"  {name}", about) for name, about, _ in workloads])


@app.command()
def preset(
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=completing.all_presets)],
) -> None:
    """Print a preset, a drive or a workload, as TOML."""
    found = {known: toml for known, _, toml in _core.presets() + _core.workload_presets()}
    if name not in found:
        from copyback.inputs.tables import hint

        raise InputError(f"no preset {name!r}; {hint(name, found)}")
    print(found[name].rstrip("\n"))


@app.command()
def policies() -> None:
    """List the choices of every key that has any, and the policies that packages register."""
    from copyback.policies.load import all_registered

    for index, (key, choices) in enumerate(groupby(_core.policies(), key=lambda policy: policy[0])):
        print(key if index == 0 else f"\n{key}")
        _print_pairs([(f"  {name}", meaning) for _, name, meaning in choices])
    for kind, found in all_registered().items():
        print(f"\n{kind.key} of type python, registered under {kind.group}")
        _print_pairs([(f"  {name}", meaning) for name, meaning in found])


@app.command()
def schema() -> None:
    """Print the JSON schema of a configuration."""
    print(_core.json_schema().rstrip("\n"))


@app.command()
def summary_schema() -> None:
    """Print the JSON schema of `summary.json`."""
    print(_core.summary_schema().rstrip("\n"))


@app.command()
def reference() -> None:
    """Print the reference of every configuration key, in Markdown."""
    print(_core.reference_markdown().rstrip("\n"))


def _print_pairs(pairs: list[tuple[str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from copyback.words.console import show

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, meaning in pairs:
        grid.add_row(Text(name), Text(meaning))
    show(grid)
