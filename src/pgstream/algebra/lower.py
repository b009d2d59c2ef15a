"""lower: from the syntax tree of a query to its operator tree.

The syntax tree is PostgreSQL's own deparsed form of the query: names are qualified, stars
are expanded, implicit casts are written out. An expression that Spark must not evaluate,
or that is a key, and that needs one table only, is hoisted: PostgreSQL computes it while it
reads that table. A SELECT is lowered again each time a hoist is found, until none is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from pgstream.algebra.catalog import Catalog
from pgstream.algebra.expressions import (
    Expression,
    Ref,
)
from pgstream.algebra.functions import divides_numerics, spark_refusal
from pgstream.algebra.lower_select import HoistFound, Hoists, SelectLowering
from pgstream.algebra.lower_sets import set_operation
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.errors import UnsupportedConstruct, UnsupportedExpression
from pgstream.sql.parse import Query


def lower(query: Query, catalog: Catalog, names: Sequence[str] | None = None) -> Node:
    """The operator tree; `names` are the output columns' names."""
    tree = Lowering(catalog, {}).query(query)
    if names is None:
        return tree
    if isinstance(tree, Project):
        return Project(tree.input, tree.expressions, tuple(names))
    columns = tree.columns
    return Project(tree, tuple(Ref(i, c.type) for i, c in enumerate(columns)), tuple(names))


class Lowering:
    def __init__(self, catalog: Catalog, ctes: Mapping[str, tuple[exp.Expr, Lowering]]) -> None:
        self.catalog = catalog
        self.ctes = dict(ctes)

    def query(self, node: exp.Expr) -> Node:
        inner = self.with_ctes(node)
        while isinstance(node, exp.Subquery | exp.Paren):
            node = node.this
        if isinstance(node, exp.SetOperation):
            return set_operation(node, inner)
        if isinstance(node, exp.Select):
            return inner.select(node)
        raise UnsupportedConstruct(
            f"{node.key.upper()} is not supported in a stream table's query.",
            construct=node.key.upper(),
        )

    def with_ctes(self, node: exp.Expr) -> Lowering:
        clause = node.args.get("with_")
        if clause is None:
            return self
        scope = Lowering(self.catalog, self.ctes)
        for cte in clause.expressions:
            before = Lowering(self.catalog, scope.ctes)
            names = tuple(c.name for c in cte.args["alias"].args.get("columns") or ())
            scope.ctes[cte.alias] = (_renamed(cte.this, names), before)
        return scope

    # --- SELECT -----------------------------------------------------------------------------

    def select(self, node: exp.Select) -> Node:
        hoists = Hoists()
        while True:
            try:
                return SelectLowering(self, node, hoists).lower()
            except HoistFound as found:
                hoists.add(found.alias, found.text)

    def require_spark(
        self, expression: Expression, node: exp.Expr | None, select: SelectLowering | None
    ) -> Expression:
        """The expression, if Spark may evaluate it; else its hoist, else an error."""
        refusal = spark_refusal(expression)
        if refusal is None:
            if select is not None and node is not None and divides_numerics(expression):
                select.hoist(expression, node)  # PostgreSQL's own digits, where it can
            return expression
        if select is not None and node is not None:
            select.hoist(expression, node)
        raise UnsupportedExpression(
            f"The expression {refusal} cannot be computed exactly here.",
            detail="Spark does not evaluate it as PostgreSQL does, and it does not read "
            "the columns of one table only, so PostgreSQL cannot compute it in the scan.",
            hint="Move it into a stream table below, or into a subquery's top level.",
            construct=refusal.split(" on ")[0],
        )


def _renamed(query: exp.Expr, names: tuple[str, ...]) -> exp.Expr:
    """The query with its first columns named anew: WITH q(a, b) AS (…)."""
    if not names:
        return query
    first = query
    while isinstance(first, exp.SetOperation):
        first = first.this
    for i, name in enumerate(names):
        item = first.expressions[i]
        item = item.this if isinstance(item, exp.Alias) else item
        first.expressions[i] = exp.alias_(item.copy(), name, quoted=True)
    return query
