"""Numbers as people read them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from copyback import _core
from copyback.inputs import configuration
from copyback.words import describe, units


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0, "0 µs"),
        (0.0254, "25.4 ns"),
        (0.9996, "1.00 µs"),
        (25, "25.0 µs"),
        (593.438, "593 µs"),
        (999.96, "1.00 ms"),
        (12_345, "12.3 ms"),
        (7_654_321, "7.65 s"),
        (7_654_321_000, "7,654 s"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_time_us(us: float | None, text: str) -> None:
    assert units.time_us(us) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.5, "500 ms"),
        (99, "99.0 s"),
        (754, "12 min 34 s"),
        (4200, "1 h 10 min"),
        (7 * 86400, "7 d 0 h"),
    ],
)
def test_time_s(seconds: float, text: str) -> None:
    assert units.time_s(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 B"), (4096, "4 KiB"), (1.5 * 2**30, "1.50 GiB"), (1000, "1,000 B")]
)
def test_size(number: float, text: str) -> None:
    assert units.size(number) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (999.6, "1.00 k"), (3.21e6, "3.21 M")])
def test_rate(value: float, text: str) -> None:
    assert units.rate(value) == text


def test_quantities_of_a_configuration() -> None:
    sizes = {"4KiB": 4096, "528B": 528, "1 GB": 10**9, "512": 512}
    assert {text: _core.size_bytes(text) for text in sizes} == sizes
    assert _core.time_ns("25.5us") == 25_500
    assert _core.rate_bytes_per_s("333MT/s") == 333 * 10**6
    assert _core.rate_bytes_per_s("none") is None
    for read in (_core.size_bytes, _core.time_ns, _core.rate_bytes_per_s):
        with pytest.raises(_core.InputError, match=r'found "x"; a (size|time|rate) starts with'):
            read("x")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"type": "rga", "d": 10}, '{ type = "rga", d = 10 }'),
        (["40us", "60us"], '["40us", "60us"]'),
        (True, "true"),
        (0.05, "0.05"),
        ('say "é"', '"say \\"é\\""'),
        ({"a b": {}}, '{ "a b" = {} }'),
        (math.inf, "inf"),
    ],
)
def test_to_toml(value: object, text: str) -> None:
    import tomllib

    assert configuration.to_toml(value) == text
    assert tomllib.loads(f"x = {text}")["x"] == value


@pytest.mark.parametrize(
    ("load", "text"),
    [
        ({"read_share": 0.4, "request_size": "4KiB"}, "40 % reads · 4KiB requests"),
        (
            {
                "read_share": 0.1919,
                "trim_share": 0.05,
                "request_size": {
                    "type": "by_operation",
                    "read": {"type": "exponential", "mean": "32KiB"},
                    "write": {
                        "type": "histogram",
                        "sizes": ["64KiB", "4KiB"],
                        "weights": [1.0, 2.0],
                    },
                },
                "address": {"type": "zipf", "theta": 0.9, "scattered": True},
                "bursts": {"type": "on_off", "on": "1s", "off": "2s"},
            },
            "19.2 % reads · 5 % trims · reads exponential (mean 32KiB), writes 4KiB to 64KiB · "
            "zipf · in bursts",
        ),
        (
            {
                "request_size": {"type": "histogram", "sizes": ["8KiB"], "weights": [1.0]},
                "address": {"type": "hot_cold", "requests": 0.8, "pages": 0.2},
                "bursts": "none",
            },
            "8KiB requests · hot and cold",
        ),
    ],
)
def test_a_generator_in_a_line(load: dict[str, Any], text: str) -> None:
    config = {"workload": {"type": "synthetic", **load}}
    assert describe.workload(config) == f"synthetic · {text}"
