"""The compiled simulator. Use :func:`copyback.run` unless you need to drive a run step by step."""

from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from copyback.column import Column
from copyback.policies.suppliers import Suppliers

__version__: str
__model__: str

class InputError(ValueError):
    """The user's input is at fault; ``str()`` has one line a fault."""

class SimulationError(RuntimeError):
    """The machine or the simulator is at fault."""

def student_quantile(share: float, degrees: float) -> float:
    """Return the value that a share of Student's distribution is below."""

def arrow_stream(columns: list[tuple[str, Column]]) -> object:
    """Return columns as an Arrow C stream, in the capsule of its Python protocol."""

@final
class TableWriter:
    """A Parquet file of a table in the making; the first rows create it."""

    def __new__(cls, path: PathLike[str], row_group: int) -> TableWriter: ...
    def write(self, columns: list[tuple[str, Column]]) -> None:
        """Write rows. The file has groups of a fixed size, however the rows came."""

    def note(self, key: str, value: str) -> None:
        """Keep a fact beside the table, once there are rows."""

    def close(self) -> None:
        """Make the file whole."""

@final
class TableReader:
    """Reads a Parquet file batch by batch: what makes each `Column`, by its name."""

    def __new__(
        cls, path: PathLike[str], batch: int, columns: list[str] | None = None
    ) -> TableReader: ...
    @property
    def height(self) -> int:
        """Rows of the file."""

    def __iter__(self) -> TableReader: ...
    def __next__(self) -> dict[str, tuple[Any, ...]]: ...
    def notes(self) -> list[tuple[str, str]]:
        """Return the facts beside the table."""

    def empty(self) -> dict[str, tuple[Any, ...]]:
        """Return the columns of no row."""

@final
class Config:
    """A checked configuration, with every default filled in."""

    @staticmethod
    def load(
        toml: str | None = None,
        name: str | None = None,
        directory: str | PathLike[str] | None = None,
        json: str | None = None,
        preset: str | None = None,
        settings: list[tuple[str, str]] | None = None,
    ) -> Config:
        """Read a configuration.

        Parameters
        ----------
        toml
            Text of a configuration file.
        name
            What faults call that text, such as its path.
        directory
            What relative trace paths in that text are relative to.
        json
            The same shape as JSON, laid over `toml`.
        preset
            The preset to start from.
        settings
            Dotted keys and TOML values, laid over both in order.

        Raises
        ------
        InputError
            With every fault, one a line.
        """

    def to_toml(self) -> str:
        """Return the resolved configuration as TOML."""

    def to_json(self) -> str:
        """Return the same tables as JSON, which is faster to read."""

    @property
    def digest(self) -> str:
        """Digest of the resolved configuration."""

    @property
    def state_digest(self) -> str:
        """Digest of what decides a prepared device: runs that share it may share its state file."""

    @property
    def prepared_name(self) -> str | None:
        """Name to keep prepared devices under, for other runs; None if that does not pay."""

    @property
    def drive_digest(self) -> str:
        """Digest of what decides how the drive answers given requests: all but the workload."""

    @property
    def seed(self) -> int:
        """Seed of every random stream."""

    @property
    def victim_policy(self) -> tuple[str, str] | None:
        """The victim policy in Python, if it is one: its name, and its parameters as JSON."""

    @property
    def schedule_policy(self) -> tuple[str, str] | None:
        """The schedule policy in Python, if it is one: its name, and its parameters as JSON."""

    @property
    def placement_policy(self) -> tuple[str, str] | None:
        """The placement in Python, if it is one: its name, and its parameters as JSON."""

    @property
    def coordination_policy(self) -> tuple[str, str] | None:
        """The coordinator in Python, if it is one: its name, and its parameters as JSON."""

    @property
    def capacity_bytes(self) -> int:
        """Bytes of the host's address space."""

    @property
    def memory_bytes(self) -> int:
        """Bytes of memory that a run needs at most, beside what any process takes."""

    @property
    def announcement(self) -> str | None:
        """What the user should know before a run that takes hours: one line."""

    @property
    def keeps_requests(self) -> bool:
        """Whether `metrics.requests` is set: call `take_requests` between advances."""

    @property
    def keeps_latency_log(self) -> bool:
        """Whether `metrics.histogram_interval` is set: call `take_latency_log`."""

    @property
    def keeps_collections(self) -> bool:
        """Whether `metrics.collections` of an array is set: call `take_collections`."""

    @property
    def keeps_commands(self) -> bool:
        """Whether `metrics.commands` of an array is set: call `take_commands`."""

    @property
    def keeps_messages(self) -> bool:
        """Whether `metrics.messages` of an array is set: call `take_messages`."""

    @property
    def writes_timeline(self) -> bool:
        """Whether `metrics.timeline` is set: call `take_timeline` between advances."""

