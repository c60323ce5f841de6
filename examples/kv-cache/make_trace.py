"""Write what a cache of KV blocks asks of its SSD as a trace, from the keys of its requests.

    python examples/kv-cache/make_trace.py examples/kv-cache/conversation-1000.jsonl.gz kv.parquet
    copyback run examples/kv-cache/drive.toml --trace kv.parquet

Requests are lines of JSON as Mooncake publishes them: `timestamp` in milliseconds, and `hash_ids`,
the keys of the blocks of 512 tokens of a prompt. docs/guide/llm-cache.md explains the options.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

import polars as pl
from tiers import Admission, Cache, Eviction, Slots

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK_TOKENS = 512
#: Keys and values of 80 layers with 8 heads of 128 numbers in FP16: Llama 3 70B.
BYTES_PER_TOKEN = 2 * 80 * 8 * 128 * 2
#: Page of the simulated drive: scaled blocks are whole pages, other data are written by the page.
PAGE = 16 * 1024
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "GB": 10**9, "TB": 10**12}


class Fault(Exception):  # noqa: N818 - what a user reads
    """A line about what is wrong with the input."""


class Request(NamedTuple):
    """A prompt: when it came, and the keys of its blocks."""

    milliseconds: int
    blocks: list[int]


def main() -> None:
    """Write the trace, and print what the cache did."""
    options = arguments().parse_args()
    try:
        cache = simulate(options)
        write_trace(rows(cache, options), options.out)
    except (Fault, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    print_counts(cache, options)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("requests", type=Path, help="JSONL, or JSONL in gzip")
    parser.add_argument("out", type=Path, help="the trace to write, Parquet")
    parser.add_argument("--dram", type=size, default="512GiB", help="DRAM tier (%(default)s)")
    parser.add_argument("--ssd", type=size, default="680GiB", help="SSD tier (%(default)s)")
    parser.add_argument("--bytes-per-token", type=size, default=BYTES_PER_TOKEN)
    parser.add_argument("--write", choices=get_args(Admission), default="evicted")
    parser.add_argument("--evict", choices=get_args(Eviction), default="lru")
    parser.add_argument("--ahead", type=share, default="0%", help="of the slots, trimmed early")
    parser.add_argument("--other", type=size, default="0B", help="other data behind the tier")
    parser.add_argument(
        "--other-writes", type=share, default="10%", help="of what the cache writes, to other data"
    )
    parser.add_argument("--scale", type=int, default=128, help="sizes are divided by this")
    return parser


def size(text: str) -> int:
    found = re.fullmatch(r"(\d+) ?(\w+)?", text)
    if found is None or (found[2] or "B") not in UNITS:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a size such as 128GiB")
    return int(found[1]) * UNITS[found[2] or "B"]


def share(text: str) -> float:
    found = re.fullmatch(r"(\d{1,2}(?:\.\d+)?)%", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a share such as 10%")
    return float(found[1]) / 100


def simulate(options: argparse.Namespace) -> Cache:
    """Return a cache that has served all requests."""
    block = BLOCK_TOKENS * options.bytes_per_token
    dram, slots = (whole_blocks(options, tier, block) for tier in ("dram", "ssd"))
    scaled_block(options)
    ahead = round(options.ahead * slots)
    cache = Cache(dram, Slots(slots, options.evict, ahead), options.write)
    for request in read_requests(options.requests):
        cache.serve(*request)
    if not cache.operations:
        raise Fault(f"{options.requests}: found nothing to read or write; allowed: more requests")
    return cache


def whole_blocks(options: argparse.Namespace, tier: str, block: int) -> int:
    """Return how many blocks a tier holds."""
    found: int = getattr(options, tier)
    if block == 0 or found < block:
        raise Fault(f"--{tier}: found {found} bytes; allowed: a block of {block} bytes or more")
    return found // block


def scaled_block(options: argparse.Namespace) -> int:
    """Return the bytes of a block on the simulated drive."""
    block = BLOCK_TOKENS * options.bytes_per_token
    if options.scale < 1 or block % (options.scale * PAGE):
        raise Fault(
            f"--scale: found {options.scale}; allowed: a number that divides a block of "
            f"{block} bytes into pages of {PAGE}"
        )
    return int(block // options.scale)


def read_requests(path: Path) -> Iterator[Request]:
    """Yield the requests of a file, in order of time."""
    before = 0
    for number, line in enumerate(lines(path), 1):
        request = read_request(line, f"{path}: line {number}")
        if request.milliseconds < before:
            raise Fault(
                f"{path}: line {number}: timestamp: found {request.milliseconds}; "
                f"allowed: no less than {before}, the one before"
            )
        before = request.milliseconds
        yield request


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text, which may be in gzip."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            yield from file
    except (EOFError, UnicodeDecodeError, gzip.BadGzipFile, zlib.error) as error:
        raise Fault(f"{path}: found {error}; allowed: text, or text in gzip (.gz)") from error


def read_request(line: str, place: str) -> Request:
    """Return the request of a line of JSON."""
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Fault(f"{place}: found {line.strip()[:40]!r}; allowed: an object in JSON")
    time, blocks = found.get("timestamp"), found.get("hash_ids")
    if not is_count(time):
        raise Fault(f"{place}: timestamp: found {time!r}; allowed: whole milliseconds")
    if not isinstance(blocks, list) or not all(is_count(block) for block in blocks):
        raise Fault(
            f"{place}: hash_ids: found {str(blocks)[:40]}; allowed: a list of whole numbers"
        )
    if len(set(blocks)) < len(blocks):
        twice = next(block for block in blocks if blocks.count(block) > 1)
        raise Fault(f"{place}: hash_ids: found {twice} twice; allowed: once")
    return Request(time, blocks)


def is_count(found: object) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and found >= 0


def rows(cache: Cache, options: argparse.Namespace) -> Iterator[tuple[int, str, int, int, int]]:
    """Yield time, operation, offset, bytes and placement handle of each request to the drive.

    The cache has handle 0. Other data have handle 1: random pages of theirs are overwritten,
    as many bytes as are asked for beside those that the cache writes.
    """
    block = scaled_block(options)
    begin = options.ssd // (options.scale * PAGE) + 1
    pages = options.other // (options.scale * PAGE)
    draws = random.Random(0)
    due = 0.0
    for time, kind, slot in cache.operations:
        yield time, kind, slot * block, block, 0
        if kind == "write" and pages:
            due += options.other_writes * block / PAGE
        while due >= 1:
            yield time, "write", (begin + draws.randrange(pages)) * PAGE, PAGE, 1
            due -= 1


def write_trace(requests: Iterator[tuple[int, str, int, int, int]], out: Path) -> None:
    """Write requests to a drive as a trace; a file that is there stays until all is written."""
    names = ("milliseconds", "operation", "offset", "bytes", "handle")
    types = (pl.Int64, pl.String, pl.Int64, pl.Int64, pl.Int64)
    table = pl.DataFrame(list(requests), schema=dict(zip(names, types, strict=True)), orient="row")
    arrival = (pl.col("milliseconds") * 1_000_000).alias("arrival_ns")
    part = out.with_name(out.name + ".part")
    table.select(arrival, *names[1:]).write_parquet(part)
    part.replace(out)


def print_counts(cache: Cache, options: argparse.Namespace) -> None:
    counts, block = cache.counts, BLOCK_TOKENS * options.bytes_per_token
    gib = counts.written * block / 2**30
    print(f"Block        {block / 2**20:g} MiB, on the simulated drive {scaled_block(options):,} B")
    print(
        f"Asked for    {counts.asked:,} blocks · {counts.in_dram:,} found in DRAM · "
        f"{counts.on_ssd:,} on the SSD · {counts.computed:,} computed"
    )
    print(
        f"SSD          {counts.written:,} blocks written, {gib:,.1f} GiB · "
        f"{counts.trimmed:,} trimmed"
    )


if __name__ == "__main__":
    main()
