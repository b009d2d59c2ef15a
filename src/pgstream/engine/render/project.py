"""One expression per column; the weight stays."""

from pgstream.algebra.operators.project import Project
from pgstream.engine.expressions import render
from pgstream.engine.relation import Relation, select


def project(node: Project, input: Relation) -> Relation:
    columns = input.columns()
    items = [render(expression, columns) for expression in node.expressions]
    return select(items, "w", f"({input.sql})")
