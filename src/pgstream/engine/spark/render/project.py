"""One expression per column; the weight stays."""

from dataclasses import replace

from pgstream.algebra.expressions import Ref
from pgstream.algebra.operators.project import Project
from pgstream.engine.spark.expressions import render
from pgstream.engine.spark.relation import Relation


def project(node: Project, input: Relation) -> Relation:
    identity = [Ref(i, column.type) for i, column in enumerate(node.input.columns)]
    if list(node.expressions) == identity:
        return input
    below = input.select()
    items = [render(expression, below.columns()) for expression in node.expressions]
    return replace(below, items=tuple(items)).relation()
