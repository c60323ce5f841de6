"""Work of a worker: prepare a device, or run a simulation. Knows nothing of the sweep.

Everything that goes in and comes out can be pickled, so that a worker may be a thread, a process or
another machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from copyback._core import Config
from copyback.data.destination import PARTIAL, naming
from copyback.data.outputs import write_tables
from copyback.simulation.driver import PRECONDITION, Driver
from copyback.simulation.simulate import save_state
from copyback.sweep import memory, repeated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from copyback._core import Progress


@dataclass(frozen=True)
class Job:
    """A simulation to be done.

    Attributes
    ----------
    config_toml
        Its resolved configuration.
    command
        How the sweep was started.
    memory
        Bytes that the process may hold; no limit if None.
    commit
        Of Copyback, where the sweep was started.
    report
        A file in which the worker keeps what share of the simulation is done.
    policies
        Classes of policies that only the program has that has started the sweep, by their names.
    """

    config_toml: str
    command: str
    memory: int | None = None
    commit: str | None = None
    report: Path | None = None
    policies: Mapping[str, bytes] = field(default_factory=dict)

    def config(self) -> Config:
        """Return the configuration, checked, and know the policies that came with it."""
        if self.policies:
            from copyback.policies import given

            given.unpack(self.policies)
        return Config.load(toml=self.config_toml, name="the resolved configuration")

    def watch(self, progress: Progress) -> None:
        """Tell how far the job is, and end it if it holds too much."""
        memory.check(self.memory)
        if self.report is not None:
            # Renamed, so that nobody reads half of it.
            partial = self.report.with_suffix(PARTIAL)
            with naming(self.report):
                partial.write_text(str(_share(progress)), encoding="ascii")
                partial.replace(self.report)


def _share(progress: Progress) -> float:
    """Return what share of a simulation is done; the preparation of its device counts as half."""
    done = progress.fraction / 2
    return done if progress.phase == PRECONDITION else done + 0.5


def prepare(job: Job, path: Path) -> Path:
    """Prepare the device of a simulation, save it and return where."""
    return save_state(job.config(), path, on_progress=job.watch)


def simulate(job: Job, state: Path | None) -> dict[str, bytes]:
    """Run a simulation and return the files of its result.

    Parameters
    ----------
    state
        A prepared device to start from.

    Raises
    ------
    InputError
        If it is audited, has policies in Python, and gives something else the second time.
    """
    config = job.config()
    files = _simulate(job, config, state)
    if policies := repeated.policies_to_check(config, job.config_toml):
        repeated.check(policies, files, _simulate(job, config, state))
    return files


def _simulate(job: Job, config: Config, state: Path | None) -> dict[str, bytes]:
    driver = Driver(config, state=state, commit=lambda: job.commit)
    with TemporaryDirectory(prefix="copyback-run-") as name, naming(name):
        directory = Path(name)
        result = driver.run_into(directory, job.command, on_progress=job.watch)
        write_tables(result, directory)
        return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def prepare_in_memory(job: Job) -> bytes:
    """Prepare the device of a simulation and return it, for workers that share no disk."""
    with TemporaryDirectory(prefix="copyback-state-") as name, naming(name):
        return prepare(job, Path(name) / "device.state").read_bytes()


def simulate_from_memory(job: Job, state: bytes | None) -> dict[str, bytes]:
    """Run a simulation from a device that :func:`prepare_in_memory` gave."""
    if state is None:
        return simulate(job, None)
    with TemporaryDirectory(prefix="copyback-state-") as name, naming(name):
        path = Path(name) / "device.state"
        path.write_bytes(state)
        return simulate(job, path)
