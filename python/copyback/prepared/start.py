"""The start of a run: from a drive that was kept, or with a drive that is to be kept."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback._core import InputError, Simulation, SimulationError
from copyback.prepared.folder import Folder, users

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from copyback._core import Config


@dataclass
class Start:
    """A source of the prepared drives of a run.

    Parameters
    ----------
    folder
        Where drives are kept.
    name
        What the drives of this run are kept as.
    """

    folder: Folder
    name: str
    _is_kept: bool = False

    @classmethod
    def of(cls, config: Config) -> Start | None:
        """Return the start of a run with the user's folder; None if its drive is not to be kept."""
        name = config.prepared_name
        folder = None if name is None else users()
        return None if name is None or folder is None else cls(folder, name)

    def simulation(self, make: Callable[[Path | None], Simulation]) -> Simulation:
        """Make the simulation, from the kept drive if there is one."""
        kept = self.folder.find(self.name)
        if kept is not None:
            try:
                simulation = make(kept)
            except InputError:
                # Damaged, or gone by now. What else is at fault is told again below.
                self.folder.forget(self.name)
            else:
                self._is_kept = True
                return simulation
        return make(None)

    def note(self, simulation: Simulation) -> None:
        """Keep the drive once it is prepared. A disk that is full costs a line, not the run."""
        if self._is_kept or not simulation.is_prepared():
            return
        self._is_kept = True
        try:
            self.folder.keep(self.name, simulation.save_prepared)
        except (OSError, SimulationError) as trouble:
            print(
                f"copyback: the prepared drive is not kept for other runs: {trouble}",
                file=sys.stderr,
            )
