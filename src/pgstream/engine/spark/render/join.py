"""Inner join; weights multiply."""

from dataclasses import replace

from pgstream.algebra.operators.join import Join, Pairing
from pgstream.engine.spark.expressions import aligned, render
from pgstream.engine.spark.relation import Relation, Select

# Both sides are one partition each: no exchange, no sort. A join forgets that it is one partition.
SINGLE_TASK = "COALESCE(1), SHUFFLE_HASH(r)"


def join(node: Join, left: Relation, right: Relation) -> Relation:
    columns = left.columns("l") + right.columns("r")
    condition = on_condition(node, left, right)
    how = f"JOIN ({right.sql}) r ON {condition}" if condition else f"CROSS JOIN ({right.sql}) r"
    joined = Select(tuple(columns), "l.w * r.w", f"({left.sql}) l {how}").relation()
    return replace(joined, single_task=SINGLE_TASK)


def on_condition(node: Pairing, left: Relation, right: Relation) -> str:
    columns = left.columns("l") + right.columns("r")
    pairs = [aligned(columns[a], columns[len(left.carriers) + b]) for a, b in node.on]
    equals = "<=>" if node.nulls_match else "="
    conditions = [f"{first} {equals} {second}" for first, second in pairs]
    if node.condition is not None:
        conditions.append(render(node.condition, columns).sql)
    return " AND ".join(conditions)
