"""Weights with the other sign; equal rows once, with the sum of their weights."""

from dataclasses import replace

from pgstream.algebra.operators.negate import Consolidate, Negate
from pgstream.engine.spark.relation import Relation, select


def negate(node: Negate, input: Relation) -> Relation:
    below = input.select()
    return replace(below, weight=f"-({below.weight})").relation()


def consolidate(node: Consolidate, input: Relation) -> Relation:
    grouped = select(input.columns(), "SUM(w)", f"({input.sql})")
    by = f" GROUP BY {', '.join(input.names)}" if input.names else ""
    kept = ">" if node.positive else "<>"
    return Relation(f"{grouped.sql}{by} HAVING SUM(w) {kept} 0", input.carriers)
