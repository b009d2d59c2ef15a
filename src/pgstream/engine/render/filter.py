"""WHERE keeps the rows for which the predicate is true; the weight stays."""

from pgstream.algebra.operators.filter import Filter
from pgstream.engine.expressions import render
from pgstream.engine.relation import Relation


def filter_(node: Filter, input: Relation) -> Relation:
    predicate = render(node.predicate, input.columns())
    return Relation(f"SELECT * FROM ({input.sql}) WHERE {predicate.sql}", input.carriers)
