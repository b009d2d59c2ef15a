"""Lowers USING: equalities of columns that have one name, and what that name means.

    FROM a FULL JOIN b USING (k) AS j     a.k = b.k, and k and j.k are coalesce(a.k, b.k)

PostgreSQL writes the bare name where no column of a table is just that: above a FULL join, and
where the columns have unlike types. They are compared in the types that its `=` takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, Ref, refs
from pgstream.algebra.lower.scope import Merged, Table
from pgstream.algebra.placement.canonical import (
    canonical_node,
    canonical_value,
    common_spelling,
    has_spellings,
)
from pgstream.algebra.placement.compared import cast_to, compared
from pgstream.algebra.types import BOOLEAN, Type

if TYPE_CHECKING:
    from pgstream.algebra.lower.select import SelectLowering


class Using:
    def __init__(self, select: SelectLowering) -> None:
        self.select = select

    def equality(
        self, name: str, ours: Sequence[Table], theirs: Sequence[Table], join: exp.Join
    ) -> Expression:
        left, right = self.named(name, ours), self.named(name, theirs)
        both = compared(self.select.catalog, left.type, right.type)
        sides = left, right
        if both is not None and has_spellings(common_spelling(both)):
            sides = self.canonical(left), self.canonical(right)
        elif both is not None:
            sides = self.cast(left, both[0]), self.cast(right, both[1])
        value = self.merged(left, right, join.side.upper())
        self.select.merged.append(Merged(name, value, join.text("using_alias")))
        return Call("=", sides, BOOLEAN)

    def merged(self, left: Expression, right: Expression, side: str) -> Expression:
        """What the bare name means above the join."""
        types = left.type, right.type
        common = common_spelling(types)
        if types[0].name != types[1].name:
            common = self.select.catalog.type_of("COALESCE(s.c0, s.c1)", dict(enumerate(types)))
            left, right = Call("cast", (left,), common), Call("cast", (right,), common)
        if side == "FULL":
            return Call("coalesce", (left, right), common)
        return right if side == "RIGHT" else left

    def named(self, name: str, tables: Sequence[Table]) -> Expression:
        """The column of this name in what the tables are joined to."""
        for merged in reversed(self.select.merged):
            owners = [self.select.owner(i) for i in refs(merged.value)]
            if merged.name == name and all(owner in tables for owner in owners):
                return merged.value
        table = next(t for t in tables if name in t.names)
        return self.select.ref(table.offset + table.names.index(name))

    def canonical(self, value: Expression) -> Expression:
        column = self.column(value)
        if column is None:
            return canonical_value(value)
        node = canonical_node(column)
        return self.select.key(self.select.converter.convert(node), node)

    def cast(self, value: Expression, type_: Type) -> Expression:
        """The value as one of this type; a scan computes it if it can."""
        if value.type.name == type_.name:
            return value
        column = self.column(value)
        if column is None:
            return Call("cast", (value,), type_)
        node = cast_to(column, value.type, type_)
        return self.select.key(self.select.converter.convert(node), node)

    def column(self, value: Expression) -> exp.Column | None:
        if not isinstance(value, Ref):
            return None
        table = self.select.owner(value.index)
        name = table.names[value.index - table.offset]
        return exp.column(name, table=table.alias, quoted=True)
