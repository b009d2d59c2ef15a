"""threshold: the comparison that a join's condition is, between a column of each side.

x > t,  t of the right side: where t moves, only rows with x in the range can be touched
"""

from __future__ import annotations

from typing import NamedTuple

from pgstream.algebra.expressions import Call, Expression, Ref
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.types import Type

COMPARISONS = ("<", "<=", ">", ">=")


class Threshold(NamedTuple):
    left: int
    right: int


def threshold(node: Pairing) -> Threshold | None:
    """The columns of the left and of the right side, if the condition says nothing else."""
    condition, width = node.condition, len(node.left.columns)
    if not (isinstance(condition, Call) and condition.function in COMPARISONS):
        return None
    indexes = [i for i in map(ordered_column, condition.arguments) if i is not None]
    if len(indexes) < 2 or not min(indexes) < width <= max(indexes):
        return None
    found = Threshold(min(indexes), max(indexes) - width)
    types = node.left.columns[found.left].type, node.right.columns[found.right].type
    return found if in_one_order(*types) else None


def ordered_column(value: Expression) -> int | None:
    """The column that has the order of the value: itself, or a whole number as another number."""
    if isinstance(value, Call) and value.function == "cast":
        (inner,) = value.arguments
        if inner.type.is_integer and (value.type.is_integer or value.type.is_numeric):
            return ordered_column(inner)
    return value.index if isinstance(value, Ref) else None


def in_one_order(first: Type, second: Type) -> bool:
    """Whether PostgreSQL, Spark and Arrow agree which value is less. Floats have NaN."""
    if first.is_number and second.is_number:
        return not (first.is_float or second.is_float)
    return first.is_time and first.name == second.name
