"""Lowers one SELECT: FROM, WHERE, subqueries, then groups or window functions, and its list."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from pgstream.algebra.expressions import Expression
from pgstream.algebra.lower.from_ import from_clause
from pgstream.algebra.lower.grouped import grouped_select
from pgstream.algebra.lower.hoist import conditions, conditions_of_where, settled, value
from pgstream.algebra.lower.scope import Context, Domain, Hoist, Scope
from pgstream.algebra.lower.sets import distinct
from pgstream.algebra.lower.subqueries import attach_subqueries, is_met
from pgstream.algebra.lower.windows import attach_windows
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.placement.guards import filtered_tables, on_conditions
from pgstream.algebra.placement.push_down import push_down
from pgstream.sql.cut import is_grouped
from pgstream.sql.walk import and_parts


def lower_select(node: exp.Select, context: Context, domain: Domain | None) -> Node:
    """The tree of the SELECT; the columns of a domain come last."""
    return settled(lambda hoists: _attempt(node, context, domain, hoists))


def _attempt(
    node: exp.Select, context: Context, domain: Domain | None, hoists: tuple[Hoist, ...]
) -> Node:
    where = node.args.get("where")
    parts = and_parts(where.this) if where else []
    simple = [part for part in parts if part.find(exp.Query) is None]
    joined = [part for part in on_conditions(node) if part.find(exp.Query) is None]
    tables = domain.tables if domain else ()
    scope = Scope(context, domain, hoists, filtered_tables(node), simple, tables)
    tree, scope = from_clause(node, scope)
    scope = replace(scope, checked=joined)
    tree = push_down(tree, conditions_of_where(simple, scope))
    scope = replace(scope, checked=[*joined, *simple])
    tree, scope = attach_subqueries(tree, node, scope)
    tests = conditions((part for part in parts if part not in simple), scope)
    tree = push_down(tree, [test for test in tests if not is_met(test)])
    if is_grouped(node):
        tree = grouped_select(tree, node, scope)
    else:
        tree, scope = attach_windows(tree, node, scope)
        tree = _listed(tree, node, scope)
    return distinct(tree, len(scope.domain_columns)) if node.args.get("distinct") else tree


def _listed(tree: Node, node: exp.Select, scope: Scope) -> Project:
    """The SELECT list, then the domain."""
    expressions: list[Expression] = [value(item.unalias(), scope) for item in node.expressions]
    names = [item.alias_or_name for item in node.expressions]
    for column in scope.domain_columns:
        expressions.append(column)
        names.append(tree.columns[column.index].name)
    return Project(tree, tuple(expressions), tuple(names))
