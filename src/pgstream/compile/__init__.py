"""From a stream table's query to its plan; `passes` lists the way."""
