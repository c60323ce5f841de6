"""Other simulators beside Copyback: a file each, how it is given the same work, what it did."""
