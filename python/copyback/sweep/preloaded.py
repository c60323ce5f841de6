"""What the process imports that is forked for each worker of a sweep."""

from __future__ import annotations

import gc
import os

# It must have no threads when it is forked, and OpenBLAS starts some when NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from copyback import parquet
from copyback.sweep import local

__all__ = ["local", "parquet"]

# No worker needs to look for garbage in what it has not made itself.
gc.freeze()
