"""lower: from the syntax tree of a query to its operator tree.

The syntax tree is PostgreSQL's own deparsed form of the query: names are qualified, stars
are expanded, implicit casts are written out. An expression that Spark must not evaluate,
or that is a key, and that needs one table only, is hoisted: PostgreSQL computes it while it
reads that table. A SELECT is lowered again each time a hoist is found, until none is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from pgstream.algebra.calculus.recursion import Recursion
from pgstream.algebra.catalog import Catalog
from pgstream.algebra.expressions import Ref
from pgstream.algebra.lower.recursion import RecursiveCte, Scope, refers_to_itself
from pgstream.algebra.lower.scope import Domain
from pgstream.algebra.lower.select import HoistFound, Hoists, SelectLowering
from pgstream.algebra.lower.sets import set_operation
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.placement.canonical import require_blind
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.cut import is_cut, numbered
from pgstream.sql.parse import Query
from pgstream.sql.walk import unwrapped


def lower(
    query: Query,
    catalog: Catalog,
    names: Sequence[str] | None = None,
    recursions: list[Recursion] | None = None,
) -> Node:
    """The operator tree; `names` are the output columns' names. What it finds of recursive CTEs
    goes into `recursions`."""
    recursions = [] if recursions is None else recursions
    tree = Lowering(catalog, {}, recursions).query(query)
    for part in (tree, *(term for r in recursions for term in (r.base, r.step))):
        require_blind(part)
    if names is None:
        return tree
    if isinstance(tree, Project):
        return Project(tree.input, tree.expressions, tuple(names))
    columns = tree.columns
    return Project(tree, tuple(Ref(i, c.type) for i, c in enumerate(columns)), tuple(names))


class Lowering:
    def __init__(
        self,
        catalog: Catalog,
        ctes: Mapping[str, tuple[exp.Expr, Scope]],
        recursions: list[Recursion] | None = None,
    ) -> None:
        self.catalog = catalog
        self.ctes = dict(ctes)
        self.shared: set[str] = set()
        self.recursions = [] if recursions is None else recursions

    def child(self) -> Lowering:
        """The same names, to which others can be added."""
        child = Lowering(self.catalog, self.ctes, self.recursions)
        child.shared = set(self.shared)
        return child

    def query(self, node: exp.Expr, domain: Domain | None = None) -> Node:
        """The tree of a query. With a domain it is a correlated subquery, computed for each
        row of the domain, whose columns come last in the result."""
        node = unwrapped(node)
        inner = self.with_ctes(node)
        if is_cut(node):
            return inner.query(numbered(node), domain)
        if isinstance(node, exp.SetOperation):
            return set_operation(node, inner, domain)
        if isinstance(node, exp.Select):
            return inner.select(node, domain)
        raise UnsupportedConstruct(
            f"{node.key.upper()} is not supported in a stream table's query.",
            construct=node.key.upper(),
        )

    def with_ctes(self, node: exp.Expr) -> Lowering:
        clause = node.args.get("with_")
        if clause is None:
            return self
        scope = self.child()
        recursive = bool(clause.args.get("recursive"))
        for cte in clause.expressions:
            if recursive and refers_to_itself(cte):
                scope.ctes[cte.alias] = (cte.this, RecursiveCte(scope, cte))
                continue
            before = scope if recursive else scope.child()
            names = tuple(c.name for c in cte.args["alias"].args.get("columns") or ())
            scope.ctes[cte.alias] = (_renamed(cte.this, names), before)
            scope.shared.discard(cte.alias)
            if _uses(node, cte.alias) > 1:
                scope.shared.add(cte.alias)
        return scope

    # --- SELECT -----------------------------------------------------------------------------

    def select(self, node: exp.Select, domain: Domain | None) -> Node:
        hoists = Hoists()
        while True:
            try:
                return SelectLowering(self, node, hoists, domain).lower()
            except HoistFound as found:
                hoists.add(found.alias, found.text)


def _uses(query: exp.Expr, name: str) -> int:
    """How often a query reads the CTE of this name."""
    tables = query.find_all(exp.Table)
    return sum(1 for table in tables if table.name == name and not table.db)


def _renamed(query: exp.Expr, names: tuple[str, ...]) -> exp.Expr:
    """The query with its first columns renamed: WITH q(a, b) AS (…)."""
    if not names:
        return query
    first = query
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    for i, name in enumerate(names):
        item = first.expressions[i]
        item = item.this if isinstance(item, exp.Alias) else item
        first.expressions[i] = exp.alias_(item.copy(), name, quoted=True)
    return query
