"""Fits a drive to a load curve: percentiles of latency at offered rates."""
