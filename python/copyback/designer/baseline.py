"""Gain of a scheme, as ``copyback.honest_baseline`` returns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback.designer.against import Pair
from copyback.designer.result import ratio_columns
from copyback.frame import Frame
from copyback.sweep.axes import column
from copyback.sweep.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from copyback.designer.against import Against
    from copyback.designer.scores import Refused


@dataclass(frozen=True, repr=False, eq=False)
class HonestBaseline(Tabular):
    """Gain of a scheme before and after everything else is tuned. As a table it is the gains.

    Attributes
    ----------
    directory
        Directory with the comparison (``against.json``) and both studies (``without``, ``with``),
        each with its runs, its front and its page.
    """

    _compared: Against
    directory: Path

    def sentence(self) -> str:
        """Return the answer: the gain that remains, and the gain before."""
        return self._compared.sentence()

    @property
    def gains(self) -> Frame:
        """Ratios of what goes with the scheme to what goes without it.

        Two rows for each objective: of the base, with nothing but the scheme added, and of the
        best designs. The ratio and the ends of its interval over fresh seeds, or why there is
        none; and both numbers.
        """
        own = self._compared
        return Frame.of_rows(
            [*self._gains("base", own.untuned), *self._gains("best designs", own.tuned)]
        )

    def _gains(self, what: str, pair: Pair | Refused) -> Iterator[dict[str, Any]]:
        for place, one in enumerate(self._compared.study.objectives):
            sides = (pair.without, pair.with_scheme) if isinstance(pair, Pair) else ()
            without, with_scheme = [side.score(place) for side in sides] or (None, None)
            yield {
                "of": what,
                "objective": one.measure.label,
                **ratio_columns(pair.ratios[place] if isinstance(pair, Pair) else pair.reason),
                "without": without,
                "with": with_scheme,
            }

    @property
    def designs(self) -> Frame:
        """The designs that were run with fresh seeds.

        A row for each: what it is, its choices (null where it has none), its score in each
        objective, and whether it keeps up with the workloads and keeps the constraints.
        """
        named = list(self._compared.named())
        choices = [dict(own.design.point) for _, own in named]
        columns: dict[str, Any] = {"design": [name for name, _ in named]}
        for key in dict.fromkeys(key for own in choices for key in own):
            columns[key] = column(key, [own.get(key) for own in choices])
        for place, one in enumerate(self._compared.study.objectives):
            columns[one.measure.label] = [own.score(place) for _, own in named]
        columns["overloaded"] = [own.is_overloaded for _, own in named]
        columns["feasible"] = [own.is_feasible for _, own in named]
        return Frame(columns)

    def _rows(self) -> Frame:
        return self.gains

    def __repr__(self) -> str:
        from copyback.sweep.shown import in_lines

        return in_lines(f"HonestBaseline({self._compared.scheme})", self.sentence())