@final
class Progress:
    """How far a run has come."""

    @property
    def phase(self) -> str:
        """``"precondition"`` or ``"run"``; of traces, ``"read"`` or ``"write"``."""

    @property
    def fraction(self) -> float:
        """Share of the phase that is done, 0 to 1."""

    @property
    def simulated_ns(self) -> int:
        """Simulated time, in nanoseconds since the start of the measured run."""

    @property
    def requests(self) -> int:
        """Requests completed; of traces, read or written."""

    @property
    def page_operations(self) -> int:
        """Page operations in flash so far; while preparing, host pages written."""

@final
class Found:
    """What a checkpoint says of its run."""

    @property
    def is_preparing(self) -> bool:
        """Whether its drives were still being prepared."""

    @property
    def simulated_ns(self) -> int:
        """Simulated time, in nanoseconds since the start of the measured run."""

    @property
    def requests(self) -> int:
        """Requests completed."""

    @property
    def note(self) -> str:
        """What was noted when it was written."""

@final
class Server:
    """A drive that is prepared, then served as a network block device; only on Linux."""

    def __new__(cls, config: Config, state: str | PathLike[str] | None = None) -> Server:
        """Take a new drive, or a saved one."""

    def advance(self, writes: int) -> bool:
        """Go on preparing the drive; return whether that is done."""

    def progress(self) -> Progress:
        """Return how far the drive is prepared."""

    def open(
        self,
        address: str,
        control: str | PathLike[str] | None,
        data: str | PathLike[str] | None,
        slower: float,
        exports: list[tuple[str, int, int, int | None]],
        keeps_log: bool,
        is_watched: bool = False,
    ) -> str:
        """Let clients connect, once the drive is prepared; return the address as they name it."""

    def serve(self) -> None:
        """Serve until :meth:`end` is called, by another thread."""

    def end(self) -> None:
        """Tell the server to end."""

    def take_log(self) -> list[dict[str, NDArray[Any]]]:
        """Return the rows of the log since the last call, batch by batch."""

    def take_lines(self) -> list[str]:
        """Return the lines for the user since the last call."""

    def cuts(self) -> str:
        """Return all cuts of power so far, as JSON."""

    def take_watched(self) -> str:
        """Return what was seen of the drive since the last call, a row an interval, as JSON."""

    def status(self) -> str:
        """Return how the drive stands, as JSON."""

