"""From what a caller has (a file, a dictionary, keyword arguments) to a checked configuration."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from copyback._core import Config, InputError
from copyback.inputs import policy_names
from copyback.process.streams import is_utf_8, shown

#: Where the table of a choice names a policy in Python.
_POLICY = "policy"


def load(
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    preset: str | None = None,
    settings: list[tuple[str, str]] | None = None,
    policies: Collection[str] = (),
) -> Config:
    """Return a checked configuration with every default filled in, to be run.

    Parameters
    ----------
    config
        A TOML file, or a dictionary of the same shape.
    preset
        Name of a preset, in place of a file or as the base of a dictionary.
    settings
        Dotted keys and TOML values that are laid over it, in order.
    policies
        Policies in Python that the user names beside `settings`, with absolute paths: of a result,
        no others are run.

    Raises
    ------
    InputError
        With every fault, one a line.
    """
    settings = [_absolute_setting(key, value) for key, value in settings or []]
    loaded = read(config, preset=preset, settings=settings)
    if isinstance(config, str | os.PathLike):
        named = {
            name
            for key, text in settings
            for name in policy_names.named_in(setting_value(text), key)
        }
        policy_names.check_trusted(loaded, Path(config), {*named, *policies})
    return loaded


def read(
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    preset: str | None = None,
    settings: list[tuple[str, str]] | None = None,
) -> Config:
    """Return a checked configuration of which no policy in Python is run.

    Parameters and faults are those of :func:`load`.
    """
    settings = [_absolute_setting(key, value) for key, value in settings or []]
    if config is None:
        if preset is None:
            raise InputError(
                "no configuration: name a file or a preset (`copyback show presets` lists them)"
            )
        return _checked(preset=preset, settings=settings)
    if isinstance(config, Mapping):
        shape = _with_names(config, "")
        if "workload" in shape:
            shape["workload"] = _absolute(shape["workload"])
        for section in policy_names.SECTIONS & shape.keys():
            shape[section] = with_absolute_policies(shape[section], section)
        text = json.dumps(shape, default=_plain)
        return _checked(json=text, preset=preset, settings=settings)
    if preset is not None:
        raise InputError(
            f"a file ({os.fspath(config)}) and a preset ({preset}): give one, "
            'or write preset = "..." in the file'
        )
    path = Path(config)
    return _checked(
        toml=read_text(path), name=shown(path), directory=path.parent.absolute(), settings=settings
    )


def resolved(config: Config) -> dict[str, Any]:
    """Return the tables of a configuration, with every default filled in."""
    tables: dict[str, Any] = json.loads(config.to_json())
    return tables


def _checked(**layers: Any) -> Config:
    """Return a configuration from layers, which hold names of files as text in UTF-8."""
    try:
        return Config.load(**layers)
    except UnicodeEncodeError as fault:
        words = fault.object.split('"')
        name = next((word for word in words if not is_utf_8(word)), fault.object)
        raise InputError(
            f"{shown(name)}: is not UTF-8, which names of files in a configuration must be; "
            "rename it, or give it through a link"
        ) from None


# Paths in a workload, and of policies in files, become absolute, so that the resolved configuration
# can be run from anywhere.


def _absolute(node: Any) -> Any:
    """Return a copy of a workload's shape with absolute paths."""
    if isinstance(node, Mapping):
        return {
            key: os.path.abspath(value)  # noqa: PTH100 - keeps links
            if key == "path" and isinstance(value, str | os.PathLike)
            else _absolute(value)
            for key, value in node.items()
        }
    if isinstance(node, list | tuple):
        return [_absolute(item) for item in node]
    return node


def with_absolute_policies(node: Any, key: str, directory: Path | None = None) -> Any:
    """Return a copy of what `key` holds with absolute paths to policies in files.

    Parameters
    ----------
    node
        A value of a configuration.
    key
        Its key, dotted.
    directory
        What relative paths are relative to; else the working directory.
    """
    if isinstance(node, Mapping):
        inner = {name: f"{key}.{name}" for name in node}
        return {name: with_absolute_policies(node[name], inner[name], directory) for name in node}
    is_policy = key in policy_names.KEYS and isinstance(node, str)
    return policy_names.absolute(node, directory) if is_policy else node


