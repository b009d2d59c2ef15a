"""Weights with the other sign; equal rows once, with the sum of their weights."""

from pgstream.algebra.operators.negate import Consolidate, Negate
from pgstream.engine.relation import Relation, select


def negate(node: Negate, input: Relation) -> Relation:
    return select(input.columns(), "-w", f"({input.sql})")


def consolidate(node: Consolidate, input: Relation) -> Relation:
    grouped = select(input.columns(), "SUM(w)", f"({input.sql})")
    by = f" GROUP BY {', '.join(input.names)}" if input.names else ""
    return Relation(f"{grouped.sql}{by} HAVING SUM(w) <> 0", input.carriers)
