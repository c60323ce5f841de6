"""Options that the commands of ``copyback paper`` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from copyback.commands import completing

if TYPE_CHECKING:
    from copyback_papers.catalogue import Paper


def papers(incomplete: str) -> list[str]:
    """Return the papers that come with the package."""
    from copyback_papers.catalogue import shipped

    return completing.offered(shipped(), incomplete)


Name = Annotated[
    str,
    typer.Argument(
        metavar="PAPER",
        help="A paper, or a directory with a paper.toml.",
        autocompletion=papers,
    ),
]
FigureName = Annotated[
    str | None, typer.Argument(metavar="[FIGURE]", help="One figure or question; else all.")
]
ScaleName = Annotated[
    Literal["quick", "full", "double"],
    typer.Option(
        help="quick: a small drive, a minute or two; full: the paper's drive; double: full with "
        "twice the requests, which shows whether a verdict moves."
    ),
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where to leave results; else out/PAPER-SCALE.")
]
Seeds = Annotated[
    list[int] | None,
    typer.Option("--seed", metavar="N", min=0, help="In place of the scale's; may be given again."),
]


def home_of(out: Path | None, paper: Paper, scale: str) -> Path:
    """Return the directory of a paper's results at a scale."""
    return out if out is not None else Path("out") / f"{paper.name}-{scale}"
