"""Lowers one SELECT: FROM, names, conditions, hoists, and the SELECT list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
    shift,
    transform,
)
from pgstream.algebra.functions import spark_refusal
from pgstream.algebra.lower_grouped import GroupedSelect, has_aggregates
from pgstream.algebra.lower_sets import distinct
from pgstream.algebra.lower_subqueries import Subqueries, and_parts, unwrap
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.one import One
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Field, Scan
from pgstream.algebra.place import outer_join, place
from pgstream.algebra.types import BOOLEAN
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
    primary_key: tuple[str, ...] = ()
    padded: bool = False
    """An outer join may put NULLs in the place of its columns: what PostgreSQL computed while
    reading it would be NULL too, which the expression over NULLs need not be."""


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
        self.columns: dict[int, Column] = {}
        self.merged: dict[str, tuple[int, int]] = {}
        self.replaced: dict[str, Expression] = {}
        self.converter = Converter(self.catalog, self.columns, self.resolve)

    def lower(self) -> Node:
        node = self.node
        tree = Subqueries(self).attach(self.from_clause())
        if node.args.get("where"):
            tree = place(tree, self.conditions(node.args["where"].this))
        if self.is_grouped():
            tree = GroupedSelect(self, self.converter, tree).lower()
        else:
            items = node.expressions
            expressions = tuple(self.value(item) for item in items)
            tree = Project(tree, expressions, tuple(item.alias_or_name for item in items))
        return distinct(tree) if node.args.get("distinct") else tree

    def is_grouped(self) -> bool:
        node = self.node
        if node.args.get("group") or node.args.get("having"):
            return True
        return any(has_aggregates(item) for item in node.expressions)

    def value(self, item: exp.Expr) -> Expression:
        node = item.this if isinstance(item, exp.Alias) else item
        return self.spark(self.converter.convert(node), node)

    def conditions(self, node: exp.Expr) -> list[Expression]:
        parts: list[Expression] = []
        for part in and_parts(node):
            parts += self.condition(self.converter.convert(part), part)
        return parts

    def spark(self, expression: Expression, node: exp.Expr) -> Expression:
        return self.parent.require_spark(expression, node, self)

    def condition(self, expression: Expression, node: exp.Expr) -> list[Expression]:
        """A conjunct; the sides of an equality between tables become columns."""
        if isinstance(expression, Call) and expression.function == "=":
            sides = [unwrap(node.this), unwrap(node.args["expression"])]
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
        known = len(self.tables)
        right = self.joined(join.this, offset + len(left.columns))
        ours, theirs = self.tables[start:known], self.tables[known:]
        parts: list[Expression] = []
        if join.args.get("on"):
            parts += self.conditions(join.args["on"])
        for name in self.common_columns(join, ours, theirs):
            parts += self.using(name, ours, theirs, join.side.upper())
        parts = [shift(part, -offset) for part in parts]
        match join.side.upper():
            case "LEFT":
                self.pad(theirs)
                return outer_join(left, right, parts, keeps_right=False)
            case "FULL":
                self.pad(ours + theirs)
                return outer_join(left, right, parts, keeps_right=True)
            case "RIGHT":
                self.pad(ours)
                return self.right_join(left, right, parts)
            case _:
                return place(Join(left, right), parts)

    def right_join(self, left: Node, right: Node, parts: list[Expression]) -> Node:
        """A RIGHT JOIN B is B LEFT JOIN A, with the columns back in their order."""
        first, second = len(left.columns), len(right.columns)

        def exchange(ref: Ref) -> Ref:
            moved = ref.index + second if ref.index < first else ref.index - first
            return Ref(moved, ref.type)

        exchanged = [transform(part, exchange) for part in parts]
        joined = outer_join(right, left, exchanged, keeps_right=False)
        return pick(joined, (*range(second, second + first), *range(second)))

    def pad(self, tables: Sequence[Table]) -> None:
        """From here on these tables' rows may be padded with NULLs."""
        for table in tables:
            self.tables[self.tables.index(table)] = replace(table, padded=True)

    def common_columns(
        self, join: exp.Join, ours: Sequence[Table], theirs: Sequence[Table]
    ) -> list[str]:
        if join.method.upper() == "NATURAL":
            mine = [name for table in ours for name in table.names]
            return [name for table in theirs for name in table.names if name in mine]
        return [name.name for name in join.args.get("using") or ()]

    def using(
        self, name: str, ours: Sequence[Table], theirs: Sequence[Table], side: str
    ) -> list[Expression]:
        places = []
        for tables in (ours, theirs):
            table = next(t for t in tables if name in t.names)
            places.append(table.offset + table.names.index(name))
        if side == "FULL":
            self.merged[name] = (places[0], places[1])
        equality = Call("=", (self.ref(places[0]), self.ref(places[1])), BOOLEAN)
        return [self.parent.require_spark(equality, None, None)]

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
        known = {f.name for f in fields}
        whole = relation.primary_key <= known
        key = tuple(shown.get(n, n) for n in sorted(relation.primary_key)) if whole else ()
        self.register(Table(name, offset, tuple(names), scan, key), scan)
        return scan

    def subquery(self, node: exp.Subquery, offset: int) -> Node:
        alias = node.args.get("alias")
        renames = tuple(c.name for c in (alias.args.get("columns") if alias else None) or ())
        return self.add(node.alias, self.parent.query(node.this), renames, offset)

    def add(self, alias: str, tree: Node, renames: tuple[str, ...], offset: int) -> Node:
        names = [column.name for column in tree.columns]
        names[: len(renames)] = renames
        self.register(Table(alias, offset, tuple(names), None), tree)
        return tree

    def register(self, table: Table, tree: Node) -> None:
        self.tables.append(table)
        for i, column in enumerate(tree.columns):
            self.columns[table.offset + i] = column

    # --- names ------------------------------------------------------------------------------

    def resolve(self, node: exp.Expr) -> Expression | None:
        if self.replaced and isinstance(node, exp.Exists | exp.In | exp.Subquery):
            return self.replaced.get(write(node))
        for table in self.tables:
            if table.scan and not table.padded and _reads_only(node, table):
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
        if not node.table and node.name in self.merged:
            left, right = (self.ref(i) for i in self.merged[node.name])
            return Call("coalesce", (left, right), left.type)
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
        node = unwrap(node)
        table = self.table_of(expression)
        if not refs(expression):  # a constant that PostgreSQL computes: any table will do
            table = next((t for t in self.tables if t.scan is not None and not t.padded), None)
        computable = table is not None and table.scan is not None and not table.padded
        if table is not None and computable and plain_column(expression) is None:
            text = self.table_text(node, table)
            if text not in self.hoists.texts.get(table.alias, ()):
                raise HoistFound(table.alias, text)
        if spark_refusal(expression) is None:
            return
        converter = self.converter
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

        return write(unwrap(node).copy().transform(unqualify))


def _reads_only(node: exp.Expr, table: Table) -> bool:
    """Whether the node, which is no column by itself, reads no other table."""
    if isinstance(node, exp.Column | exp.Literal):
        return False
    return all(
        column.table == table.alias or (not column.table and column.name in table.names)
        for column in node.find_all(exp.Column)
    )
