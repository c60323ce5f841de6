"""Runs: a drive is prepared, its simulation advanced to the end, interrupted and resumed."""
