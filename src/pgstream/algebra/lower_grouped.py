"""Lowers a SELECT with GROUP BY or aggregates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from pgstream.algebra.convert import Converter
from pgstream.algebra.expressions import (
    Call,
    Expression,
    Literal,
    Ref,
    plain_column,
)
from pgstream.algebra.functions import aggregate_refusal, can_be_key
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.types import BIGINT, BOOLEAN, Type
from pgstream.errors import UnsupportedExpression, UnsupportedType
from pgstream.sql.walk import AGGREGATES, is_aggregate, parts

if TYPE_CHECKING:
    from pgstream.algebra.lower_select import SelectLowering


class GroupedSelect:
    """SELECT with GROUP BY or aggregates:

    Project(keys, arguments) → Aggregate → Filter(HAVING) → Project(SELECT list)
    """

    def __init__(self, select: SelectLowering, converter: Converter, tree: Node) -> None:
        self.select, self.below, self.tree = select, converter, tree
        group = select.node.args.get("group")
        # PostgreSQL prints GROUP BY (f(x)), but SELECT f(x).
        self.keys: list[exp.Expr] = [k.unnest() for k in group.expressions] if group else []
        self.calls: list[tuple[str, exp.Expr | None, exp.Expr | None]] = []
        self.types: list[Type] = []

    def lower(self) -> Node:
        node = self.select.node
        having = node.args.get("having")
        items = [i.this if isinstance(i, exp.Alias) else i for i in node.expressions]
        for part in [*items, *([having.this] if having else [])]:
            self.collect(part)
        aggregate = self.aggregate()
        self.types = [column.type for column in aggregate.columns]
        above = Converter(self.select.catalog, aggregate.columns, self.resolve_above)
        tree: Node = aggregate
        if having:
            tree = Filter(tree, above.convert(having.this))
        expressions = tuple(above.convert(item) for item in items)
        names = tuple(item.alias_or_name for item in node.expressions)
        return Project(tree, expressions, names)

    def collect(self, node: exp.Expr) -> None:
        """Finds aggregate calls, and columns that hang on a grouped primary key."""
        if any(node == key for key in self.keys):
            return
        call = _aggregate_call(node)
        if call is not None:
            if call not in self.calls:
                self.calls.append(call)
            return
        if isinstance(node, exp.Column):
            self.require_dependent(node)
            self.keys.append(node)
            return
        for child in node.iter_expressions():
            self.collect(child)

    def require_dependent(self, column: exp.Column) -> None:
        """A column outside GROUP BY must hang on the grouped primary key of its table."""
        grouped = {index for key in self.keys if (index := self.index_of(key)) is not None}
        index = self.index_of(column)
        table = None if index is None else self.select.owner(index)
        if (
            table is not None
            and table.primary_key
            and all(table.offset + table.names.index(name) in grouped for name in table.primary_key)
        ):
            return
        raise UnsupportedExpression(
            f"The column {column.name} is neither grouped nor determined by the grouping.",
            construct=column.name,
            hint="Put it into GROUP BY.",
        )

    def index_of(self, node: exp.Expr) -> int | None:
        return plain_column(self.below.convert(node)) if isinstance(node, exp.Column) else None

    def aggregate(self) -> Aggregate:
        expressions: list[Expression] = []
        for key in self.keys:
            value = self.select.key(self.below.convert(key), key)
            value = self.select.spark(value, key)
            if not can_be_key(value.type):
                raise UnsupportedType(
                    f"A column of type {value.type} cannot be a grouping column.",
                    hint="Group by an expression of another type.",
                )
            expressions.append(value)
        calls = [self.call(call, expressions) for call in self.calls]
        names = tuple(f"k{i}" for i in range(len(expressions)))
        narrowed = Project(self.tree, tuple(expressions), names)
        return Aggregate(narrowed, tuple(range(len(self.keys))), tuple(calls))

    def call(
        self,
        call: tuple[str, exp.Expr | None, exp.Expr | None],
        expressions: list[Expression],
    ) -> AggregateCall:
        function, argument, condition = call
        value: Expression | None = None
        if argument is not None:
            value = self.select.spark(self.below.convert(argument), argument)
        refusal = aggregate_refusal(function, value.type if value else None)
        if refusal:
            raise UnsupportedExpression(
                f"The aggregate {refusal} is not supported.",
                construct=function,
                detail="Its order or its sum on Spark may differ from PostgreSQL's.",
                hint="Cast the column to a number, a date or text with the C collation.",
            )
        if condition is not None:
            value = self.filtered(value, condition)
        if value is None:
            return AggregateCall(function, None, BIGINT)
        if value not in expressions:
            expressions.append(value)
        place_ = expressions.index(value)
        type_ = self.select.catalog.type_of(f"{function}(s.c0)", {0: value.type})
        return AggregateCall(function, place_, type_)

    def filtered(self, value: Expression | None, condition: exp.Expr) -> Expression:
        """agg(x) FILTER (WHERE p) = agg(CASE WHEN p THEN x END)."""
        test = self.select.spark(self.below.convert(condition), condition)
        value = value or Literal("t", BOOLEAN)
        return Call("case", (test, value, Literal(None, value.type)), value.type)

    def resolve_above(self, node: exp.Expr) -> Expression | None:
        for i, key in enumerate(self.keys):
            if node == key:
                return self.above_ref(i)
        call = _aggregate_call(node)
        if call is not None:
            return self.above_ref(len(self.keys) + self.calls.index(call))
        return None

    def above_ref(self, index: int) -> Ref:
        return Ref(index, self.types[index])


def _aggregate_call(
    node: exp.Expr,
) -> tuple[str, exp.Expr | None, exp.Expr | None] | None:
    condition: exp.Expr | None = None
    if isinstance(node, exp.Filter):
        condition = node.args["expression"].this
        node = node.args["this"]
    if not isinstance(node, AGGREGATES):
        return None
    argument = None if isinstance(node.this, exp.Star) else node.this
    return node.sql_name().lower(), argument, condition


def has_aggregates(node: exp.Expr) -> bool:
    return any(map(is_aggregate, parts(node)))
