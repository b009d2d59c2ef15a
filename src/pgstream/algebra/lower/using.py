"""Lowers USING: equalities of columns that have one name, and what that name means.

    FROM a FULL JOIN b USING (k) AS j     a.k = b.k, and k and j.k are coalesce(a.k, b.k)

PostgreSQL writes the bare name where no column of a table is just that: above a FULL join, and
where the columns have unlike types. They are compared in the types that its `=` takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, Ref, refs
from pgstream.algebra.lower.hoist import key
from pgstream.algebra.lower.scope import Merged, Scope, Table
from pgstream.algebra.placement.canonical import (
    canonical_node,
    canonical_value,
    common_spelling,
    has_spellings,
)
from pgstream.algebra.placement.compared import cast_to, compared
from pgstream.algebra.types import BOOLEAN, Type


def equality(
    name: str, ours: Sequence[Table], theirs: Sequence[Table], join: exp.Join, scope: Scope
) -> tuple[Expression, Scope]:
    left, right = _named(name, ours, scope), _named(name, theirs, scope)
    both = compared(scope.catalog, left.type, right.type)
    sides = left, right
    if both is not None and has_spellings(common_spelling(both)):
        sides = _canonical(left, scope), _canonical(right, scope)
    elif both is not None:
        sides = _cast(left, both[0], scope), _cast(right, both[1], scope)
    value = _merged(left, right, join.side.upper(), scope)
    merged = Merged(name, value, join.text("using_alias"))
    return Call("=", sides, BOOLEAN), replace(scope, merged=(*scope.merged, merged))


def _merged(left: Expression, right: Expression, side: str, scope: Scope) -> Expression:
    """What the bare name means above the join."""
    types = left.type, right.type
    common = common_spelling(types)
    if types[0].name != types[1].name:
        common = scope.catalog.type_of("COALESCE(s.c0, s.c1)", dict(enumerate(types)))
        left, right = Call("cast", (left,), common), Call("cast", (right,), common)
    if side == "FULL":
        return Call("coalesce", (left, right), common)
    return right if side == "RIGHT" else left


def _named(name: str, tables: Sequence[Table], scope: Scope) -> Expression:
    """The column of this name in what the tables are joined to."""
    for merged in reversed(scope.merged):
        owners = [scope.owner(i) for i in refs(merged.value)]
        if merged.name == name and all(owner in tables for owner in owners):
            return merged.value
    table = next(t for t in tables if name in t.names)
    return scope.ref(table.offset + table.names.index(name))


def _canonical(value: Expression, scope: Scope) -> Expression:
    column = _column(value, scope)
    if column is None:
        return canonical_value(value)
    node = canonical_node(column)
    return key(scope.convert(node), node, scope)


def _cast(value: Expression, type_: Type, scope: Scope) -> Expression:
    """The value as one of this type; a scan computes it if it can."""
    if value.type.name == type_.name:
        return value
    column = _column(value, scope)
    if column is None:
        return Call("cast", (value,), type_)
    node = cast_to(column, value.type, type_)
    return key(scope.convert(node), node, scope)


def _column(value: Expression, scope: Scope) -> exp.Column | None:
    if not isinstance(value, Ref):
        return None
    table = scope.owner(value.index)
    name = table.names[value.index - table.offset]
    return exp.column(name, table=table.alias, quoted=True)
