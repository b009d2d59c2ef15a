"""Lowers one SELECT: FROM, names, conditions, hoists, and the SELECT list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from pgstream.algebra.convert import Converter
from pgstream.algebra.expressions import (
    Call,
    Expression,
    Ref,
    conjuncts,
    plain_column,
    refs,
)
from pgstream.algebra.functions import spark_refusal
from pgstream.algebra.lower_grouped import GroupedSelect, has_aggregates
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one import One
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Field, Scan
from pgstream.algebra.place import place
from pgstream.errors import UnsupportedConstruct, UnsupportedExpression
from pgstream.sql.deparsed import write

if TYPE_CHECKING:
    from pgstream.algebra.lower import Lowering


@dataclass(frozen=True)
class Table:
    """A FROM item: its alias, where its columns start, and their names."""

    alias: str
    offset: int
    names: tuple[str, ...]
    scan: Scan | None


@dataclass
class Hoists:
    """Expressions that PostgreSQL computes while it reads a table, per FROM alias."""

    texts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, alias: str, text: str) -> None:
        self.texts.setdefault(alias, []).append(text)


class HoistFound(Exception):
    def __init__(self, alias: str, text: str) -> None:
        self.alias, self.text = alias, text


# Parts of an expression that are not values of their own.
NOT_VALUES = (exp.DataType, exp.Identifier, exp.Column, exp.If, exp.Any, exp.All, exp.Var)


class SelectLowering:
    """Lowers one SELECT, with the hoists found so far."""

    def __init__(self, parent: Lowering, node: exp.Select, hoists: Hoists) -> None:
        self.parent, self.node, self.hoists = parent, node, hoists
        self.catalog = parent.catalog
        self.tables: list[Table] = []
        self.on_conditions: list[exp.Expr] = []

    def lower(self) -> Node:
        node = self.node
        tree = self.from_clause()
        self.columns = tree.columns
        converter = Converter(self.catalog, tree.columns, self.resolve)
        conditions = list(self.on_conditions)
        if node.args.get("where"):
            conditions.append(node.args["where"].this)
        parts: list[Expression] = []
        for condition in conditions:
            for part in _and_parts(condition):
                parts += self.condition(converter.convert(part), part)
        tree = place(tree, parts)
        if self.is_grouped():
            return GroupedSelect(self, converter, tree).lower()
        items = node.expressions
        expressions = tuple(self.value(converter, item) for item in items)
        return Project(tree, expressions, tuple(item.alias_or_name for item in items))

    def is_grouped(self) -> bool:
        node = self.node
        if node.args.get("group") or node.args.get("having"):
            return True
        return any(has_aggregates(item) for item in node.expressions)

    def value(self, converter: Converter, item: exp.Expr) -> Expression:
        node = item.this if isinstance(item, exp.Alias) else item
        return self.spark(converter.convert(node), node)

    def spark(self, expression: Expression, node: exp.Expr) -> Expression:
        return self.parent.require_spark(expression, node, self)

    def condition(self, expression: Expression, node: exp.Expr) -> list[Expression]:
        """A conjunct; the sides of an equality between tables become columns."""
        if isinstance(expression, Call) and expression.function == "=":
            sides = [_unwrap(node.this), _unwrap(node.args["expression"])]
            tables = [self.table_of(side) for side in expression.arguments]
            if None not in tables and tables[0] is not tables[1]:
                for side, part in zip(expression.arguments, sides, strict=True):
                    self.key(side, part)
        return list(conjuncts(self.spark(expression, node)))

    def key(self, expression: Expression, node: exp.Expr) -> Expression:
        """A key is a column where it can be: PostgreSQL computes it, and can look it up."""
        if plain_column(expression) is None and self.table_of(expression) is not None:
            self.hoist(expression, node)
        return expression

    # --- FROM -------------------------------------------------------------------------------

    def from_clause(self) -> Node:
        clause = self.node.args.get("from_")
        if clause is None:
            return One()
        tree = self.joined(clause.this, 0)
        for join in self.node.args.get("joins") or ():
            tree = self.join(tree, join, 0)
        return tree

    def joined(self, node: exp.Expr, offset: int) -> Node:
        """One FROM item with the joins that hang on it."""
        joins = node.args.get("joins") or ()
        start = len(self.tables)
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table | exp.Subquery):
            if node.alias:
                raise UnsupportedConstruct(
                    "An alias on a parenthesized join is not supported.",
                    construct="alias on a join",
                    hint="Give each table its own alias.",
                )
            tree = self.joined(node.this, offset)
        elif isinstance(node, exp.Subquery):
            tree = self.subquery(node, offset)
        elif isinstance(node, exp.Table):
            tree = self.table(node, offset)
        else:
            raise UnsupportedConstruct(
                f"{node.key.upper()} in FROM is not supported.", construct=node.key.upper()
            )
        for join in joins:
            tree = self.join(tree, join, offset, start)
        return tree

    def join(self, left: Node, join: exp.Join, offset: int, start: int = 0) -> Node:
        width = len(left.columns)
        known = len(self.tables)
        right = self.joined(join.this, offset + width)
        if join.args.get("on"):
            self.on_conditions.append(join.args["on"])
        for name in join.args.get("using") or ():
            self.using(name.name, self.tables[start:known], self.tables[known:])
        return Join(left, right)

    def using(self, name: str, left: Sequence[Table], right: Sequence[Table]) -> None:
        sides = []
        for tables in (left, right):
            alias = next(t.alias for t in tables if name in t.names)
            sides.append(exp.column(name, table=alias, quoted=True))
        self.on_conditions.append(exp.EQ(this=sides[0], expression=sides[1]))

    def table(self, node: exp.Table, offset: int) -> Node:
        alias = node.args.get("alias")
        name = node.alias or node.name
        renames = tuple(c.name for c in (alias.args.get("columns") if alias else None) or ())
        if not node.db and node.name in self.parent.ctes:
            query, scope = self.parent.ctes[node.name]
            return self.add(name, scope.query(query), renames, offset)
        relation = self.catalog.relation(node.db, node.name)
        shown = dict(zip((c for c, _ in relation.columns), renames, strict=False))
        fields = [Field(c, t) for c, t in relation.columns if c in relation.used]
        names = [shown.get(f.name, f.name) for f in fields]
        for text in self.hoists.texts.get(name, ()):
            sql = text
            fields.append(Field(f"({sql})", self.catalog.field_type(relation.source, sql), sql))
            names.append(f"({sql})")
        scan = Scan(relation.source, tuple(fields))
        self.tables.append(Table(name, offset, tuple(names), scan))
        return scan

    def subquery(self, node: exp.Subquery, offset: int) -> Node:
        alias = node.args.get("alias")
        renames = tuple(c.name for c in (alias.args.get("columns") if alias else None) or ())
        return self.add(node.alias, self.parent.query(node.this), renames, offset)

    def add(self, alias: str, tree: Node, renames: tuple[str, ...], offset: int) -> Node:
        names = [column.name for column in tree.columns]
        names[: len(renames)] = renames
        self.tables.append(Table(alias, offset, tuple(names), None))
        return tree

    # --- names ------------------------------------------------------------------------------

    def resolve(self, node: exp.Expr) -> Expression | None:
        for table in self.tables:
            if table.scan and not isinstance(node, exp.Column | exp.Literal):
                text = self.table_text(node, table)
                if text in self.hoists.texts.get(table.alias, ()):
                    return self.ref(table.offset + table.names.index(f"({text})"))
        if not isinstance(node, exp.Column):
            return None
        if isinstance(node.this, exp.Star):
            raise UnsupportedExpression(
                "A whole-row reference is not supported.",
                construct="whole row",
                hint="Name the columns.",
            )
        for table in self.tables:
            if (not node.table or node.table == table.alias) and node.name in table.names:
                return self.ref(table.offset + table.names.index(node.name))
        raise UnsupportedExpression(
            f"The reference {write(node)} is not supported.",
            construct=node.name,
            hint="Name a column of a table in FROM; whole rows and fields are not columns.",
        )

    def ref(self, index: int) -> Ref:
        return Ref(index, self.columns[index].type)

    def table_of(self, expression: Expression) -> Table | None:
        """The one FROM item whose columns the expression reads."""
        owners = {self.owner(i).alias: self.owner(i) for i in refs(expression)}
        return next(iter(owners.values())) if len(owners) == 1 else None

    def owner(self, index: int) -> Table:
        return next(t for t in reversed(self.tables) if t.offset <= index)

    # --- hoisting ---------------------------------------------------------------------------

    def hoist(self, expression: Expression, node: exp.Expr) -> None:
        """Have PostgreSQL compute the largest part of the expression that it can."""
        node = _unwrap(node)
        table = self.table_of(expression)
        if not refs(expression):  # a constant that PostgreSQL computes: any table will do
            table = next((each for each in self.tables if each.scan is not None), None)
        if table is not None and table.scan is not None and plain_column(expression) is None:
            text = self.table_text(node, table)
            if text not in self.hoists.texts.get(table.alias, ()):
                raise HoistFound(table.alias, text)
        if spark_refusal(expression) is None:
            return
        converter = Converter(self.catalog, self.columns, self.resolve)
        for child in node.iter_expressions():
            if isinstance(child, NOT_VALUES):
                continue
            part = converter.convert(child)
            if spark_refusal(part) is not None:
                self.hoist(part, child)
        for branch in node.find_all(exp.If):
            for inside in (branch.args["this"], branch.args["true"]):
                if spark_refusal(converter.convert(inside)) is not None:
                    self.hoist(converter.convert(inside), inside)

    def table_text(self, node: exp.Expr, table: Table) -> str:
        """The node over the table's own column names, in PostgreSQL's dialect."""
        assert table.scan is not None
        real = dict(zip(table.names, (f.name for f in table.scan.fields), strict=True))

        def unqualify(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Column):
                name = real.get(part.name, part.name)
                return exp.column(exp.to_identifier(name, quoted=True))
            return part

        return write(_unwrap(node).copy().transform(unqualify))


def _and_parts(node: exp.Expr) -> list[exp.Expr]:
    node = _unwrap(node)
    if isinstance(node, exp.And):
        return _and_parts(node.this) + _and_parts(node.expression)
    return [node]


def _unwrap(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node
