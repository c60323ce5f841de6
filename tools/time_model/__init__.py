"""A second model with time: small, slow, and written from docs/concepts and the papers alone.

It shares no line with the engine, and is there to be compared with it; docs/validation.md says
which of its rules were settled with the engine's help, where the text had left them open.
`copyback validate` runs the engine beside what this model has said. Where the two agree, that is
self-consistency: two readings of one text give one number. It is no evidence from outside.

All times are whole nanoseconds of simulated time.
"""
