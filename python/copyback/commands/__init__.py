"""The commands of the command line, one file for those that belong together."""
