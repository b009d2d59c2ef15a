"""Evaluation: what Spark computes, what PostgreSQL reads and computes for it, and rows."""
