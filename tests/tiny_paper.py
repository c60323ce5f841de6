"""A made-up paper whose experiment takes milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TARGETS = """\
# claims of a made-up paper
paper,figure,workload,quantity,scheme,baseline,value,unit
tiny,1,random,mean write response time reduction,free,greedy,50,%
tiny,1,random,writes get slower as the drive fills,greedy,,,shape
tiny,2,random,something else,greedy,,3,x
"""

PAPER = """\
title = "A made-up paper"
summary = "Two schemes on a toy."
source = "Nowhere."

[[unanswered]]
target = { figure = "2" }
reason = "nobody knows"
"""

EXPERIMENT = """\
title = "Writes on a toy"
claim = "Collections cost time."
chosen = ["Everything."]

[config.ssd.geometry]
channels = 1
chips_per_channel = 1
planes_per_die = 1
blocks_per_plane = 32
pages_per_block = 16
[config.ssd.ftl]
over_provisioning = 0.3
[config.workload]
type = "synthetic"
read_share = 0.2
inter_arrival = { type = "exponential", mean = "2ms" }

[variants]
"greedy" = {}
"free" = { "ssd.gc.zero_cost" = true }

[points]
axis = "filled (%)"
[points.values]
"50" = { "precondition.fill" = 0.5 }
"100" = { "precondition.fill" = 1.0 }

[workloads."random"]
stands_for = "random writes."
"workload.requests" = 4000
[workloads."mail server"]
trace = "mail.csv"

[quick]
note = "half."
seeds = [1, 2]
shorter = 2
[full]

[[figures]]
name = "1"
title = "Mean write response"
kind = "lines"
measure = "response_us.write.mean"
axis = "mean (ms)"
scale = 0.001
[[figures]]
name = "1b"
title = "Parts"
kind = "stack"
axis = "share"
normalise = "greedy"
[figures.parts]
"service" = "breakdown_us.service"
"GC" = "breakdown_us.gc_same_plane"
[[figures]]
name = "1c"
title = "Response times"
kind = "distribution"
axis = "share of requests"

[[checks]]
target = { figure = "1", quantity = "mean write response time reduction" }
variant = "free"
baseline = "greedy"
measure = "response_us.write.mean"
workloads = ["random"]
points = ["100"]
[[checks]]
target = { figure = "1", scheme = "greedy" }
[[checks.rules]]
rule = "rises"
variants = ["greedy"]
bound = 1.01
[[checks.rules]]
rule = "at_most"
variants = ["free"]
baseline = "greedy"

[[regions]]
target = { figure = "1", quantity = "mean write response time reduction" }
variant = "free"
baseline = "greedy"
measure = "response_us.write.mean"
joint = "100"
"""


def write(directory: Path) -> Path:
    """Write the paper into a new directory."""
    directory.mkdir()
    (directory / "targets.csv").write_text(TARGETS)
    (directory / "paper.toml").write_text(PAPER)
    (directory / "1.toml").write_text(EXPERIMENT)
    return directory
