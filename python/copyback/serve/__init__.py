"""A simulated drive, or an array, as a network block device: real programs on an SSD that is not there."""
