"""A small drive in the place of a large one: its write amplification as it ages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.inputs import configuration
from copyback.simulation.driver import Driver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.calibration.writes.schemes import Scheme
    from copyback.calibration.writes.table import Row

#: Blocks and pages a block. Drives collect lines of blocks over all dies, of which they have about
#: a thousand; so one plane of so many blocks is enough.
BLOCKS, PAGES = 1024, 256

#: Rounds of writes, as a share of the used capacity, in which write amplification is counted.
ROUND = 0.05

#: Most rounds that a preparation may have.
MOST_ROUNDS = 1000

#: Free blocks that are kept: those that collections need, and one.
FREE_BLOCKS = 3


#: Keys that the table, the scheme and the fit decide.
DECIDED = (
    "ssd.gc.victim",
    "ssd.ftl.placement",
    "ssd.ftl.over_provisioning",
    "workload",
    "precondition",
)


@dataclass(frozen=True)
class Ageing:
    """Write amplification of a drive in rounds of writes."""

    rounds: list[float]

    def at(self, capacities: float) -> float:
        """Return it once so many times the used capacity has been written.

        It is the mean of the rounds before and after.
        """
        place = min(round(capacities / ROUND), len(self.rounds) - 1)
        around = self.rounds[max(place - 1, 0) : place + 1]
        return sum(around) / len(around)

    def late(self) -> float:
        """Return its mean in the last fifth of the rounds."""
        last = self.rounds[-max(len(self.rounds) // 5, 1) :]
        return sum(last) / len(last)


def age(row: Row, raw_gib: float, scheme: Scheme, overrides: Sequence[tuple[str, str]]) -> Ageing:
    """Simulate the writes of a row on a drive of so many raw GiB.

    No time passes: only shares matter.

    Raises
    ------
    InputError
        If the drive has no room for what is used.
    """
    return Ageing(_rounds(configuration_of(row, raw_gib, scheme), overrides))


def refuse_decided(overrides: Sequence[tuple[str, str]]) -> None:
    """Refuse keys that would make a result one of another scheme, size or load than it says.

    Raises
    ------
    InputError
        If there is one.
    """
    for key, _ in overrides:
        if any(f"{key}.".startswith(f"{decided}.") for decided in DECIDED):
            raise InputError(
                f"--set {key}: found beside a table of rates; "
                "allowed: other keys, as the table, the scheme and the fit decide it"
            )


def check(row: Row, raw_gib: float, scheme: Scheme, overrides: Sequence[tuple[str, str]]) -> None:
    """Check the configuration of a row without a simulation.

    Raises
    ------
    InputError
        If it is at fault.
    """
    configuration.load(configuration_of(row, raw_gib, scheme), settings=list(overrides))


def configuration_of(row: Row, raw_gib: float, scheme: Scheme) -> dict[str, Any]:
    """Return the configuration of the small drive."""
    rounds = min(math.ceil(row.capacities / ROUND), MOST_ROUNDS)
    config: dict[str, Any] = {
        "ssd": {
            "geometry": {
                "channels": 1,
                "chips_per_channel": 1,
                "dies_per_chip": 1,
                "planes_per_die": 1,
                "blocks_per_plane": BLOCKS,
                "pages_per_block": PAGES,
                "page_size": "4KiB",
                "spare_size": "0B",
            },
            "ftl": {"over_provisioning": 1.0 - row.gib / raw_gib},
            "gc": {"soft_threshold": {"blocks": FREE_BLOCKS}, "hard_threshold": {"blocks": 1}},
        },
        "workload": {
            "type": "synthetic",
            "requests": 1,
            "request_size": "4KiB",
            "read_share": 0.0,
            "sequential_share": 0.0,
            "iodepth": 1,
            "address": row.address,
        },
        "precondition": {
            "fill": 1.0,
            "addresses": "workload",
            # As many rounds as are asked for: the window is full with the last one.
            "overwrites": {
                "type": "until_steady",
                "round": ROUND,
                "window": max(rounds, 2),
                "most_rounds": max(rounds, 2),
            },
        },
    }
    for key, value in scheme.settings:
        _, section, name = key.split(".")
        config["ssd"][section][name] = value
    return config


def _rounds(config: dict[str, Any], overrides: Sequence[tuple[str, str]]) -> list[float]:
    driver = Driver(configuration.load(config, settings=list(overrides)))
    driver.run()
    prepared = driver.summary("copyback calibrate").precondition
    assert prepared is not None, "the drive is prepared in rounds"
    return [float(value) for value in prepared.devices[0].values]
