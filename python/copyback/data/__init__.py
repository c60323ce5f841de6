"""Tables and files of results: how they are written, found and read."""
