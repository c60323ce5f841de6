"""Link to the host, from the rates that a sheet promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.sheet.entry import Entry, Source
from copyback.sheet.formulas import RANDOM, SEQUENTIAL, HostLink, link_of
from copyback.sheet.sheet import LINKS, Interface
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback.sheet.quantity import Quantity
    from copyback.sheet.sheet import Sheet


def sequential(sheet: Sheet) -> tuple[str, Quantity] | None:
    """Return the greater of the sequential rates, with its option."""
    rates = (
        ("--sequential-read", sheet.sequential_read),
        ("--sequential-write", sheet.sequential_write),
    )
    named = [(option, rate) for option, rate in rates if rate is not None]
    return max(named, key=lambda one: one[1].value) if named else None


def is_of_requests(sheet: Sheet) -> bool:
    """Whether the link bounds small requests: they are more a second than large ones."""
    large, small = sequential(sheet), sheet.random_read
    return large is not None and small is not None and small.value > large[1].value / SEQUENTIAL


def link(sheet: Sheet, interface: Interface) -> HostLink:
    """Return the link.

    Raises
    ------
    InputError
        If small requests carry more bytes than large ones.
    """
    standard = LINKS[interface]
    large, small = sequential(sheet), sheet.random_read
    if large is None or small is None:
        return HostLink(large[1].value if large else standard.rate, 0.0)
    if not is_of_requests(sheet):
        return HostLink(large[1].value, 0.0)
    if small.value * RANDOM > large[1].value:
        raise InputError(
            f"--random-read {small}: of 4 KiB each these are "
            f"{units.rate(small.value * RANDOM)}B/s, more than {large[0]} {large[1]}"
        )
    return link_of(large[1].value, small.value)


def entries(sheet: Sheet, interface: Interface, host: HostLink) -> Iterator[Entry]:
    """Yield the keys of the link."""
    standard, large = LINKS[interface], sequential(sheet)
    if sheet.interface is None:
        yield Entry("host.interface", standard.config, Source.ASSUMED, "most drives of today")
    else:
        yield Entry("host.interface", standard.config, Source.GIVEN, f"--interface {interface}")
    rate = f"{round(host.rate / 1e6)}MB/s"
    if large is None:
        yield Entry("host.link_rate", rate, Source.ASSUMED, standard.name)
    elif not is_of_requests(sheet):
        yield Entry("host.link_rate", rate, Source.DERIVED, f"{large[0]} {large[1]}")
    else:
        both = f"{large[0]} {large[1]} in 128 KiB, --random-read {sheet.random_read} in 4 KiB"
        why = f"a request takes link_overhead + bytes / link_rate, which gives {both}"
        yield Entry("host.link_rate", rate, Source.DERIVED, why)
        overhead = f"{round(host.overhead_ns)}ns"
        yield Entry("host.link_overhead", overhead, Source.DERIVED, "with link_rate, as above")
    yield Entry("host.link_duplex", standard.duplex, Source.ASSUMED, standard.name)
