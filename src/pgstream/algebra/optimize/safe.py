"""safe: whether an expression may be computed for rows for which the query does not compute it.

    x <> 0 AND 1 / x > 2        the second condition may not go below the first one

A condition moves only if no value makes it fail, and if Spark computes it where it comes to
stand: what PostgreSQL computes costs a round trip wherever it is.
"""

from __future__ import annotations

from pgstream.algebra.expressions import Call, Expression, Native, refs, walk
from pgstream.algebra.placement.spark_list import spark_refusal
from pgstream.algebra.types import Type

NEVER_FAILING = frozenset(
    ("=", "<>", "<", "<=", ">", ">=", "in", "is distinct from", "is not distinct from",
     "and", "or", "not", "is null", "is not null", "is true", "is not true", "is false",
     "is not false", "is unknown", "is not unknown", "case", "coalesce", "nullif", "greatest",
     "least", "length")
)  # fmt: skip
WIDTHS = {"smallint": 2, "integer": 4, "bigint": 8}


def is_movable(condition: Expression) -> bool:
    """Whether the condition may stand below what it stands above; a constant stays."""
    return bool(refs(condition)) and cannot_fail(condition) and spark_refusal(condition) is None


def cannot_fail(expression: Expression) -> bool:
    return all(map(_is_safe, walk(expression)))


def _is_safe(part: Expression) -> bool:
    if isinstance(part, Native):
        return False
    if not isinstance(part, Call):
        return True
    if part.function == "cast":
        return _widens(part.arguments[0].type, part.type)
    return part.function in NEVER_FAILING


def _widens(source: Type, target: Type) -> bool:
    """Whether each value of the one type is one of the other."""
    if "(" in target.declared:
        return False
    if source.is_integer and target.is_integer:
        return WIDTHS[source.name] <= WIDTHS[target.name]
    if source.is_integer:
        return target.is_text or target.name == "double precision"
    return source.name == target.name or (target.is_text and (source.is_text or source.is_boolean))
