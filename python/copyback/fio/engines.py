"""fio's I/O engines: which ask a drive for what the job says, and which do something else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Engine:
    """Meaning of an I/O engine to a drive.

    Attributes
    ----------
    one_at_a_time
        Whether it has one request under way, whatever ``iodepth`` says.
    has_files
        Whether jobs without a file name have a file each, in place of a whole device.
    may_be_cached
        Whether the page cache stands before the drive unless ``direct`` is set.
    note
        What is not simulated; None if nothing is left out.
    """

    one_at_a_time: bool = False
    has_files: bool = True
    may_be_cached: bool = True
    note: str | None = None


_SYNC = Engine(one_at_a_time=True)
_ASYNC = Engine()
_COMMANDS = Engine(has_files=False, may_be_cached=False)
_PERSISTENT = Engine(
    one_at_a_time=True,
    may_be_cached=False,
    note="loads and stores of memory are simulated as requests to the drive",
)
_NOTHING = Engine(
    has_files=False,
    may_be_cached=False,
    note="asks no device for anything in fio; the drive is asked for what the job says",
)


def _remote(what: str, *, has_files: bool) -> Engine:
    note = f"without {what}: the drive is asked for what the job says"
    return Engine(has_files=has_files, may_be_cached=False, note=note)


_GPU = Engine(note="the way to the memory of a GPU is not simulated")

#: Engines that read and write ranges of bytes.
ENGINES: dict[str, Engine] = {
    **dict.fromkeys(("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"), _SYNC),
    **dict.fromkeys(
        ("libaio", "linuxaio", "aio", "posixaio", "solarisaio", "windowsaio", "io_uring"), _ASYNC
    ),
    **dict.fromkeys(("io_uring_cmd", "sg", "libblkio", "xnvme", "spdk", "spdk_bdev"), _COMMANDS),
    **dict.fromkeys(("dev-dax", "libpmem", "pmemblk"), _PERSISTENT),
    **dict.fromkeys(("null", "cpp_null"), _NOTHING),
    **dict.fromkeys(("libcufile", "libhipfile"), _GPU),
    **dict.fromkeys(
        ("nbd", "libiscsi", "rbd"),
        _remote("the network before the block device", has_files=False),
    ),
    **dict.fromkeys(
        ("nfs", "gfapi", "gfapi_async", "libhdfs", "dfs", "ime_psync", "ime_psyncv", "ime_aio"),
        _remote("the network and the file server behind it", has_files=True),
    ),
}

#: Engines whose jobs are no requests to a block device, and what they are.
REFUSED: dict[str, str] = {
    **dict.fromkeys(
        ("filecreate", "filedelete", "filestat", "dircreate", "dirdelete", "dirstat"),
        "works on a file system's metadata and moves no data",
    ),
    **dict.fromkeys(
        ("falloc", "ftruncate", "e4defrag"),
        "changes where a file system keeps files and says nothing of what reaches the drive",
    ),
    **dict.fromkeys(("cpuio", "exec"), "uses the processor and no drive"),
    "page_fault": "touches memory and no drive",
    **dict.fromkeys(("net", "netsplice", "rdma"), "moves data over a network and not to a drive"),
    **dict.fromkeys(
        ("http", "rados"), "stores objects, and what reaches a drive is the server's affair"
    ),
    "libzbc": "drives zoned devices, which are not simulated",
    "mtd": "drives raw flash without a translation layer, which is what is simulated here",
    "external": "is loaded from a file, and what it does is not known",
}

#: The engine of a job that names none, fio's own on all systems but Windows.
DEFAULT = "psync"
