"""read: PostgreSQL's parse tree as the tree that passes and lowering work on.

sqlglot is a library of nodes here; none of its parsers reads SQL. Each type of PostgreSQL's nodes
has a function in a table. A type without one is refused by its name.
"""
