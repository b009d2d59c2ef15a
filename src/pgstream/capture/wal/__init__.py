"""Capture from the WAL: a replication slot is decoded, and its rows go into the same buffers."""
