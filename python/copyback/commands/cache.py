"""``copyback cache``: prepared drives that are kept for the next run."""

from __future__ import annotations

import typer

from copyback.words import units

app = typer.Typer(help="Show, or remove, prepared drives that are kept for the next run.")


@app.callback(invoke_without_command=True)
def show(context: typer.Context) -> None:
    """Say where prepared drives are kept, how many they are, and what they may take."""
    if context.invoked_subcommand is not None:
        return
    from copyback.simulation.prepared import users

    folder = users()
    if folder is None:
        print("Prepared drives are not kept: COPYBACK_CACHE is off.")
        return
    sizes = folder.sizes()
    print(f"Folder       {folder.path}")
    print(
        f"Drives       {len(sizes)} · {units.size(sum(sizes))} of {units.size(folder.most_bytes)}"
    )


@app.command()
def clear() -> None:
    """Remove all of them."""
    from copyback.simulation.prepared import users

    folder = users()
    if folder is not None:
        folder.clear()
