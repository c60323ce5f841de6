"""Fits spare to how fast drives write as they age, and says which schemes may be inside."""
