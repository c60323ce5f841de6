"""Prepared drives, kept for the next run that starts from the same."""

from copyback.prepared.folder import Folder, folder_for, users
from copyback.prepared.start import Start

__all__ = ["Folder", "Start", "folder_for", "users"]
