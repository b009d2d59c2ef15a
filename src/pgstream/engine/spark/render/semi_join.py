"""Semi- and anti-join: the rows of the left side keep their weights, of either sign."""

from dataclasses import replace

from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.engine.spark.relation import Relation, Select
from pgstream.engine.spark.render.join import SINGLE_TASK, on_condition


def semi_join(node: SemiJoin, left: Relation, right: Relation) -> Relation:
    how = "LEFT ANTI" if node.anti else "LEFT SEMI"
    condition = on_condition(node, left, right) or "true"
    source = f"({left.sql}) l {how} JOIN ({right.sql}) r ON {condition}"
    joined = Select(tuple(left.columns("l")), "l.w", source).relation()
    return replace(joined, single_task=SINGLE_TASK)
