"""Numbers as people read them: three significant digits, the unit that fits, thousands apart."""

from __future__ import annotations

import math

MISSING = "–"


def significant(value: float, digits: int = 3) -> str:
    """Return `value` with `digits` significant digits, and never fewer than its whole part."""
    if value == 0:
        return "0"
    decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    # 9.996 rounds to 10.00, which needs one decimal fewer.
    whole_digits = math.floor(math.log10(abs(round(value, decimals)))) + 1
    return f"{value:,.{max(min(decimals, digits - whole_digits), 0)}f}"


def _scaled(value: float | None, steps: list[tuple[float, str]], digits: int = 3) -> str:
    """Return `value` in the largest unit of `steps` (ascending) that leaves it at least one."""
    if value is None or not math.isfinite(value):
        return MISSING
    scale, unit = steps[0]
    for next_scale, next_unit in steps[1:]:
        # Compare as printed, so that 999.96 becomes 1.00 of the next unit.
        if float(significant(abs(value) / scale, digits).replace(",", "")) * scale >= next_scale:
            scale, unit = next_scale, next_unit
    return f"{significant(value / scale, digits)} {unit}".rstrip()


def time_us(us: float | None) -> str:
    """Return a time given in microseconds, such as ``"1.24 ms"``."""
    if us == 0:
        return "0 µs"
    return _scaled(us, [(1e-3, "ns"), (1.0, "µs"), (1e3, "ms"), (1e6, "s")])


def time_s(seconds: float | None) -> str:
    """Return a time given in seconds; minutes, hours and days above a hundred seconds."""
    if seconds is None or not math.isfinite(seconds):
        return MISSING
    if seconds < 100:
        return time_us(seconds * 1e6)
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days:,} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s"


def size(number: float | None) -> str:
    """Return a number of bytes in binary units, such as ``"4 KiB"``."""
    if number is None or not math.isfinite(number):
        return MISSING
    names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    scale = 0
    while abs(number) >= 1024 and scale < len(names) - 1:
        number /= 1024
        scale += 1
    text = f"{number:,.0f}" if float(number).is_integer() else significant(number)
    return f"{text} {names[scale]}"


def count(number: float | None) -> str:
    """Return a whole number with thousands apart."""
    return MISSING if number is None else f"{number:,.0f}"


def rate(per_second: float | None) -> str:
    """Return a rate with a metric prefix, such as ``"12.3 M"``."""
    if per_second == 0:
        return "0"
    return _scaled(per_second, [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")])


def share(fraction: float | None) -> str:
    """Return a fraction as a percentage with one decimal."""
    return MISSING if fraction is None else f"{100 * fraction:.1f} %"


def factor(value: float | None) -> str:
    """Return a ratio with three decimals."""
    return MISSING if value is None or not math.isfinite(value) else f"{value:,.3f}"


def decimal(value: float | None) -> str:
    """Return a plain number with three significant digits."""
    return MISSING if value is None or not math.isfinite(value) else significant(value)
