"""fio's steady state: its options as the key ``stop``, and its object in the results.

fio has one criterion at a time: the greatest deviation from the mean, or the slope of the best-fit
line over one sample. Ours is over the whole window: a limit on it is so many times as large.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback._core import InputError, time_ns
from copyback.fio import values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback.fio.reader import Reader
    from copyback.result import Result
    from copyback.summary import SteadyWindow

#: Options that only `ss` gives a meaning.
DEPENDENT = ("ss_dur", "ss_ramp", "ss_interval")

#: What is measured: our name by fio's.
_METRICS = {"iops": "iops", "bw": "bandwidth", "lat": "mean_response"}

#: Rounds that end a run without a runtime: in effect, its requests do.
MOST_ROUNDS = 1_000_000_000


def stop_of_jobs(
    jobs: Sequence[Reader], flows: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return the table ``stop`` that all jobs together ask for; None if none asks for any.

    Parameters
    ----------
    jobs
        The jobs.
    flows
        What they have become.

    Raises
    ------
    InputError
        If they do not ask for the same, or wait for one another: one rule ends the whole run.
    """
    asked = [_stop(job) for job in jobs]
    for job, stop in zip(jobs, asked, strict=True):
        if stop != asked[0]:
            raise job.fault("ss", "must be the same for every job, and so must its other options")
    if asked[0] is not None and any("starts_after" in flow for flow in flows):
        raise jobs[0].fault("ss", "ends the whole run; allowed: without stonewall and wait_for")
    if asked[0] is not None and (len(jobs) > 1 or jobs[0].whole("numjobs", 1) > 1):
        jobs[0].notes.append("fio: the steady state is that of all jobs together")
    return asked[0]


def _stop(job: Reader) -> dict[str, Any] | None:
    if "ss" not in job.options:
        for name in DEPENDENT:
            if name in job.options:
                raise job.fault(name, "needs ss, such as ss=iops:10%")
        return None
    metric, is_slope, share = job.value("ss", _criterion, ("", False, 0.0))
    interval = job.value("ss_interval", values.seconds, 1.0)
    window = round(job.value("ss_dur", values.seconds, 0.0) / interval) if interval else 0
    if window < 2:
        raise job.fault("ss_dur", "a window of two or more intervals (of 1 s) is needed")
    ramp = job.seconds("ss_ramp")
    rounds = MOST_ROUNDS
    if "runtime" in job.options:
        rounds = int((job.seconds("runtime") - ramp) / interval)
        if rounds < window:
            raise job.fault("runtime", "is shorter than ss_ramp and ss_dur together")
    return {
        "type": "steady_state",
        "metric": metric,
        "round": _time(interval),
        "ramp": _time(job.seconds("ramp_time") + ramp),
        "window": window,
        "excursion": "none",
        "slope": share * (window - 1) if is_slope else "none",
        "deviation": "none" if is_slope else share,
        "most_rounds": rounds,
    }


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e9)}ns"


def _criterion(text: str) -> tuple[str, bool, float]:
    """Return what is measured, whether its slope counts, and the limit.

    >>> _criterion("iops:10%"), _criterion("bw_slope:0.5%")
    (('iops', False, 0.1), ('bandwidth', True, 0.005))
    """
    match = re.fullmatch(r"(iops|bw|lat)(_slope)?:([\d.]+)%", text)
    if match is None:
        raise InputError(
            f"found {text or 'nothing'}; allowed: iops, iops_slope, bw, bw_slope, lat or "
            "lat_slope, a colon and a limit in per cent, such as iops:10%"
        )
    metric, slope, limit = match.groups()
    return _METRICS[metric], slope is not None, values.per_cent(limit)


def steadystate(result: Result) -> dict[str, Any]:
    """Return fio's object ``steadystate`` under its key, if fio has such a rule; else nothing."""
    stop, found = result.config.get("stop"), result.summary.steady_state
    if not isinstance(stop, dict) or found is None:
        return {}
    limits = {name: stop[name] for name in ("slope", "deviation") if stop[name] != "none"}
    names = {ours: fios for fios, ours in _METRICS.items()}
    if stop["excursion"] != "none" or len(limits) != 1 or stop["metric"] not in names:
        return {}
    if not isinstance(stop["round"], str):
        return {}  # rounds of requests, which fio has not
    seconds = time_ns(stop["round"]) / 1e9
    is_slope = "slope" in limits
    steps = stop["window"] - 1 if is_slope else 1
    name = names[stop["metric"]] + ("_slope" if is_slope else "")
    return {
        "steadystate": {
            "ss": f"{name}:{100 * float(*limits.values()) / steps:f}%",
            "duration": round(stop["window"] * seconds),
            "attained": int(found.reached),
            **_window(found.window, stop["metric"], is_slope=is_slope, steps=steps),
        }
    }


def _window(
    window: SteadyWindow | None, metric: str, *, is_slope: bool, steps: int
) -> dict[str, Any]:
    """Return what the last samples were like, in requests a second, bytes a second or ns."""
    if window is None:
        return {"criterion": "0.000000%", "max_deviation": 0.0, "slope": 0.0, "data": {}}
    rounds = window.by_round
    iops = np.asarray(rounds.iops, dtype=float)
    bandwidth = np.asarray(rounds.mib_per_s, dtype=float) * (1 << 20)
    unit = {"bandwidth": 1 << 20, "mean_response": 1000}.get(metric, 1)
    mean = (window.mean or 0.0) * unit
    strays = ((window.slope if is_slope else window.deviation) or 0.0) / steps
    return {
        "criterion": f"{100 * strays:f}%",
        "max_deviation": 0.0 if is_slope else strays * mean,
        "slope": strays * mean if is_slope else 0.0,
        "data": {
            "bw_mean": int(bandwidth.mean()),
            "iops_mean": int(iops.mean()),
            "iops": [int(value) for value in iops],
            "bw": [int(value) for value in bandwidth],
        },
    }
