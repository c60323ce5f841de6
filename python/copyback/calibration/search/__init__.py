"""Search for the values of keys by which a simulated drive gives what was measured."""
