"""The drive that drawn job files run on: small, so that a share of it is covered in a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fio_behaviour.issued import Drive

#: 435 MiB of a preset's drive, whose requests all take time.
DRIVE: Drive = (
    "tlc-unbuffered-64gb",
    {"ssd": {"geometry": {"blocks_per_plane": 32, "pages_per_block": 16}}},
)
