"""Addresses of random requests, and whether each block comes once a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.fio import values
from copyback.fio.sizes import least_size
from copyback.fio.timing import is_endless

if TYPE_CHECKING:
    from copyback.fio.reader import Reader

#: Where each block is as likely as the next.
_UNIFORM = {"type": "uniform"}

_GENERATORS = ("tausworthe", "lfsr", "tausworthe64")


def address(job: Reader, sizes: Any) -> dict[str, Any]:
    """Return where the random requests of a job go."""
    found = job.value("random_distribution", distribution, _UNIFORM)
    has_map = not job.is_set("norandommap")
    is_lfsr = job.value("random_generator", _generator, _GENERATORS[0]) == "lfsr"
    if found != _UNIFORM or not _starts_at_blocks(job, sizes):
        return found
    if is_lfsr and not isinstance(sizes, str):
        job.notes.append(
            "fio: offsets may repeat: random_generator=lfsr keeps no map, and its blocks are of "
            "the smallest size"
        )
        return found
    if not has_map and not is_lfsr:
        return found
    job.notes.append(
        "fio: each block comes once a pass, as in fio; the order within a pass is not fio's"
    )
    if _blocks_differ(sizes):
        job.notes.append(
            "fio: fio's map confuses blocks of reads and writes that differ in size, and leaves "
            "some out; here it does not"
        )
    return {"type": "random_map", "repeats": _repeats(job, is_lfsr=is_lfsr)}


def has_map(address: dict[str, Any]) -> bool:
    """Whether each block comes once a pass."""
    return bool(address["type"] == "random_map")


def _blocks_differ(sizes: Any) -> bool:
    """Whether the smallest read is larger or smaller than the smallest write."""
    if isinstance(sizes, str) or sizes["type"] != "by_operation":
        return False
    return least_size(sizes["read"]) != least_size(sizes["write"])


def _starts_at_blocks(job: Reader, sizes: Any) -> bool:
    """Whether offsets are multiples of the smallest size; else fio turns its map off."""
    least = least_size(sizes)
    return job.value("ba", values.size, least) in {0, least}


def _repeats(job: Reader, *, is_lfsr: bool) -> bool:
    """Whether each pass is like the first: where fio seeds its generators anew.

    It does for each of ``loops``, and where ``io_size`` asks for more than ``size``; within a
    time it begins its map anew, but of its generators only the shift register.
    """
    if is_endless(job):
        return is_lfsr
    # A seed overrides randrepeat.
    return "randseed" not in job.options and (
        "randrepeat" not in job.options or job.is_set("randrepeat")
    )


def _generator(text: str) -> str:
    if text not in _GENERATORS:
        raise InputError(f"found {text or 'nothing'}; allowed: {', '.join(_GENERATORS)}")
    return text


def distribution(text: str) -> dict[str, Any]:
    """Return how a value of ``random_distribution`` spreads requests.

    >>> distribution("zipf:0.9"), distribution("zoned:60/10:40/")["pages"]
    ({'type': 'zipf', 'theta': 0.9}, [0.1, 0.9])
    """
    kind, _, parameters = text.partition(":")
    match kind:
        case "random" if not parameters:
            return _UNIFORM
        case "zipf":
            return {"type": "zipf", **({"theta": values.real(parameters)} if parameters else {})}
        case "pareto":
            return {"type": "pareto", **({"h": values.real(parameters)} if parameters else {})}
        case "zoned" if parameters:
            zones = [zone.partition("/") for zone in parameters.split(":")]
            return {
                "type": "zoned",
                "requests": values.shares([requests for requests, _, _ in zones], text),
                "pages": values.shares([pages for _, _, pages in zones], text),
            }
    raise InputError(f"found {text}; allowed: random, zipf:theta, pareto:h, zoned:%/%:...")