def _absolute_setting(key: str, text: str) -> tuple[str, str]:
    """Return a setting with absolute paths."""
    section = key.split(".")[0]
    if section != "workload" and section not in policy_names.SECTIONS:
        return key, text
    value = setting_value(text)
    if section in policy_names.SECTIONS:
        changed = with_absolute_policies(value, key)
        return (key, text) if changed == value else (key, to_toml(changed))
    if key.endswith(".path") and isinstance(value, str):
        return key, to_toml(os.path.abspath(value))  # noqa: PTH100
    changed = _absolute(value)
    return (key, text) if changed == value else (key, to_toml(changed))


def setting_value(text: str) -> Any:
    """Return the value of a setting; what is no TOML is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def read_text(path: Path) -> str:
    """Return the text of a file that the user named."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8") from None
    except OSError as fault:
        raise InputError(f"{path}: {fault.strerror}") from None


def parse_setting(text: str) -> tuple[str, str]:
    """Split ``KEY=VALUE`` of the command line."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--set {text}: KEY=VALUE is needed, such as ssd.gc.victim=fifo")
    return key.strip(), value.strip()


def trace_settings(trace: str | os.PathLike[str], format_: str | None) -> list[tuple[str, str]]:
    """Return the settings that put a trace in place of the workload."""
    workload = {"type": "trace", "path": os.fspath(trace)}
    if format_ is not None:
        workload["format"] = format_
    # A choice of another type replaces the whole; one of the same type would only be laid over it.
    return [("workload", '{ type = "synthetic" }'), ("workload", to_toml(workload))]


def workload_settings(preset: str) -> list[tuple[str, str]]:
    """Return the settings that put a preset in place of the workload, whatever it was."""
    # A preset over another one would keep what overrides that.
    return [("workload", '{ type = "trace" }'), ("workload", to_toml({"preset": preset}))]


def keyword_settings(overrides: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return settings from keyword arguments: ``ssd__gc__victim`` is ``ssd.gc.victim``."""
    keys = {name: name.replace("__", ".") for name in overrides}
    return [(key, setting_text(key, overrides[name])) for name, key in keys.items()]


def seeded(settings: Sequence[tuple[str, str]], seed: int | None) -> list[tuple[str, str]]:
    """Return settings, and behind them the seed if one is given.

    >>> seeded([("audit", "true")], 3)
    [('audit', 'true'), ('seed', '3')]
    """
    return [*settings, *([] if seed is None else [("seed", str(seed))])]


def setting_text(key: str, value: Any) -> str:
    """Return the value of a key as TOML; a policy may be its class.

    Raises
    ------
    InputError
        If there is no such value, or the class is no policy.
    """
    try:
        return to_toml(_with_names(value, key))
    except InputError as fault:
        raise InputError(f"{key}: {fault}") from None


def _with_names(node: Any, key: str) -> Any:
    """Return a copy of what `key` holds in which policies that are classes have names."""
    if isinstance(node, type):
        from copyback.policies import given

        name = given.name_of(node)
        is_name = key.rpartition(".")[2] == _POLICY
        return name if is_name else {"type": "python", _POLICY: name}
    if isinstance(node, Mapping):
        return {name: _with_names(item, name) for name, item in node.items()}
    if isinstance(node, list | tuple):
        return [_with_names(item, key) for item in node]
    return node


def to_toml(value: Any) -> str:
    """Return one value as TOML.

    >>> to_toml({"type": "rga", "d": 10})
    '{ type = "rga", d = 10 }'
    """
    value = _plain(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {to_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(to_toml(item) for item in value)}]"
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    # JSON's strings, numbers and booleans are TOML's (DEL excepted, which no key takes).
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: object) -> str:
    text = str(key)
    bare = text.replace("_", "").replace("-", "")
    return text if bare.isascii() and bare.isalnum() else json.dumps(text, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Turn a path or a NumPy scalar into what JSON knows."""
    if value is None:
        raise InputError("None is not a value of a configuration: leave the key out")
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping | list | tuple | str | int | float | bool):
        return value
    item = getattr(value, "item", None)
    if callable(item):
        return item()
    raise InputError(f"{value!r} ({type(value).__name__}) is not a value of a configuration")
