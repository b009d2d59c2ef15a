"""Who evaluates what: Spark where it computes as PostgreSQL does, PostgreSQL elsewhere."""
