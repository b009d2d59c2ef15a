"""One refresh: lock, snapshot, changes, decide, compute, apply, clean."""
