"""Where results live: stream tables and their accumulators, and how a delta is applied."""
