"""What needs PostgreSQL alone: reading leaves, the handover of rows, answers about types."""
