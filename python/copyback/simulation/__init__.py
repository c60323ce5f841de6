"""Runs: a drive prepared, its simulation advanced to the end, interrupted and gone on with."""
