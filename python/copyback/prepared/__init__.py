"""Prepared drives, kept for the next run that starts from the same."""

from copyback.prepared.folder import Folder, users
from copyback.prepared.start import Start

__all__ = ["Folder", "Start", "users"]
