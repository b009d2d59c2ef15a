"""WHERE keeps the rows for which the predicate is true; the weight stays."""

from dataclasses import replace

from pgstream.algebra.operators.filter import Filter
from pgstream.engine.spark.expressions import render
from pgstream.engine.spark.relation import Relation


def filter_(node: Filter, input: Relation) -> Relation:
    below = input.select()
    predicate = render(node.predicate, below.columns())
    return replace(below, where=(*below.where, predicate.sql)).relation()
