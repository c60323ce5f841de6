"""Leaderboards: designs with their results in one file, which anybody can run again and add to."""
