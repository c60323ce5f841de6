"""Ratio of one number to another, as every output says it: ``5.60×``, ``−45.3 %``, ``1/250``."""

from __future__ import annotations

from copyback.words.units import significant

#: Ratio from which it is said as a multiple: the least that rounds to twice as much.
TWICE = 1.9995

#: Ratio up to which it is said as a fraction: below it a percentage would soon be −100.0 %.
HUNDREDTH = 0.01

#: Ratio beyond which no digits are said, nor those of its inverse.
MOST = 1e6

_UNITS = (" %", "×")


def ratio_text(ratio: float) -> str:
    """Return a ratio: a multiple from 2 on, a fraction up to 1/100, else a percentage.

    >>> ratio_text(5.6), ratio_text(1.12), ratio_text(0.547), ratio_text(0.004), ratio_text(1.00001)
    ('5.60×', '+12.0 %', '−45.3 %', '1/250', '0.0 %')
    >>> ratio_text(0.9999), ratio_text(1.9999), ratio_text(1e9), ratio_text(0.0)
    ('0.0 %', '2.00×', '>1,000,000×', '<1/1,000,000')
    """
    if ratio >= TWICE:
        return f">{MOST:,.0f}×" if ratio > MOST else f"{significant(ratio)}×"
    if ratio <= HUNDREDTH:
        return f"<1/{MOST:,.0f}" if ratio * MOST < 1 else f"1/{significant(1 / ratio)}"
    amount = f"{abs(100 * (ratio - 1)):.1f}"
    sign = "" if amount == "0.0" else "−" if ratio < 1 else "+"
    return f"{sign}{amount} %"


def ends_text(low: float, high: float) -> tuple[str, str]:
    """Return the ends of an interval of ratios; a unit that both have is said once.

    >>> ends_text(0.5, 1.25), ends_text(1.5, 2.5), ends_text(3.0, 4.0)
    (('−50.0', '+25.0 %'), ('+50.0 %', '2.50×'), ('3.00', '4.00×'))
    """
    first, last = ratio_text(low), ratio_text(high)
    shared = next((unit for unit in _UNITS if first.endswith(unit) and last.endswith(unit)), "")
    return first.removesuffix(shared), last
