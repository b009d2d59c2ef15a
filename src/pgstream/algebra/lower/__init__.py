"""From the syntax tree of a query to its operator tree."""
