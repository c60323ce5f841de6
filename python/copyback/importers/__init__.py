"""Configurations of other simulators, MQSim's and SSDsim's, become configurations of ours."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.importers.draft import Draft
from copyback.importers.fit import check, fit_thresholds
from copyback.importers.unwritten import warn

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Draft", "Simulator", "import_configuration"]


class Simulator(StrEnum):
    """A simulator whose configurations can be read."""

    MQSIM = "mqsim"
    SSDSIM = "ssdsim"


def import_configuration(
    path: Path,
    *,
    simulator: Simulator | None = None,
    workload: Path | None = None,
    scenario: int = 1,
    directory: Path | None = None,
) -> Draft:
    """Return what a file of another simulator says, as a configuration that runs.

    Parameters
    ----------
    path
        MQSim's ``ssdconfig.xml``, or SSDsim's ``page.parameters``.
    simulator
        Whose file it is; else its first character tells.
    workload
        MQSim's ``workload.xml``.
    scenario
        Which of its scenarios, counted from 1.
    directory
        Where the configuration will lie; else the working directory.

    Raises
    ------
    InputError
        With the line of the file, what was found and what is allowed.
    """
    data = _bytes(path)
    if simulator is None:
        is_xml = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
        simulator = Simulator.MQSIM if is_xml else Simulator.SSDSIM
    if simulator is Simulator.MQSIM:
        from copyback.importers import mqsim, mqsim_load

        draft = mqsim.device(data, path)
        if workload is not None:
            mqsim_load.add(draft, _bytes(workload), workload, scenario, directory)
    else:
        if workload is not None:
            raise InputError(
                f"{workload}: SSDsim has no file of workloads; give its trace to "
                "`copyback run --trace FILE --format mqsim`"
            )
        from copyback.importers import ssdsim

        draft = ssdsim.device(data, path)
    warn(draft, {Simulator.MQSIM: "MQSim", Simulator.SSDSIM: "SSDsim"}[simulator])
    fit_thresholds(draft)
    check(draft)
    return draft


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise InputError(f"{path}: {fault.strerror}") from None
