"""Fits a drive to its data sheet: rates and latencies under loads that a sheet means."""
