"""Many runs: compare schemes over a grid, a list or random draws, and over seeds and traces.

:func:`copyback.compare` is what ``copyback compare`` does. The parts, in the order in which they
work:

=============== =================================================================================
`axes`          what varies, as the user says it
`design`        the points of a sweep: grid, list, random draws, seeds
`plan`          a checked configuration for each point, and the key under which its run is kept
`store`         finished runs on disk, whole or not at all
`execute`       runs what is missing: `local` on the cores of this machine, `cluster` through Dask
`completion`    all of that, as far as it has not been done: a plan and a store go in
`dataset`       one row a run
`intervals`     means over seeds, with their uncertainty
`ratios`        the ratio of a scheme's number to another's, the one estimator of every output
`ranking`       which schemes can be ranked, and in which order
`bisection`     the least or greatest value that keeps a number within a bound, by bisection
`winners`       which schemes win where, and which choices decide; `standings` is the page
=============== =================================================================================

Nothing is imported here: a process that simulates needs `local` and `work` alone.
"""
