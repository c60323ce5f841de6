"""Values of job files, read as fio reads them (HOWTO, "Parameter types")."""

from __future__ import annotations

import re
import sys

from copyback._core import InputError

#: With fio's default `kb_base` of 1024, `k` is 1024 and `ki` is 1000: the reverse of the standards.
_SIZES: dict[str, int] = {
    "": 1,
    **{letter: 1024**power for power, letter in enumerate("kmgtp", start=1)},
    **{f"{letter}i": 1000**power for power, letter in enumerate("kmgtp", start=1)},
}
_TIMES_S = {"us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1.0, "m": 60.0}
_TIMES_S |= {"h": 3600.0, "d": 86_400.0}

#: Greater numbers and longer times are no measures of a drive; a simulation could not count them.
MOST = 1 << 62
MOST_SECONDS = 36_500 * 86_400

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z%]*)", re.IGNORECASE)


def size(text: str) -> int:
    """Return a size in bytes.

    >>> size("4k"), size("1MiB"), size("512")
    (4096, 1000000, 512)
    """
    number, suffix = _split(text)
    unit = _SIZES.get(suffix.removesuffix("b"))
    if unit is None or number != int(number):
        raise InputError(f"found {text}; a size such as 4k or 1g is needed")
    found = int(number) * unit
    if found > MOST:
        raise InputError(f"found {text}; allowed: at most {MOST}")
    return found


def size_or_share(text: str, whole: int) -> int:
    """Return a size in bytes, or so many per cent of `whole`."""
    if not text.endswith("%"):
        return size(text)
    return int(whole * per_cent(text.removesuffix("%")))


def seconds(text: str, alone: str = "s") -> float:
    """Return a time in seconds; a number alone is in the unit `alone`.

    >>> seconds("90"), seconds("2m"), seconds("500ms"), seconds("500", "ms")
    (90.0, 120.0, 0.5, 0.5)
    """
    number, suffix = _split(text)
    unit = _TIMES_S.get(suffix or alone)
    if unit is None:
        raise InputError(f"found {text}; a time such as 60, 10m or 500ms is needed")
    if number * unit > MOST_SECONDS:
        raise InputError(f"found {text}; allowed: at most 36500d")
    return number * unit


def per_cent(text: str) -> float:
    """Return per cent as a share.

    >>> per_cent("70")
    0.7
    """
    number = real(text)
    if not 0 <= number <= 100:
        raise InputError(f"found {text}; allowed: 0 to 100")
    return number / 100


def share_of(units: int, of: int) -> float:
    """Return units as a share, from which no rounding takes one away.

    >>> share_of(1, 4), share_of(85, 37120) > 85 / 37120
    (0.25, True)
    """
    share = units / of
    # What reads a decimal number may be one place of a double below it.
    return share if share * of >= units else share * (1 + 4 * sys.float_info.epsilon)


def shares(texts: list[str], whole: str) -> list[float]:
    """Return per cent as shares; those that are empty have equal parts of what is left.

    >>> shares(["60", "", ""], "a/60:b/:c/")
    [0.6, 0.2, 0.2]
    """
    found = [per_cent(text) if text else None for text in texts]
    said = sum(share for share in found if share is not None)
    open_ = sum(share is None for share in found)
    if said > 1 + 1e-9 or (open_ == 0 and said < 1 - 1e-9):
        raise InputError(f"found {whole}: {100 * said:g} per cent in all; allowed: 100")
    rest = round((1 - said) / open_, 12) if open_ else 0.0
    return [rest if share is None else share for share in found]


def whole(text: str, least: int = 0) -> int:
    """Return a whole number, which may have a suffix as a size has.

    >>> whole("10k")
    10240
    """
    try:
        number = size(text)
    except InputError:
        number = least - 1
    if number < least:
        raise InputError(f"found {text}; a whole number from {least} is needed, at most {MOST}")
    return number


def real(text: str) -> float:
    """Return a number that is not negative."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise InputError(f"found {text}; a number is needed")
    return number


def flag(text: str | None) -> bool:
    """Return what a switch says: a name alone is on.

    >>> flag(None), flag("0")
    (True, False)
    """
    if text is None:
        return True
    if text not in {"0", "1"}:
        raise InputError(f"found {text}; allowed: 0 or 1")
    return text == "1"


def _split(text: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise InputError(f"found {text or 'nothing'}; a number with a unit is needed")
    return float(match[1]), match[2].lower()
