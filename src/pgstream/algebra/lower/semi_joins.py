"""Lowers tests of subqueries that must be true, or false, to semi- and anti-joins.

    EXISTS (SELECT … FROM b WHERE b.k = a.k)                    A ⋉ δ(keys k of B)
    EXISTS (SELECT … FROM b WHERE b.k = a.k AND b.v <> a.v)     A ⋉ B by k, and v <> v

Without other conditions the right side is the distinct keys: of its changes only keys that come or
go concern the rows outside.
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.algebra.expressions import (
    Call,
    Expression,
    Ref,
    arguments,
    conjunction,
    plain_column,
    refs,
    transform,
)
from pgstream.algebra.lower.correlation import equalities, named, over_columns, own_values
from pgstream.algebra.lower.decorrelate import Decorrelated
from pgstream.algebra.lower.hoist import conditions
from pgstream.algebra.lower.scope import Scope, Table
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.placement.spark_list import spark_refusal
from pgstream.algebra.types import BOOLEAN
from pgstream.sql.scope import aliases

ALIAS = "__pgs_test"


def semi_joined(tree: Node, test: Decorrelated, anti: bool, scope: Scope) -> Node | None:
    """The rows of the tree for which the subquery has rows, or has none; None if Spark cannot
    tell."""
    own = aliases(test.inner)
    values = own_values(test.others, own)
    if values is None:
        return None
    rows = test.inner.copy()
    shown = [exp.alias_(value.copy(), f"v{i}") for i, value in enumerate(values)]
    rows.set("expressions", [*named(test.pairs), *shown])
    rows.set("distinct", None if values else exp.Distinct())
    right = scope.context.query(rows)
    names = tuple(column.name for column in right.columns)
    scope = scope.having(Table(ALIAS, len(tree.columns), names, right.columns))
    others = [over_columns(one, values, own, ALIAS) for one in test.others]
    same = equalities(test.pairs, len(tree.columns), scope)
    return _joined(tree, right, same, conditions(others, scope), anti)


def _joined(
    tree: Node, right: Node, same: list[Expression], others: list[Expression], anti: bool
) -> Node | None:
    """By equalities of a value of the tree with a column of the right side, and by others."""
    width = len(tree.columns)
    pairs = [arguments(part) for part in same]
    values = [value for value, _ in pairs if plain_column(value) is None]
    left = with_columns(tree, values) if values else tree
    on: list[tuple[int, int]] = []
    for value, key in pairs:
        column = plain_column(value)
        place = width + values.index(value) if column is None else column
        on.append((place, min(refs(key)) - width))
    rest = [_beside(part, width, len(values)) for part in others]
    alike = [Call("=", (Ref(0, value.type), key), BOOLEAN) for value, key in pairs]
    if any(map(spark_refusal, [*alike, *rest])):
        return None
    joined = SemiJoin(left, right, tuple(on), conjunction(rest), anti=anti)
    return pick(joined, tuple(range(width))) if values else joined


def with_columns(tree: Node, values: list[Expression]) -> Project:
    """The tree with these values of each row as its last columns."""
    kept = [Ref(i, column.type) for i, column in enumerate(tree.columns)]
    names = [column.name for column in tree.columns]
    names += [f"value{i}" for i in range(len(values))]
    return Project(tree, (*kept, *values), tuple(names))


def _beside(part: Expression, width: int, more: int) -> Expression:
    """The condition where the left side has more columns."""
    return transform(part, lambda r: r if r.index < width else Ref(r.index + more, r.type))
