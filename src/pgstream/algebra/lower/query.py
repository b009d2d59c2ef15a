"""lower: from the syntax tree of a query to its operator tree.

The syntax tree is PostgreSQL's own deparsed form of the query: names are qualified, stars
are expanded, implicit casts are written out.

    query      WITH, set operations, SELECT
    select     one SELECT, by from_, subqueries, grouped, windows
    hoist      expressions, and what of them a scan computes
    scope      what names mean

Each takes a tree and a scope, and returns a tree and a scope. A query inside of a query comes back
here through `Context.lower`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pgstream.algebra.calculus.recursion import Recursion
from pgstream.algebra.catalog import Catalog
from pgstream.algebra.expressions import Ref
from pgstream.algebra.lower.ctes import with_ctes
from pgstream.algebra.lower.recursion import numbered
from pgstream.algebra.lower.scope import Context, Domain
from pgstream.algebra.lower.select import lower_select
from pgstream.algebra.lower.sets import set_operation
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.placement.canonical import require_blind
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.cut import is_cut
from pgstream.sql.cut import numbered as with_row_numbers
from pgstream.sql.parse import Query
from pgstream.sql.walk import unwrapped


def lower(
    query: Query, catalog: Catalog, names: Sequence[str] | None = None
) -> tuple[Node, tuple[Recursion, ...]]:
    """The operator tree, and the recursive CTEs that it reads, those first that others read.
    `names` are the output columns' names."""
    tree, recursions = numbered(lower_query(query, Context(catalog, lower_query)))
    for part in (tree, *(term for r in recursions for term in (r.base, r.step))):
        require_blind(part)
    return (tree if names is None else _named(tree, names)), recursions


def lower_query(node: exp.Expr, context: Context, domain: Domain | None = None) -> Node:
    """The tree of a query. With a domain it is a correlated subquery, computed for each
    row of the domain, whose columns come last in the result."""
    node = unwrapped(node)
    inner = with_ctes(node, context)
    if is_cut(node):
        return lower_query(with_row_numbers(node), inner, domain)
    if isinstance(node, exp.SetOperation):
        return set_operation(node, inner, domain)
    if isinstance(node, exp.Select):
        return lower_select(node, inner, domain)
    raise UnsupportedConstruct(
        f"{node.key.upper()} is not supported in a stream table's query.",
        construct=node.key.upper(),
    )


def _named(tree: Node, names: Sequence[str]) -> Project:
    if isinstance(tree, Project):
        return Project(tree.input, tree.expressions, tuple(names))
    columns = tree.columns
    return Project(tree, tuple(Ref(i, c.type) for i, c in enumerate(columns)), tuple(names))