@final
class Simulation:
    """One run, advanced step by step."""

    def __new__(
        cls,
        config: Config,
        state: str | PathLike[str] | None = None,
        policies: Suppliers | None = None,
        threads: int = 1,
    ) -> Simulation:
        """Prepare a run.

        Parameters
        ----------
        config
            The configuration.
        state
            A prepared device to start from.
        policies
            Make the policies in Python that the configuration names.
        threads
            Drives of an array that are prepared at the same time; the result is the same.
        """

    @staticmethod
    def resume(
        config: Config,
        path: str | PathLike[str],
        policies: Suppliers | None = None,
        threads: int = 1,
    ) -> tuple[Simulation, Found]:
        """Go on with a run that :meth:`write_checkpoint` has written.

        Parameters
        ----------
        config
            The configuration of that run.
        path
            The checkpoint.
        policies
            Make the policies in Python that the configuration names.
        threads
            Drives of an array that are prepared at the same time; the result is the same.

        Returns
        -------
        tuple of Simulation and Found
            The run, and what the checkpoint says of it.

        Raises
        ------
        InputError
            If the file cannot be read or is damaged, or is of another configuration,
            trace or version.
        """

    def keep(self) -> None:
        """Get ready to be written to checkpoints.

        Raises
        ------
        InputError
            If a trace cannot be read again.
        """

    def write_checkpoint(self, path: str | PathLike[str], note: str) -> None:
        """Write the run as it stands to a file, whole or not at all.

        Parameters
        ----------
        path
            The file.
        note
            What :meth:`resume` gives back.
        """

    def advance(self, events: int) -> bool:
        """Work for about `events` instants, without the GIL; return whether the run is over."""

    def is_prepared(self) -> bool:
        """Return whether the devices are prepared and the run has not begun: once, if at all."""

    def save_prepared(self, path: str | PathLike[str]) -> None:
        """Save the prepared devices for other runs to start from."""

    def progress(self) -> Progress:
        """Return how far the run has come."""

    def take_requests(self) -> dict[str, NDArray[Any]]:
        """Return and forget the requests completed since the last call, one array a column."""

    def take_collections(self) -> dict[str, NDArray[Any]]:
        """Return and forget the intervals in which drives of an array collected, likewise."""

    def take_commands(self) -> dict[str, NDArray[Any]]:
        """Return and forget the commands that drives of an array have ended, likewise."""

    def take_messages(self) -> dict[str, NDArray[Any]]:
        """Return and forget what controller and drives of an array have told one another."""

    def take_latency_log(self) -> bytes:
        """Return and forget the lines of the log of histograms written since the last call."""

    def take_timeline(self) -> bytes:
        """Return the text of the timeline since the last call; together they are one document.

        While more than a megabyte waits, `advance` gets no further than one instant a call.
        """

    def slowest(self) -> str | None:
        """Return the slowest requests as JSON; None unless `metrics.slowest` is set."""

    def dies(self) -> dict[str, NDArray[np.generic]]:
        """Return what each die did over time as columns, once the run has ended.

        A row a die and bin; ``start_s`` and ``end_s`` in seconds of simulated time,
        ``collecting_us`` and ``serving_us`` within the bin, ``free_blocks`` at its end.
        """

    def series(self) -> dict[str, NDArray[np.float64]]:
        """Return the time series, one array a column."""

    def summary(self) -> str | None:
        """Return the summary as JSON, without what tells of the machine; None before the run."""

    def flow_series(self) -> dict[str, NDArray[np.generic]]:
        """Return what was completed of each flow over time; no rows unless there are several."""

    def distributions(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return response times (us) and the share of requests at or below, for each operation.

        Those that the trace holds are under ``measured_all`` and so on.
        """

@final
class Preparation:
    """A device that is prepared to be saved, and not run.

    Parameters
    ----------
    config
        The configuration.
    policies
        Make the policies in Python that the configuration names.
    threads
        Drives of an array that are prepared at the same time; the result is the same.
    """

    def __new__(
        cls,
        config: Config,
        policies: Suppliers | None = None,
        threads: int = 1,
    ) -> Preparation: ...
    def advance(self, writes: int) -> bool:
        """Write about `writes` pages, without the GIL; return whether the device is ready."""

    def progress(self) -> Progress:
        """Return how far the preparation has come."""

    def save(self, path: str | PathLike[str]) -> None:
        """Save the device."""

@final
class InputCheck:
    """The inputs of a workload, read for its device without simulating, advanced step by step.

    Parameters
    ----------
    config
        The configuration whose workload it is.
    """

    def __new__(cls, config: Config) -> InputCheck: ...
    def advance(self, requests: int) -> bool:
        """Read about `requests` more, without the GIL; return whether there are no more."""

    def progress(self) -> Progress:
        """Return how far it has come."""

@final
class Survey:
    """Statistics of a workload, advanced step by step.

    Parameters
    ----------
    config
        The configuration whose workload it is.
    unlimited
        Whether addresses are not bound to the configured device.
    """

    def __new__(cls, config: Config, unlimited: bool) -> Survey: ...
    def advance(self, requests: int) -> bool:
        """Take about `requests` more, without the GIL; return whether there are no more."""

    def progress(self) -> Progress:
        """Return how far it has come."""

    def summary(self) -> str:
        """Return the statistics so far as JSON."""

def read_whole(path: str | PathLike[str]) -> bytes:
    """Return the content of a file, plain or compressed (gzip, bzip2, xz, Zstandard).

    Raises
    ------
    OSError
        If it cannot be read, or is damaged.
    """

@final
class Conversion:
    """A workload that is being written out as a trace, advanced step by step.

    Parameters
    ----------
    config
        The configuration whose workload it is.
    unlimited
        Whether addresses are not bound to the configured device.
    output
        The file to write, which is replaced.
    named
        The file that it becomes: its extension names format and compression.
    to
        Format to write, if the extension does not name it.
    drop_trims, drop_flushes
        Leave these out if the format cannot hold them.
    """

    def __new__(
        cls,
        config: Config,
        unlimited: bool,
        output: str | PathLike[str],
        named: str | PathLike[str],
        to: str | None = None,
        drop_trims: bool = False,
        drop_flushes: bool = False,
    ) -> Conversion: ...
    def advance(self, requests: int) -> bool:
        """Write about `requests` more, without the GIL; return whether there are no more."""

    def progress(self) -> Progress:
        """Return how far it has come."""

    def finish(self) -> list[str]:
        """Write the rest of the file; return what got lost, one sentence each."""

def trace_target(path: str | PathLike[str], to: str | None = None) -> str:
    """Return the format that a file would be written in.

    Raises
    ------
    InputError
        If it cannot be written.
    """

def writable_formats() -> list[str]:
    """Return the formats that traces can be written in."""

def presets() -> list[tuple[str, str, str]]:
    """Return name, summary and TOML of every drive that `preset` may name."""

def workload_presets() -> list[tuple[str, str, str]]:
    """Return name, summary and TOML of every workload that `workload.preset` may name."""

def policies() -> list[tuple[str, str, str]]:
    """Return key, name and meaning of every named choice."""

def time_ns(text: str) -> int:
    """Return a time as a configuration has it, such as ``"25us"``, in nanoseconds.

    Raises
    ------
    InputError
        If it is none.
    """

def size_bytes(text: str) -> int:
    """Return a size as a configuration has it, such as ``"4KiB"``, in bytes.

    Raises
    ------
    InputError
        If it is none.
    """

def rate_bytes_per_s(text: str) -> int | None:
    """Return a rate as a configuration has it, such as ``"333MT/s"``; None if it is not limited.

    Raises
    ------
    InputError
        If it is none.
    """

def json_schema() -> str:
    """Return the JSON schema of a configuration."""

def summary_schema() -> str:
    """Return the JSON schema of a summary."""

def statistics_schema() -> str:
    """Return the JSON schema of the statistics of a workload."""

def reference_markdown() -> str:
    """Return the reference page of every configuration key."""
