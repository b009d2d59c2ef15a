"""Connections, the embedded server, migrations and SQL functions."""
