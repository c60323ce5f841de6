"""The experiments of the papers: what ``copyback paper`` lists and runs.

A paper is a directory of TOML files, one an experiment: a figure, a table or a question. Reading
goes through `experiment` and `catalogue`. `plan` makes a sweep of an experiment, which
`copyback.sweep` runs and keeps; what is found is compared with the paper's claims by `measures`,
`checks` and `agreement`, and written by `output`.
"""
