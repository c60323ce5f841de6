"""Job files drawn at random, each from a number: whatever options are drawn, fio takes them."""

from __future__ import annotations

from random import Random

#: Engines that have many requests under way, and one that has not.
_ENGINES = ("libaio", "io_uring", "posixaio", "sync")

_SIZES = ("512", "4k", "8k", "12k", "64k")


def job_file(number: int) -> str:
    """Return the job file of a number."""
    random = Random(number)
    lines = ["[global]", "direct=1", f"ioengine={random.choice(_ENGINES)}"]
    if random.random() < 0.7:
        lines.append("filename=/dev/nvme0n1")
    lines.append("# what jobs have of their own comes after")
    for name in "abc"[: random.choice((1, 1, 2, 3))]:
        lines += ["", f"[{name}]", *_job(random, is_first=name == "a")]
    return "\n".join(lines) + "\n"


def _job(random: Random, *, is_first: bool) -> list[str]:
    options = [*_kind(random), *_sizes(random), *_amount(random)]
    if random.random() < 0.6:
        options.append(f"iodepth={random.choice((1, 2, 7, 32))}")
    if random.random() < 0.3:
        options.append(f"numjobs={random.choice((2, 3))}")
        options += random.choice(([], ["offset_increment=1m"]))
    if random.random() < 0.2:
        options.append(f"offset={random.choice(('1m', '4k', '384k', '10%'))}")
    options += _pace(random)
    if not is_first:
        options += random.choice(([], ["stonewall"], ["wait_for=a"], ["startdelay=2ms"]))
    return options


def _kind(random: Random) -> list[str]:
    kind = random.choice(
        ("read", "write", "rw", "randread", "randwrite", "randrw", "trim", "trimwrite", "randtrim")
    )
    options = []
    if "rw" in kind and random.random() < 0.7:
        options.append(
            f"{random.choice(('rwmixread', 'rwmixwrite'))}={random.randrange(0, 101, 10)}"
        )
    if kind.startswith("rand"):
        options += random.choice(
            (
                [],
                ["norandommap"],
                ["random_distribution=zipf:1.2", "norandommap"],
                ["random_distribution=zoned:60/10:30/20:10/70"],
                ["percentage_random=60"],
                ["randrepeat=0"],
            )
        )
    elif random.random() < 0.3:
        kind += random.choice((":8k", ":-128k"))
    if "write" in kind and random.random() < 0.3:
        options.append(f"{random.choice(('fsync', 'fdatasync'))}={random.choice((1, 8))}")
    return [f"rw={kind}", *options]


def _sizes(random: Random) -> list[str]:
    match random.choice(("none", "bs", "bs", "two", "split", "range")):
        case "bs":
            return [f"bs={random.choice(_SIZES)}"]
        case "two":
            read, write = random.sample(_SIZES, 2)
            return [f"bs={read},{write}"]
        case "split":
            return [f"bssplit={random.choice(('4k/60:64k/40', '512/10:4k/70:8k/', '4k:16k'))}"]
        case "range":
            return [f"bsrange={random.choice(('4k-16k', '512-4k'))}"]
    return []


def _amount(random: Random) -> list[str]:
    size = random.choice(("1m", "3m", "5000k", "2%"))
    match random.choice(("size", "loops", "io_size", "less", "number", "time", "endless")):
        case "loops":
            return [f"size={size}", "loops=3"]
        case "io_size":
            return [f"size={size}", "io_size=9m"]
        case "less":
            return [f"size={size}", "io_size=300k"]
        case "number":
            return [f"size={size}", "number_ios=77"]
        case "time":
            return [f"size={size}", "runtime=3ms"]
        case "endless":
            return [f"size={size}", "runtime=20ms", "time_based"]
    return [f"size={size}"]


def _pace(random: Random) -> list[str]:
    match random.choice(("free", "free", "free", "rate", "rate_iops", "poisson", "pause")):
        case "rate":
            return ["rate=20m"]
        case "rate_iops":
            return ["rate_iops=5000"]
        case "poisson":
            return ["rate_iops=4000", "rate_process=poisson"]
        case "pause":
            return ["thinktime=200us", f"thinktime_blocks={random.choice((1, 4))}"]
    return []
