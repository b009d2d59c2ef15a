"""legalize: what Spark must not compute goes to PostgreSQL, over the rows that Spark hands over.

After lowering, an expression that is not on Spark's list and that no scan computes may stand in
a Project, a Filter or the condition of an inner join. Each of these becomes a ByPostgres.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgstream.algebra.expressions import Expression, Ref, conjunction, conjuncts, to_postgres
from pgstream.algebra.operators.by_postgres import computed
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.spark_list import spark_refusal
from pgstream.errors import UnsupportedExpression


def legalize(tree: Node) -> Node:
    """The same relation, with every expression where it can be computed exactly."""
    if tree.inputs:
        tree = tree.with_inputs(*map(legalize, tree.inputs))
    match tree:
        case Project(input, expressions, names) if any(map(spark_refusal, expressions)):
            return computed(input, expressions, names)
        case Filter(input, predicate):
            return _filtered(input, list(conjuncts(predicate)))
        case Join(condition=condition) if condition is not None:
            return _joined(tree, list(conjuncts(condition)))
        case OuterJoin(condition=condition) if condition is not None:
            _require_spark(condition)
    return tree


def _filtered(tree: Node, parts: Sequence[Expression]) -> Node:
    ours = conjunction([part for part in parts if spark_refusal(part) is None])
    rest = conjunction([part for part in parts if spark_refusal(part) is not None])
    if ours is not None:
        tree = Filter(tree, ours)
    if rest is None:
        return tree
    columns = tree.columns
    every = [Ref(i, column.type) for i, column in enumerate(columns)]
    where = to_postgres(rest, lambda i: f"r.c{i}")
    return computed(tree, every, [column.name for column in columns], where)


def _joined(tree: Join, parts: Sequence[Expression]) -> Node:
    ours = conjunction([part for part in parts if spark_refusal(part) is None])
    rest = [part for part in parts if spark_refusal(part) is not None]
    joined = Join(tree.left, tree.right, tree.on, ours, tree.nulls_match)
    return _filtered(joined, rest) if rest else joined


def _require_spark(condition: Expression) -> None:
    refusal = spark_refusal(condition)
    if refusal is not None:
        raise UnsupportedExpression(
            f"The expression {refusal} cannot be computed exactly in the ON of an outer join.",
            construct=refusal.split(" on ")[0],
            detail="Spark does not evaluate it as PostgreSQL does, and it does not read the "
            "columns of one table only.",
            hint="Compute it in a subquery in FROM, and compare its column in ON.",
        )
