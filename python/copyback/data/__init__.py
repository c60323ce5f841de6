"""Tables and files of results: how they are named, written, found and read."""

from __future__ import annotations

from typing import Literal

SUMMARY = "summary.json"
CONFIG = "config.toml"
SERIES = "series.parquet"
REQUESTS = "requests.parquet"
COLLECTIONS = "collections.parquet"
COMMANDS = "commands.parquet"
MESSAGES = "messages.parquet"
DISTRIBUTION = "distribution.parquet"
LATENCY_LOG = "latency.hlog"
DIES = "dies.parquet"
FLOWS = "flows.parquet"
TIMELINE = "timeline.json.gz"
SLOWEST = "slowest.json"
TAIL = "tail.csv"
REPORT = "report.html"

#: Tables with a row for everything that happened; a run keeps them on request.
RowTableName = Literal["requests", "collections", "commands", "messages"]
TableName = Literal["series", "distribution", "dies", "flows", RowTableName]
ROW_TABLE_FILES: dict[RowTableName, str] = {
    "requests": REQUESTS,
    "collections": COLLECTIONS,
    "commands": COMMANDS,
    "messages": MESSAGES,
}
TABLE_FILES: dict[TableName, str] = {
    "series": SERIES,
    "distribution": DISTRIBUTION,
    "dies": DIES,
    "flows": FLOWS,
}
TABLE_FILES.update(ROW_TABLE_FILES.items())

#: What a run writes piece by piece as it goes, on request.
StreamName = Literal["latency_log", "timeline"]
STREAM_FILES: dict[StreamName, str] = {"latency_log": LATENCY_LOG, "timeline": TIMELINE}

#: Every file that a result directory may hold.
FILES = frozenset(
    {SUMMARY, CONFIG, SLOWEST, TAIL, REPORT, *TABLE_FILES.values(), *STREAM_FILES.values()}
)
