"""When stream tables are refreshed, and the worker that does it."""
