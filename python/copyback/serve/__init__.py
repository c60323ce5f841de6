"""A simulated drive, or an array, as a network block device that real programs use."""
