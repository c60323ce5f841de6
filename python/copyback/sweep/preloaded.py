"""Imports of the process that is forked for each worker of a sweep.

It must have no threads then: the command line, which alone has such a process, keeps OpenBLAS from
starting any.
"""

from __future__ import annotations

import gc

from copyback.data import parquet
from copyback.sweep import local

__all__ = ["local", "parquet"]

# No worker needs to look for garbage in what it has not made itself.
gc.freeze()
