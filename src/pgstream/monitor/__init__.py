"""Status, history and explanations of stream tables."""
