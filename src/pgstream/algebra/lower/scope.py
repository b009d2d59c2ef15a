"""Scope: what names mean inside one SELECT, and around it.

All of it is frozen. Whoever gives a name a meaning returns another scope; what a helper was
handed stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Protocol

from sqlglot import exp

from pgstream.algebra.catalog import Catalog
from pgstream.algebra.expressions import Expression, Ref, refs
from pgstream.algebra.lower.convert import Converter
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.scan import Scan
from pgstream.algebra.placement.canonical import (
    canonical_argument,
    canonical_value,
    is_canonical_column,
)
from pgstream.errors import UnsupportedConstruct, UnsupportedExpression
from pgstream.sql.deparsed import write
from pgstream.sql.walk import bare

# What `Scope.replaced` may have a value for.
REPLACED = (exp.Exists, exp.In, exp.Subquery, exp.Window)


@dataclass(frozen=True)
class Table:
    """A FROM item: its alias, where its columns start, and their names; the last columns may
    have none."""

    alias: str
    offset: int
    names: tuple[str, ...]
    columns: tuple[Column, ...]
    scan: Scan | None = None
    primary_key: tuple[str, ...] = ()
    padded: bool = False
    """An outer join may put NULLs in the place of its columns: what PostgreSQL computed while
    reading it would be NULL too, which the expression over NULLs need not be."""

    def holds(self, index: int) -> bool:
        return self.offset <= index < self.offset + len(self.columns)

    def computes(self, node: exp.Expr) -> bool:
        """Whether it can have the node as a column."""
        return is_canonical_column(node) or (self.scan is not None and not self.padded)

    def text_of(self, node: exp.Expr) -> str:
        """The node over the table's own column names, in PostgreSQL's dialect."""
        names = [f.name for f in self.scan.fields] if self.scan else self.names
        real = dict(zip(self.names, names, strict=True))

        def unqualify(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Column):
                name = real.get(part.name, part.name)
                return exp.column(exp.to_identifier(name, quoted=True))
            return part

        return write(bare(node).copy().transform(unqualify))


@dataclass(frozen=True)
class Merged:
    """A column that USING makes of one on each side of a join; `alias` is that of the join."""

    name: str
    value: Expression
    alias: str = ""


@dataclass(frozen=True)
class Hoist:
    """An expression that PostgreSQL computes while it reads a table of FROM.

    `text` computes what `plain` says: it may have a guard.
    """

    alias: str
    plain: str
    text: str
    is_canonical: bool = False


@dataclass(frozen=True)
class Domain:
    """The values for which a correlated subquery is computed: one row each.

    `names` are the columns, alias and name, in the order of the tree's columns; an alias's
    columns stand together. `indexes` are those of the relation they were taken from.
    """

    tree: Node
    names: tuple[tuple[str, str], ...]
    indexes: tuple[int, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """What the subquery sees of the query around it."""
        tables: list[Table] = []
        offset = 0
        for alias, group in groupby(self.names, key=lambda name: name[0]):
            names = tuple(name for _, name in group)
            columns = self.tree.columns[offset : offset + len(names)]
            tables.append(Table(alias, offset, names, columns))
            offset += len(names)
        return tuple(tables)


class LowerQuery(Protocol):
    def __call__(self, node: exp.Expr, context: Context, domain: Domain | None = None) -> Node: ...


@dataclass(frozen=True)
class Context:
    """What a query knows of those around it. `lower` lowers a query inside of it: helpers go
    through it, so that none imports what stands above it."""

    catalog: Catalog
    lower: LowerQuery
    ctes: Mapping[str, Callable[[], Node]] = field(default_factory=dict)
    """What the names of WITH stand for, lowered at their first use."""

    def query(self, node: exp.Expr, domain: Domain | None = None) -> Node:
        """The tree of a query. With a domain it is a correlated subquery, computed for each
        row of the domain, whose columns come last in the result."""
        return self.lower(node, self, domain)


@dataclass(frozen=True)
class Scope:
    """The names of one SELECT. With a domain, the SELECT is a correlated subquery, and FROM
    starts with the domain."""

    context: Context
    domain: Domain | None = None
    hoists: tuple[Hoist, ...] = ()
    filtered: frozenset[str] = frozenset()
    """The tables whose rows are in the result only if they pass these."""
    checked: Sequence[exp.Expr] = ()
    """Conditions of ON and WHERE that a row must pass before more of it is computed."""
    tables: tuple[Table, ...] = ()
    merged: tuple[Merged, ...] = ()
    """Columns of USING, by their bare names."""
    replaced: Mapping[str, Expression] = field(default_factory=dict)
    """What was joined for subqueries and window functions, by their texts."""

    # --- other scopes -----------------------------------------------------------------------

    def having(self, table: Table) -> Scope:
        return replace(self, tables=(*self.tables, table))

    def padding(self, tables: Sequence[Table]) -> Scope:
        """From here on these tables' rows may be padded with NULLs."""
        made = (replace(t, padded=True) if t in tables else t for t in self.tables)
        return replace(self, tables=tuple(made))

    def replacing(self, node: exp.Expr, value: Expression) -> Scope:
        return replace(self, replaced={**self.replaced, write(node): value})

    # --- names ------------------------------------------------------------------------------

    @property
    def catalog(self) -> Catalog:
        return self.context.catalog

    @property
    def domain_columns(self) -> list[Ref]:
        return [self.ref(i) for i in range(len(self.domain.names) if self.domain else 0)]

    def convert(self, node: exp.Expr) -> Expression:
        return Converter(self.catalog, self.resolve).convert(node)

    def resolve(self, node: exp.Expr) -> Expression | None:
        if self.replaced and isinstance(node, REPLACED):
            return self.replaced.get(write(node))
        if (computed := self._computed(node)) is not None:
            return computed
        if (inner := canonical_argument(node)) is not None:
            return canonical_value(self.convert(inner))
        if not isinstance(node, exp.Column):
            return None
        if isinstance(node.this, exp.Star):
            raise UnsupportedExpression(
                "A whole-row reference is not supported.",
                construct="whole row",
                hint="Name the columns.",
            )
        merged = [one.value for one in self.merged if one.name == node.name
                  and (not node.table or node.table == one.alias)]  # fmt: skip
        return merged[-1] if merged else self.ref(self.index_of(node))

    def _computed(self, node: exp.Expr) -> Ref | None:
        """The column of a scan that computes the node."""
        for table in self.tables:
            known = {h.plain: h.text for h in self.hoists if h.alias == table.alias}
            if known and table.computes(node) and self.reads_only(node, table):
                text = known.get(table.text_of(node))
                if text is not None and f"({text})" in table.names:
                    return self.ref(table.offset + table.names.index(f"({text})"))
        return None

    def index_of(self, column: exp.Expr) -> int:
        """Where the column stands among those of FROM."""
        name, alias = column.name, column.text("table")
        for table in self.tables:
            if (not alias or alias == table.alias) and name in table.names:
                return table.offset + table.names.index(name)
        if alias and not any(alias == table.alias for table in self.tables):
            raise UnsupportedConstruct(
                f"The reference {write(column)} reaches out of a place that pgstream does not "
                "correlate.",
                construct=name,
                hint="Write it as a join with a subquery in FROM.",
            )
        raise UnsupportedExpression(
            f"The reference {write(column)} is not supported.",
            construct=name,
            hint="Name a column of a table in FROM; whole rows and fields are not columns.",
        )

    def ref(self, index: int) -> Ref:
        table = self.owner(index)
        return Ref(index, table.columns[index - table.offset].type)

    def owner(self, index: int) -> Table:
        return next(table for table in self.tables if table.holds(index))

    def table_of(self, expression: Expression) -> Table | None:
        """The one FROM item whose columns the expression reads."""
        owners = {self.owner(i).offset: self.owner(i) for i in refs(expression)}
        return next(iter(owners.values())) if len(owners) == 1 else None

    def reads_only(self, node: exp.Expr, table: Table) -> bool:
        """Whether the node, which is no column by itself, reads no other table."""
        if isinstance(node, exp.Column | exp.Literal):
            return False
        merged = {one.name for one in self.merged}
        return all(
            column.table == table.alias
            or (not column.table and column.name in table.names and column.name not in merged)
            for column in node.find_all(exp.Column)
        )
