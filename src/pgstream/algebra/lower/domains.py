"""domain_of: the values for which a correlated subquery is computed.

A subquery that reads columns of what stands before it (LATERAL, or a query around it) is
computed once for all values that these columns have: it is lowered over their distinct
values, its *domain*, and joined with what stands before it by them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pgstream.algebra.lower.scope import Domain, Scope
from pgstream.algebra.lower.sets import distinct
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import pick
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.scope import free_columns


def known_columns(node: exp.Expr, scope: Scope) -> list[exp.Column]:
    """The columns of tables known so far that the node reads from outside of it."""
    known = {table.alias for table in scope.tables}
    return [column for column in free_columns(node) if column.table in known]


def domain_of(left: Node, outer: Sequence[exp.Column], offset: int, scope: Scope) -> Domain:
    """The distinct values of these columns of the tree. They are taken where the columns
    come from: more values than needed do no harm."""
    indexes = tuple(scope.index_of(column) - offset for column in outer)
    if any(index < 0 for index in indexes):
        raise out_of_reach()
    names = tuple((column.table, column.name) for column in outer)
    own = scope.domain
    source, columns = narrowest(left, indexes)
    if own is not None and source is own.tree and columns == tuple(range(len(own.names))):
        return Domain(source, names, indexes)
    return Domain(distinct(pick(source, columns), len(columns)), names, indexes)


def narrowest(tree: Node, indexes: tuple[int, ...]) -> tuple[Node, tuple[int, ...]]:
    """The smallest part of the tree that has all values of these columns."""
    below = tree.shown_by(indexes) if len(tree.inputs) > 1 else None
    if below is None or len(below) > 1:
        return tree, indexes
    return narrowest(*below[0])


def out_of_reach() -> UnsupportedConstruct:
    return UnsupportedConstruct(
        "A subquery, or a condition, in parenthesized joins reads a table outside of them.",
        construct="LATERAL",
        hint="Write the joins without parentheses.",
    )
