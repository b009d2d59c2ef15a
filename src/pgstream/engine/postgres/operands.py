"""operands: what PostgreSQL casts two values to, where it finds out whether they are equal.

It chooses the operator by rules that only it knows, and prints the casts in its plans:

    EXPLAIN VERBOSE … real = numeric     Output: (s.c0)::double precision = (s.c1)::double precision
"""

from __future__ import annotations

import psycopg
from sqlglot import exp

from pgstream.errors import QueryError
from pgstream.sql.deparsed import parse_deparsed, write

# OFFSET keeps the NULLs from being computed with.
_PLAN = """EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON)
SELECT s.c0 = s.c1 FROM (SELECT CAST(NULL AS {}) AS c0, CAST(NULL AS {}) AS c1 OFFSET 0) s"""


def operands(connection: psycopg.Connection, left: str, right: str) -> tuple[str, str]:
    """Both sides of `s.c0 = s.c1`, with their casts, for columns of these types."""
    row = connection.execute(_PLAN.format(left, right).encode()).fetchone()
    (printed,) = row[0][0]["Plan"]["Output"] if row else ("",)
    (item,) = parse_deparsed(f"SELECT {printed}").expressions
    equality = item.unnest()
    if not isinstance(equality, exp.EQ):
        raise QueryError(
            f"PostgreSQL compares {left} with {right} in a way that pgstream does not know.",
            detail=f"It prints {printed}.",
            hint="Cast one of them to the type of the other.",
        )
    return write(equality.this), write(equality.expression)
