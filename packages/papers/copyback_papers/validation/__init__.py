"""Results of other simulators, stored, and the same requests run here beside them.

What is stored are numbers that were measured by us from runs of theirs; nothing of theirs is here.
"""
