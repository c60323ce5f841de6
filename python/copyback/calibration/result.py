"""Result of a calibration."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback import __version__
from copyback.calibration.errors import errors
from copyback.data.outputs import Staging
from copyback.inputs.arguments import path as argument_path

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import polars as pl

    from copyback._core import Config
    from copyback.calibration.certainty import Certainty
    from copyback.calibration.delays import Delays
    from copyback.calibration.measured import Times
    from copyback.calibration.parameters import Parameter
    from copyback.sweep.axes import Point

CALIBRATION = "calibration.json"
FITTED = "fitted.toml"
PREDICTIONS = "predictions.parquet"
REPORT = "report.html"

#: Every file that the directory of a calibration may hold.
FILES = frozenset({CALIBRATION, FITTED, PREDICTIONS, REPORT})


@dataclass(frozen=True)
class Fitted:
    """A parameter, the value it had and the one it was fitted, in its quantity's unit."""

    parameter: Parameter
    start: float
    value: float
    certainty: Certainty

    def to_dict(self) -> dict[str, Any]:
        """Return what ``calibration.json`` has of it."""
        return {
            "key": self.parameter.key,
            "unit": self.parameter.quantity.value,
            "shares": self.parameter.shares,
            "start": self.start,
            "value": round(self.value),
            "interval": self.certainty.interval,
            "verdict": self.certainty.verdict.value,
            "with": self.certainty.other,
        }


@dataclass(frozen=True)
class Variant:
    """A variant of the device, and the quantile score of its best model."""

    point: Point
    score: float


@dataclass(frozen=True)
class Calibration:
    """A finished calibration.

    Attributes
    ----------
    config
        The configuration with the fitted values.
    trace
        The file that was fitted.
    times
        What was compared.
    cut_ns
        When the part that is held out begins, in ns after the first request.
    unmeasured
        Requests of the trace that were simulated and could not be compared.
    variants
        Every variant of the device that was fitted.
    point
        The one with the best score, which the rest is about.
    models
        What may be fitted beyond the timing, the simplest first, and the quantile score of each.
    model
        The one that was chosen.
    delays
        What it draws for reads and writes, beyond what the undelayed simulation says.
    fitted
        The parameters.
    predictions : polars.DataFrame
        One row a compared request: ``trace``, ``part`` (``fitted``, ``held out``, ``test``),
        ``arrival_ns``, ``operation``, ``offset``, ``bytes``, ``measured_us``, and what the
        simulation and rules of kind and size say: ``simulated_us`` (``undelayed_us`` without
        drawn delays), ``drawn_us``, ``linear_us``, ``by_size_us``, ``constant_us``.
    notes
        What the readers of the traces had to say.
    """

    config: Config
    trace: str
    times: Times
    cut_ns: int
    unmeasured: int
    variants: list[Variant]
    point: Point
    models: list[tuple[str, float]]
    model: str
    delays: dict[str, Delays]
    fitted: list[Fitted]
    predictions: pl.DataFrame
    notes: list[str]

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The errors of each prediction by trace, part and operation."""
        return errors(self.predictions)

    @property
    def config_toml(self) -> str:
        """The fitted configuration, which :func:`copyback.run` takes."""
        return self.config.to_toml()

    def to_dict(self) -> dict[str, Any]:
        """Return what ``calibration.json`` holds."""
        return {
            "schema": 1,
            "version": __version__,
            "trace": self.trace,
            "times": self.times.value,
            "held_out_from_s": self.cut_ns / 1e9,
            "unmeasured": self.unmeasured,
            "variants": [
                {"setting": dict(variant.point), "score": variant.score}
                for variant in self.variants
            ],
            "setting": dict(self.point),
            "models": [{"model": name, "score": score} for name, score in self.models],
            "model": self.model,
            "parameters": [fitted.to_dict() for fitted in self.fitted],
            "errors": self.errors,
            "notes": self.notes,
        }

    def to_json(self) -> str:
        """Return the text of ``calibration.json``."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write everything to a directory, as ``copyback calibrate --out`` does.

        Parameters
        ----------
        directory
            A new or empty directory, or one that holds an earlier calibration, which is replaced.

        Returns
        -------
        pathlib.Path
            The directory.

        Raises
        ------
        InputError
            If the directory cannot be written or holds anything else.
        """
        with staging(argument_path("Calibration.save", directory, "directory")) as staged:
            write(self, staged.path)
            return staged.publish()


def staging(directory: Path) -> Staging:
    """Return the directory under construction that a calibration is written to."""
    return Staging(directory, files=FILES, marker=CALIBRATION)


def write(found: Calibration, directory: Path) -> None:
    """Write the files of a calibration."""
    from copyback.calibration.page import render

    (directory / CALIBRATION).write_text(found.to_json(), encoding="utf-8")
    (directory / FITTED).write_text(found.config_toml, encoding="utf-8")
    # Opened here: Polars takes no name that is not UTF-8.
    with (directory / PREDICTIONS).open("wb") as file:
        found.predictions.write_parquet(file)
    (directory / REPORT).write_text(render(found), encoding="utf-8")
