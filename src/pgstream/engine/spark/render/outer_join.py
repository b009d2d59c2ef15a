"""LEFT and FULL join; a padded row keeps its own side's weight, which of LEFT has any sign."""

from dataclasses import replace

from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.engine.spark.relation import Relation, Select
from pgstream.engine.spark.render.join import SINGLE_TASK, on_condition


def outer_join(node: OuterJoin, left: Relation, right: Relation) -> Relation:
    columns = left.columns("l") + right.columns("r")
    how = "FULL" if node.keeps_right else "LEFT"
    condition = on_condition(node, left, right) or "true"
    source = f"({left.sql}) l {how} JOIN ({right.sql}) r ON {condition}"
    weight = "coalesce(l.w, 1) * coalesce(r.w, 1)"
    return replace(Select(tuple(columns), weight, source).relation(), single_task=SINGLE_TASK)
