"""Configurations of other simulators, MQSim's and SSDsim's, become configurations of ours."""

from __future__ import annotations

import re
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
        Whose file it is; else its content tells.
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
        simulator = _detected(data, path)
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


def _detected(data: bytes, path: Path) -> Simulator:
    """Return whose file it is."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return Simulator.MQSIM
    if re.search(rb"(?m)^(channel|chip|plane|block|page) number *=", data):
        return Simulator.SSDSIM
    raise InputError(
        f'{path}: found neither XML nor a line such as "channel number = 8"; allowed: MQSim\'s '
        "ssdconfig.xml, or SSDsim's page.parameters (fio's job files: `copyback run --fio-job`)"
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise InputError(f"{path}: {fault.strerror}") from None
