"""drop_groups: DISTINCT and GROUP BY over rows that differ in the grouping columns do nothing.

    γK(A) = πK(A)        a key of A is among K

Each group is one row then: its count is 1, its least and its largest value are the value. Other
functions would have to be computed with their own digits, so they keep their groups.
"""

from __future__ import annotations

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.optimize.everywhere import everywhere
from pgstream.algebra.optimize.keys import Constraints, Facts, Key, keys_of
from pgstream.algebra.types import BIGINT, BOOLEAN

TAKEN_OVER = ("min", "max", "single")


def drop_groups(tree: Node, known: Constraints) -> tuple[Node, Facts]:
    used: set[str] = set()

    def change(node: Node) -> Node:
        key = _key(node, known) if isinstance(node, Aggregate) else None
        values = _values(node) if isinstance(node, Aggregate) and key is not None else None
        if key is None or values is None:
            return node
        used.update(key.facts)
        return Project(node.inputs[0], values, tuple(column.name for column in node.columns))

    return everywhere(tree, change), frozenset(used)


def _key(node: Aggregate, known: Constraints) -> Key | None:
    """A key of the rows that the grouping columns hold. Without any there is a row for no rows.
    What is always one row keeps its DISTINCT: stored, it tells whether that row has changed."""
    if not node.keys:
        return None
    found = keys_of(node.input, known)
    return next((key for key in found if key.columns and key.columns <= set(node.keys)), None)


def _values(node: Aggregate) -> tuple[Expression, ...] | None:
    """What the groups show, each of one row; None if a function is not known."""
    columns = node.input.columns
    values: list[Expression] = [Ref(i, columns[i].type) for i in node.keys]
    for call in node.calls:
        value = _value(call, node)
        if value is None:
            return None
        values.append(value)
    return tuple(values)


def _value(call: AggregateCall, node: Aggregate) -> Expression | None:
    if call.argument is None:
        return Literal("1", call.type) if call.function == "count" else None
    type_ = node.input.columns[call.argument].type
    argument = Ref(call.argument, type_)
    if call.function in TAKEN_OVER and type_ == call.type:
        return argument
    if call.function == "count" and type_.category != "C":  # a row of NULLs IS NULL, too
        missing = Call("is null", (argument,), BOOLEAN)
        return Call("case", (missing, Literal("0", BIGINT), Literal("1", BIGINT)), BIGINT)
    return None
