"""Amount of a job's work: ``size``, ``io_size``, ``loops``, ``number_ios``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback.fio import values
from copyback.fio.sizes import least_size
from copyback.fio.timing import is_endless

if TYPE_CHECKING:
    from copyback.fio.reader import Reader


def amount(job: Reader, size: int, sizes: Any, *, in_passes: bool) -> dict[str, Any]:
    """Return the keys of a workload that say how many requests it has.

    A runtime or a steady state may end it before.

    Parameters
    ----------
    job
        The job.
    size
        Bytes of its file.
    sizes
        Of its requests.
    in_passes
        Whether requests go through the file and begin anew. Then a rest that holds no block has
        none.
    """
    if is_endless(job):
        return {"requests": "unlimited"}
    block = least_size(sizes)
    loops = job.whole("loops", 1, least=1)
    # Per cent are of the size.
    io_size = job.value("io_size", lambda text: values.size_or_share(text, size), size)
    asked = (io_size or size) * loops
    passes, rest = divmod(asked, size)
    most = passes * (size - size % block) + rest if in_passes else asked
    if most > values.MOST:
        name = "loops" if "loops" in job.options else "io_size"
        raise job.fault(name, f"found {most} bytes; allowed: at most {values.MOST}")
    if isinstance(sizes, str):
        # fio goes on until it has asked for all bytes.
        by_size = -(-most // block)
        return {"requests": min(job.whole("number_ios", by_size, least=1) * loops, by_size)}
    if "number_ios" not in job.options:
        return {"requests": "unlimited", "io_size": f"{most}B"}
    number = min(job.whole("number_ios", least=1) * loops, values.MOST)
    return {"requests": number, "io_size": f"{most}B"}
