"""legalize: what Spark must not compute goes to PostgreSQL, over the rows that Spark hands over.

After lowering, an expression that is not on Spark's list and that no scan computes may stand in
a Project, a Filter or the condition of an inner join. Each of these becomes a ByPostgres.
"""

from __future__ import annotations

from pgstream.algebra.operators.node import Node
from pgstream.algebra.placement.spark_list import spark_refusal


def legalize(tree: Node) -> Node:
    """The same relation, with every expression where it can be computed exactly."""
    if tree.inputs:
        tree = tree.with_inputs(*map(legalize, tree.inputs))
    return tree.legalized(spark_refusal)
