"""Connections, the embedded server and migrations."""
