"""Lowers one SELECT: names, conditions, hoists, and the SELECT list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, Ref, conjuncts, plain_column, refs
from pgstream.algebra.lower.convert import Converter
from pgstream.algebra.lower.from_ import FromClause
from pgstream.algebra.lower.grouped import GroupedSelect
from pgstream.algebra.lower.scope import Domain, Merged, Table
from pgstream.algebra.lower.sets import distinct
from pgstream.algebra.lower.subqueries import Subqueries
from pgstream.algebra.lower.windows import Windows
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.placement.canonical import (
    canonical_argument,
    canonical_value,
    comparisons,
    is_canonical_column,
)
from pgstream.algebra.placement.guards import filtered_tables, guarded, is_guard, may_fail
from pgstream.algebra.placement.push_down import push_down
from pgstream.algebra.placement.spark_list import divides_numerics, spark_refusal
from pgstream.errors import UnsupportedConstruct, UnsupportedExpression, UnsupportedType
from pgstream.sql.cut import is_grouped
from pgstream.sql.deparsed import write
from pgstream.sql.walk import and_parts, argument_value, bare

if TYPE_CHECKING:
    from pgstream.algebra.lower.query import Lowering


@dataclass
class Hoists:
    """Expressions that PostgreSQL computes while it reads a table, per FROM alias.

    `written` has for an expression the text that computes it: it may have a guard.
    """

    texts: dict[str, list[str]] = field(default_factory=dict)
    written: dict[tuple[str, str], str] = field(default_factory=dict)
    canonical: set[tuple[str, str]] = field(default_factory=set)
    """Those texts that give a canonical value."""

    def add(self, alias: str, text: str) -> None:
        self.texts.setdefault(alias, []).append(text)


class HoistFound(Exception):
    def __init__(self, alias: str, text: str) -> None:
        self.alias, self.text = alias, text


# Parts of an expression that are not values of their own.
NOT_VALUES = (exp.DataType, exp.Identifier, exp.Column, exp.If, exp.Any, exp.All, exp.Var)
# Of these PostgreSQL computes one part: the others might fail, so no scan computes parts of them.
CHOICES = (exp.Case, exp.Coalesce)
REPLACED = (exp.Exists, exp.In, exp.Subquery, exp.Window)


class SelectLowering:
    """Lowers one SELECT, with the hoists found so far. With a domain, the SELECT is a
    correlated subquery: the domain's columns come last in the result."""

    def __init__(
        self, parent: Lowering, node: exp.Select, hoists: Hoists, domain: Domain | None
    ) -> None:
        self.parent, self.node, self.hoists, self.domain = parent, node, hoists, domain
        self.catalog = parent.catalog
        self.tables: list[Table] = []
        self.columns: dict[int, Column] = {}
        self.merged: list[Merged] = []
        """Columns of USING, by their bare names."""
        self.replaced: dict[str, Expression] = {}
        self.converter = Converter(self.catalog, self.columns, self.resolve)
        self.filtered = filtered_tables(node)
        self.checked: Sequence[exp.Expr] = ()
        """Conditions of WHERE that a row must pass before more of it is computed."""

    def lower(self) -> Node:
        node = self.node
        where = node.args.get("where")
        parts = and_parts(where.this) if where else []
        simple = [part for part in parts if part.find(exp.Query) is None]
        self.checked = simple
        tree = push_down(FromClause(self).lower(), self.where(simple))
        tree = Subqueries(self).attach(tree)
        tree = push_down(tree, self.all_of(part for part in parts if part not in simple))
        if is_grouped(self.node):
            tree = GroupedSelect(self, self.converter, tree).lower()
        else:
            tree = Windows(self).attach(tree)
            items = node.expressions
            expressions = [self.value(item) for item in items]
            names = [item.alias_or_name for item in items]
            for column in self.domain_columns():
                expressions.append(column)
                names.append(self.columns[column.index].name)
            tree = Project(tree, tuple(expressions), tuple(names))
        return distinct(tree, len(self.domain_columns())) if node.args.get("distinct") else tree

    def domain_columns(self) -> list[Ref]:
        """The domain is what FROM starts with."""
        return [self.ref(i) for i in range(len(self.domain.names) if self.domain else 0)]

    def value(self, item: exp.Expr) -> Expression:
        node = item.this if isinstance(item, exp.Alias) else item
        return self.hoisted(self.converter.convert(node), node)

    def conditions(self, node: exp.Expr) -> list[Expression]:
        return self.all_of(and_parts(node))

    def all_of(self, nodes: Iterable[exp.Expr]) -> list[Expression]:
        """The conditions, which all must hold."""
        parts: list[Expression] = []
        for part in nodes:
            parts += self.condition(self.converter.convert(part), part)
        return parts

    def where(self, nodes: Sequence[exp.Expr]) -> list[Expression]:
        """As `all_of`; each is computed only where those before it hold."""
        parts: list[Expression] = []
        for i, node in enumerate(nodes):
            self.checked = nodes[:i]
            parts += self.all_of([node])
        self.checked = nodes
        return parts

    def hoisted(self, expression: Expression, node: exp.Expr) -> Expression:
        """The expression; raises HoistFound if a scan should compute it, or a part of it."""
        # Numerics are divided with PostgreSQL's own digits, where it can.
        if spark_refusal(expression) is not None or divides_numerics(expression):
            self.hoist(expression, node)
        return expression

    def condition(self, expression: Expression, node: exp.Expr) -> list[Expression]:
        """A conjunct; the sides of an equality between tables become columns."""
        if self.table_of(expression) is None:
            compared = comparisons(node, lambda side: self.converter.convert(side).type)
            if compared != node:
                expression, node = self.converter.convert(compared), compared
        if isinstance(expression, Call) and expression.function == "=":
            sides = [bare(node.this), bare(node.args["expression"])]
            tables = [self.table_of(side) for side in expression.arguments]
            if None not in tables and tables[0] is not tables[1]:
                for side, part in zip(expression.arguments, sides, strict=True):
                    self.key(side, part)
        return list(conjuncts(self.hoisted(expression, node)))

    def key(self, expression: Expression, node: exp.Expr) -> Expression:
        """A key is a column where it can be: PostgreSQL computes it, and can look it up."""
        if plain_column(expression) is None and self.table_of(expression) is not None:
            self.hoist(expression, node)
        return expression

    # --- names ------------------------------------------------------------------------------

    def register(self, table: Table, tree: Node) -> None:
        self.register_columns(table, tree.columns)

    def register_columns(self, table: Table, columns: Sequence[Column]) -> None:
        self.tables.append(table)
        for i, column in enumerate(columns):
            self.columns[table.offset + i] = column

    def pad(self, tables: Sequence[Table]) -> None:
        """From here on these tables' rows may be padded with NULLs."""
        for table in tables:
            self.tables[self.tables.index(table)] = replace(table, padded=True)

    def resolve(self, node: exp.Expr) -> Expression | None:
        if self.replaced and isinstance(node, REPLACED):
            return self.replaced.get(write(node))
        for table in self.tables:
            if self.computes(table, node) and self.reads_only(node, table):
                plain = self.table_text(node, table)
                text = self.hoists.written.get((table.alias, plain))
                if text is not None and f"({text})" in table.names:
                    return self.ref(table.offset + table.names.index(f"({text})"))
        if (inner := canonical_argument(node)) is not None:
            return canonical_value(self.converter.convert(inner))
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
        if merged:
            return merged[-1]
        return self.ref(self.index_of(node))

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
        return Ref(index, self.columns[index].type)

    def table_of(self, expression: Expression) -> Table | None:
        """The one FROM item whose columns the expression reads."""
        owners = {self.owner(i).offset: self.owner(i) for i in refs(expression)}
        return next(iter(owners.values())) if len(owners) == 1 else None

    def owner(self, index: int) -> Table:
        return max((t for t in self.tables if t.offset <= index), key=lambda t: t.offset)

    # --- hoisting ---------------------------------------------------------------------------

    def hoist(self, expression: Expression, node: exp.Expr) -> None:
        """Have PostgreSQL compute the largest part of the expression that it can."""
        node = bare(node)
        if isinstance(node, REPLACED):
            return  # it is not computed here
        table = self.table_of(expression)
        if not refs(expression):  # a constant that PostgreSQL computes: any table will do
            table = next((t for t in self.tables if t.scan is not None and not t.padded), None)
        computable = table is not None and self.computes(table, node)
        if table is not None and computable and plain_column(expression) is None:
            mark = (table.alias, self.table_text(node, table))
            if mark not in self.hoists.written:
                guards = [] if is_canonical_column(node) else self.guards(node, table)
                text = guarded(mark[1], guards)
                self.hoists.written[mark] = text
                if canonical_argument(node) is not None:
                    self.hoists.canonical.add((table.alias, text))
                raise HoistFound(table.alias, text)
        if spark_refusal(expression) is None or isinstance(node, CHOICES):
            return
        converter = self.converter
        call = node.expression if isinstance(node, exp.Dot) else node  # schema.function(…)
        for child in map(argument_value, call.iter_expressions()):
            if isinstance(child, NOT_VALUES):
                continue
            with suppress(UnsupportedType):  # ROW(a, b) is no value by itself
                part = converter.convert(child)
                if spark_refusal(part) is not None:
                    self.hoist(part, child)

    def computes(self, table: Table, node: exp.Expr) -> bool:
        """Whether the FROM item can have the node as a column."""
        if is_canonical_column(node):
            return True
        return table.scan is not None and not table.padded

    def guards(self, node: exp.Expr, table: Table) -> list[str]:
        """The conditions under which the scan computes the node."""
        if table.alias not in self.filtered or not may_fail(node):
            return []
        alone = (part for part in self.checked if is_guard(part) and self.reads_only(part, table))
        return [self.table_text(part, table) for part in alone]

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

    def table_text(self, node: exp.Expr, table: Table) -> str:
        """The node over the table's own column names, in PostgreSQL's dialect."""
        names = [f.name for f in table.scan.fields] if table.scan else table.names
        real = dict(zip(table.names, names, strict=True))

        def unqualify(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Column):
                name = real.get(part.name, part.name)
                return exp.column(exp.to_identifier(name, quoted=True))
            return part

        return write(bare(node).copy().transform(unqualify))
