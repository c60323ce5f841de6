"""Numbers of a run in words and rows, for the terminal and the pages."""
