"""Canvas of a figure: panels in a given width, one style, and the bytes of a file."""

from __future__ import annotations

import io
import math
import re
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.process.extras import needed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's colours, told apart by colour-blind eyes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999")

#: Panels in a row, and at most.
IN_A_ROW, MOST_PANELS = 3, 12

#: Inches: of a panel, of the narrowest panel and figure that can be read, of the longest figure.
WIDTH, HEIGHT = 5.0, 3.2
NARROWEST, LEAST_WIDTH, LONGEST = 2.5, 2.5, 30.0

#: Points of a letter's height, and its usual width as a share of that.
LETTER, LETTER_WIDTH = 9.0, 0.6

#: Points of a letter's height in a cell of a map.
SMALL = 7.0

#: Share of a panel's width that names beside it may take.
BESIDE = 0.42

POINTS_AN_INCH = 72.0

#: Letters are outlines, so that a picture looks the same everywhere; PDF embeds its font.
_STYLE: Any = {
    "font.size": LETTER,
    "axes.titlesize": LETTER,
    "legend.fontsize": LETTER,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "copyback",
    # A name of a user's is no formula.
    "text.parse_math": False,
}


class Form(StrEnum):
    """Format of a file that holds a figure."""

    SVG = auto()
    PDF = auto()
    PNG = auto()


#: Entries without the day, so that the same result gives the same bytes.
_METADATA: dict[Form, dict[str, Any]] = {
    Form.SVG: {"Date": None},
    Form.PDF: {"CreationDate": None},
    Form.PNG: {},
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw in our style, whatever style the user has.

    Raises
    ------
    InputError
        Without matplotlib.
    """
    mpl = needed("matplotlib", "a figure")
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


@dataclass(frozen=True)
class Sheet:
    """Division of a figure's width among panels, before it is known how tall they are.

    Attributes
    ----------
    panels
        Number of panels, at least one.
    columns
        Number of panels in a row.
    width
        Inches of the figure.
    """

    panels: int
    columns: int
    width: float

    @classmethod
    def of(cls, panels: int, width: float | None = None) -> Sheet:
        """Return the division of a width; without one each panel is as wide as it should be.

        Raises
        ------
        InputError
            If the width is no number of inches from 2.5 to 30.
        """
        if width is None:
            columns = min(panels, IN_A_ROW)
            return cls(panels, columns, WIDTH * columns)
        if not LEAST_WIDTH <= width <= LONGEST:
            raise InputError(
                f"width: found {width:g}; allowed: inches from {LEAST_WIDTH:g} to {LONGEST:g}"
            )
        return cls(panels, max(1, min(panels, IN_A_ROW, int(width / NARROWEST))), width)

    @property
    def panel(self) -> float:
        """Inches that a panel is wide."""
        return self.width / self.columns

    @property
    def inside(self) -> float:
        """Inches of a panel that its horizontal axis has, about."""
        return self.panel - 0.9

    @property
    def beside_names(self) -> float:
        """Inches of a horizontal axis beside which names stand, about."""
        return self.panel * (1 - BESIDE) - 0.3

    def beside(self, name: str) -> str:
        """Return a name that stands beside a panel, in lines that leave the panel its room."""
        return _lines(name, self.panel * BESIDE)

    def above(self, title: str) -> str:
        """Return the title of a panel, in lines that are no wider than the panel."""
        return _lines(title, self.panel * 0.75)

    def canvas(self, height: float = HEIGHT) -> Canvas:
        """Return an empty figure whose panels have a height in inches."""
        import matplotlib.pyplot as plt

        rows = math.ceil(self.panels / self.columns)
        figure, grid = plt.subplots(
            rows,
            self.columns,
            figsize=(self.width, min(height * rows, LONGEST)),
            squeeze=False,
            layout="constrained",
        )
        # Whoever asked for it has it: a notebook shows it once.
        plt.close(figure)
        every = list(grid.flat)
        for axis in every[self.panels :]:
            axis.remove()
        return Canvas(figure, every[: self.panels])


@dataclass(frozen=True)
class Canvas:
    """A figure and its panels."""

    figure: Figure
    axes: list[Axes]

    def legend(self) -> None:
        """Put one legend of all panels below them, as many names in a row as fit."""
        found: dict[str, Any] = {}
        for axis in self.axes:
            handles, labels = axis.get_legend_handles_labels()
            found.update(zip(labels, handles, strict=True))
        if len(found) < 2:
            return
        width = float(self.figure.get_figwidth())
        names = [_lines(name, width - 0.8) for name in found]
        longest = max(len(line) for name in names for line in name.splitlines())
        each = longest * LETTER * LETTER_WIDTH / POINTS_AN_INCH + 0.6
        columns = max(1, min(len(names), int(width / each)))
        self.figure.legend(found.values(), names, loc="outside lower center", ncols=columns)


def content(figure: Figure, form: Form) -> bytes:
    """Return a figure as the bytes of a file: the same for the same result."""
    made = io.BytesIO()
    with styled():
        figure.savefig(made, format=form, dpi=300, metadata=_METADATA[form])
    return made.getvalue()


def _lines(text: str, inches: float) -> str:
    """Return a text in lines: cut at spaces, and a longer word behind ``_``, ``.`` or ``/``."""
    letters = max(int(inches * POINTS_AN_INCH / (LETTER * LETTER_WIDTH)), 8)
    lines: list[str] = []
    for line in textwrap.wrap(text, letters, break_long_words=False):
        lines.append("")
        pieces = re.findall(rf"[^_./]{{1,{letters}}}[_./]*|[_./]+", line)
        for piece in pieces if len(line) > letters else [line]:
            if lines[-1] and len(lines[-1]) + len(piece) > letters:
                lines.append("")
            lines[-1] += piece
    return "\n".join(lines)
