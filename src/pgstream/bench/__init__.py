"""Measures refreshes. One file per benchmark; `measure` and `place` are what they share."""
