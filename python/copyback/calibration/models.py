"""Models of what a device does beyond its timing, of which the trace chooses one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from copyback._core import Config
from copyback.calibration import fit as fitting
from copyback.calibration import sleep as sleeping
from copyback.calibration.delays import LEAST, Delays
from copyback.calibration.forecast import Forecast
from copyback.calibration.loss import fast_way
from copyback.calibration.measured import Times
from copyback.calibration.parameters import settings_for
from copyback.calibration.replay import ORDER, Replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    from numpy.typing import NDArray

    from copyback.calibration.fit import Fit
    from copyback.calibration.parameters import Parameter

#: The first of the fitted requests, which models are fitted to; the others say which is best.
_KNOWN = 0.7

#: How much better the score of a model must be than that of a simpler one.
_WORTH = 0.99


@dataclass(frozen=True)
class Model:
    """A fitted model of a device.

    Attributes
    ----------
    name
        What it has.
    score
        Its quantile score on the last of the fitted requests, with delays that did not know them.
    settings
        Of the configuration, all of it but the delays.
    delays
        What reads and writes take beyond; empty without such.
    """

    name: str
    score: float
    fit: Fit
    settings: list[tuple[str, str]]
    delays: dict[str, Delays] = field(default_factory=dict)

    @property
    def all_settings(self) -> list[tuple[str, str]]:
        """The settings of the configuration, delays included."""
        return [*self.settings, *(one.setting(name) for name, one in self.delays.items())]


@dataclass(frozen=True)
class Task:
    """A device and the part of a trace that models are fitted to.

    Attributes
    ----------
    part
        The trace of the part.
    frame : polars.DataFrame
        Its rows.
    """

    config: Config
    times: Times
    parameters: Sequence[Parameter]
    part: Path
    frame: pl.DataFrame
    directory: Path
    pool: ThreadPoolExecutor
    on_done: Callable[[], None]

    def models(self, start: NDArray[np.float64], seed: int) -> list[Model]:
        """Return the models, the simplest first."""
        replay = Replay(self.config, self.times, self.directory)
        usual = self._problem(replay).fit(start, seed)
        simulated = self._simulated(replay, usual)
        alone = self._alone(simulated.height)
        found = [
            Model("timing", _score(simulated, alone, None), usual, self._settings(usual)),
            self._with_delays("timing, delays", replay, usual, []),
        ]
        sleep = self._sleep(replay, found[-1].fit)
        if sleep is not None:
            asleep = Replay(laid_over(self.config, [sleep.setting]), self.times, self.directory)
            fast = found[-1].fit
            model = self._with_delays("timing, delays, sleep", asleep, fast, [sleep.setting])
            found.append(model)
        return found

    def _problem(self, replay: Replay) -> fitting.Problem:
        return fitting.Problem(replay, self.parameters, self.part, self.pool, self.on_done)

    def _settings(self, fit: Fit) -> list[tuple[str, str]]:
        return settings_for(self.parameters, fit.values)

    def _simulated(self, replay: Replay, fit: Fit) -> pl.DataFrame:
        self.on_done()
        return replay.simulate(self.part, self._settings(fit))

    def _with_delays(
        self, name: str, replay: Replay, start: Fit, also: list[tuple[str, str]]
    ) -> Model:
        """Fit the fast way, and what requests take beyond it."""
        rows = self._ordered()
        loss = fast_way(rows["operation"].to_numpy().astype(str), rows["bytes"].to_numpy())
        problem = fitting.Problem(replay, self.parameters, self.part, self.pool, self.on_done, loss)
        fit = problem.descend(start.logs)
        simulated = self._simulated(replay, fit)
        alone = self._alone(simulated.height)
        scores = {least: _score(simulated, alone, least) for least in LEAST}
        least = min(scores, key=lambda one: scores[one])
        delays = _delays(simulated.filter(alone), least)
        return Model(name, scores[least], fit, [*self._settings(fit), *also], delays)

    def _ordered(self) -> pl.DataFrame:
        """Return the rows with measured times in the order of a replay."""
        return (
            self.frame.with_columns(idle=pl.Series(sleeping.idle_before(self.frame)))
            .with_columns(pl.col("operation").cast(pl.String))
            .filter(pl.col("measured_response_ns").is_not_null())
            .sort(ORDER)
        )

    def _alone(self, height: int) -> pl.Series:
        """Return which requests tell of the device alone: of responses, those without others."""
        if self.times is Times.SERVICE:
            return pl.Series(np.full(height, fill_value=True))
        return self._ordered()["idle"] >= 0.0

    def _sleep(self, replay: Replay, fit: Fit) -> sleeping.Sleep | None:
        simulated = self._simulated(replay, fit)
        rows = self._ordered()
        kinds = rows["bytes"].to_numpy().astype(np.int64) * 2
        kinds += (rows["operation"] == "write").to_numpy()
        beyond = (simulated["measured_us"] - simulated["simulated_us"]).to_numpy()
        alone = self._alone(rows.height).to_numpy()
        return sleeping.found(rows["idle"].to_numpy()[alone], kinds[alone], beyond[alone])


def best(models: Sequence[Model]) -> Model:
    """Return the model with the best score; a simpler one if that is as good."""
    chosen = models[0]
    for model in models[1:]:
        if model.score < _WORTH * chosen.score:
            chosen = model
    return chosen


def laid_over(config: Config, settings: list[tuple[str, str]]) -> Config:
    """Return a configuration with other settings."""
    return Config.load(toml=config.to_toml(), name="the resolved configuration", settings=settings)


def forecast(rows: pl.DataFrame, delays: Delays | None, times: str = "simulated_us") -> Forecast:
    """Return what a model says of requests of one kind that are simulated without its delays."""
    shift = rows[times].to_numpy()
    if delays is None:
        return Forecast.of_points(shift)
    return delays.forecast(rows["bytes"].to_numpy().astype(np.float64), shift)


def _delays(rows: pl.DataFrame, least: int) -> dict[str, Delays]:
    found = {}
    for (operation,), of_kind in rows.group_by("operation", maintain_order=True):
        sizes = of_kind["bytes"].to_numpy().astype(np.float64)
        beyond = (of_kind["measured_us"] - of_kind["simulated_us"]).to_numpy()
        found[str(operation)] = Delays.fitted(sizes, beyond, least)
    return dict(sorted(found.items()))


def _score(rows: pl.DataFrame, alone: pl.Series, least: int | None) -> float:
    """Return the score on the last of the rows with delays that are fitted to the first."""
    middle = round(rows.height * _KNOWN)
    known, others = rows[:middle].filter(alone[:middle]), rows[middle:].filter(alone[middle:])
    if known.is_empty() or others.is_empty():
        return float("inf") if least is not None else 0.0
    delays = _delays(known, least) if least is not None else {}
    total = 0.0
    for (operation,), of_kind in others.group_by("operation", maintain_order=True):
        told = forecast(of_kind, delays.get(str(operation)))
        total += told.score(of_kind["measured_us"].to_numpy()) * of_kind.height
    return total / others.height
