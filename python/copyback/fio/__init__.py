"""fio's formats: job files as workloads, and results in the layout of fio's JSON."""

from __future__ import annotations

from copyback.fio.placement import handles_of
from copyback.fio.results import fio_json, write_fio_json
from copyback.fio.workload import Job, read_job_file, settings_of_job

__all__ = ["Job", "fio_json", "handles_of", "read_job_file", "settings_of_job", "write_fio_json"]
