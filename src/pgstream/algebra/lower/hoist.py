"""hoist: expressions of one SELECT, and what of them PostgreSQL computes while it reads a table.

    SELECT md5(t.x) FROM t        the scan of t has one more column, md5(x)

An expression that Spark must not evaluate, or that is a key, and that needs one table only, is
hoisted into the scan of that table. A scan stands below all that reads it, so a SELECT is lowered
for a given set of hoists. If an expression wants another, the attempt ends there with `Wanted`,
and the next one has it: what comes after it may depend on it. `settled` is that loop. It ends,
because each hoist is new and is a part of the SELECT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, conjuncts, plain_column, refs
from pgstream.algebra.lower.scope import REPLACED, Hoist, Scope, Table
from pgstream.algebra.operators.node import Node
from pgstream.algebra.placement.canonical import (
    canonical_argument,
    comparisons,
    is_canonical_column,
)
from pgstream.algebra.placement.guards import guarded, is_guard, may_fail
from pgstream.algebra.placement.spark_list import divides_numerics, spark_refusal
from pgstream.errors import UnsupportedType
from pgstream.sql.walk import and_parts, argument_value, bare

# Parts of an expression that are not values of their own.
NOT_VALUES = (exp.DataType, exp.Identifier, exp.Column, exp.If, exp.Any, exp.All, exp.Var)
# Of these PostgreSQL computes one part: the others might fail, so no scan computes parts of them.
CHOICES = (exp.Case, exp.Coalesce)


class Wanted(Exception):
    """How an attempt ends that needs one more hoist."""

    def __init__(self, hoist: Hoist) -> None:
        self.hoist = hoist


def settled(attempt: Callable[[tuple[Hoist, ...]], Node]) -> Node:
    """What the attempt gives with all the hoists that it wants."""
    hoists: tuple[Hoist, ...] = ()
    while True:
        try:
            return attempt(hoists)
        except Wanted as wanted:
            hoists = (*hoists, wanted.hoist)


# --- expressions --------------------------------------------------------------------------------


def value(node: exp.Expr, scope: Scope) -> Expression:
    return hoisted(scope.convert(node), node, scope)


def conditions(nodes: Iterable[exp.Expr], scope: Scope) -> list[Expression]:
    """The conjuncts of conditions that all must hold."""
    return [part for node in nodes for part in _condition(node, scope)]


def conditions_of_where(nodes: Sequence[exp.Expr], scope: Scope) -> list[Expression]:
    """The same; each is computed only where those of ON and those before it hold."""
    parts: list[Expression] = []
    for i, node in enumerate(nodes):
        parts += conditions([node], replace(scope, checked=[*scope.checked, *nodes[:i]]))
    return parts


def condition_parts(node: exp.Expr, scope: Scope) -> list[Expression]:
    return conditions(and_parts(node), scope)


def key(expression: Expression, node: exp.Expr, scope: Scope) -> Expression:
    """A key is a column where it can be: PostgreSQL computes it, and can look it up."""
    if plain_column(expression) is None and scope.table_of(expression) is not None:
        _hoist(expression, node, scope)
    return expression


def hoisted(expression: Expression, node: exp.Expr, scope: Scope) -> Expression:
    """The expression, of which scans compute what they should."""
    # Numerics are divided with PostgreSQL's own digits, where it can.
    if spark_refusal(expression) is not None or divides_numerics(expression):
        _hoist(expression, node, scope)
    return expression


def _condition(node: exp.Expr, scope: Scope) -> list[Expression]:
    """A conjunct; the sides of an equality between tables become columns."""
    expression = scope.convert(node)
    if scope.table_of(expression) is None:
        compared = comparisons(node, lambda side: scope.convert(side).type)
        if compared != node:
            expression, node = scope.convert(compared), compared
    if isinstance(expression, Call) and expression.function == "=":
        sides = [bare(node.this), bare(node.args["expression"])]
        tables = [scope.table_of(side) for side in expression.arguments]
        if None not in tables and tables[0] is not tables[1]:
            for side, part in zip(expression.arguments, sides, strict=True):
                key(side, part, scope)
    return list(conjuncts(hoisted(expression, node, scope)))


# --- what is wanted -----------------------------------------------------------------------------


def _hoist(expression: Expression, node: exp.Expr, scope: Scope) -> None:
    """Has PostgreSQL compute the largest part of the expression that it can."""
    node = bare(node)
    if isinstance(node, REPLACED):
        return  # it is not computed here
    table = scope.table_of(expression)
    if not refs(expression):  # a constant that PostgreSQL computes: any table will do
        table = next((t for t in scope.tables if t.scan is not None and not t.padded), None)
    if table is not None and table.computes(node) and plain_column(expression) is None:
        _require(node, table, scope)
    if spark_refusal(expression) is not None and not isinstance(node, CHOICES):
        _hoist_parts(node, scope)


def _hoist_parts(node: exp.Expr, scope: Scope) -> None:
    call = node.expression if isinstance(node, exp.Dot) else node  # schema.function(…)
    for child in map(argument_value, call.iter_expressions()):
        if isinstance(child, NOT_VALUES):
            continue
        with suppress(UnsupportedType):  # ROW(a, b) is no value by itself
            part = scope.convert(child)
            if spark_refusal(part) is not None:
                _hoist(part, child, scope)


def _require(node: exp.Expr, table: Table, scope: Scope) -> None:
    plain = table.text_of(node)
    if any((h.alias, h.plain) == (table.alias, plain) for h in scope.hoists):
        return
    guards = [] if is_canonical_column(node) else _guards(node, table, scope)
    is_canonical = canonical_argument(node) is not None
    raise Wanted(Hoist(table.alias, plain, guarded(plain, guards), is_canonical))


def _guards(node: exp.Expr, table: Table, scope: Scope) -> list[str]:
    """The conditions under which the scan computes the node."""
    if table.alias not in scope.filtered or not may_fail(node):
        return []
    alone = (p for p in scope.checked if is_guard(p) and scope.reads_only(p, table))
    return [table.text_of(part) for part in alone]
