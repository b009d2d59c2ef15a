"""The weight times a count; rows that occur no times are dropped."""

from pgstream.algebra.operators.weigh import Weigh
from pgstream.engine.spark.expressions import render
from pgstream.engine.spark.relation import Relation, select


def weigh(node: Weigh, input: Relation) -> Relation:
    count = render(node.count, input.columns())
    weighed = select(input.columns(), f"w * CAST({count.sql} AS BIGINT)", f"({input.sql})")
    return Relation(f"SELECT * FROM ({weighed.sql}) WHERE w <> 0", input.carriers)
