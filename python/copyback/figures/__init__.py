"""Figures of results, drawn with matplotlib: for notebooks, and as files for papers."""
