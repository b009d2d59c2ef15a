"""Lowers window functions: columns that Window nodes add to the rows of FROM.

One node per partition; functions that PostgreSQL computes have a node per partition and order.
A correlated subquery is partitioned by its domain first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.lower.aggregate_calls import function_of
from pgstream.algebra.lower.hoist import value
from pgstream.algebra.lower.scope import Scope, Table
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.order import Order
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.window import (
    DEFAULT_FRAME,
    STAR,
    Frame,
    Window,
    WindowCall,
)
from pgstream.algebra.placement.canonical import as_key, require_key
from pgstream.algebra.placement.windows import by_postgres, spark_form
from pgstream.algebra.types import BIGINT, Type
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.deparsed import write
from pgstream.sql.walk import argument_mark, argument_value, parts

# What does not depend on the digits with which a numeric is written.
EXACT = ("count", "sum", "min", "max", "lag", "lead", "first_value", "last_value", "nth_value")
Partitioned = tuple[tuple[int, ...], WindowCall]
"""A call and the keys of its partition."""


def attach_windows(tree: Node, node: exp.Select, scope: Scope) -> tuple[Node, Scope]:
    """The tree with the columns of the window functions in the SELECT list."""
    found = {
        write(part): part
        for item in node.expressions
        for part in parts(item)
        if isinstance(part, exp.Window)
    }
    if not found:
        return tree, scope
    width = len(tree.columns)
    reading = _Calls(scope, width)
    calls = {text: reading.call(part) for text, part in found.items()}
    tree = reading.with_arguments(tree)
    columns = list(tree.columns[width:])
    indexes: dict[Partitioned, int] = {}
    for keys, group in grouped(calls.values(), [c.type for c in tree.columns]):
        indexes |= {(keys, call): len(tree.columns) + i for i, call in enumerate(group)}
        on_spark = spark_form(group[0], [c.type for c in tree.columns]) is not None
        tree = Window(tree, keys, group) if on_spark else by_postgres(tree, keys, group)
        columns += [Column(call.function, call.type) for call in group]
    scope = scope.having(Table("", width, (), tuple(columns)))  # no scan computes these
    for text, call in calls.items():
        scope = scope.replacing(found[text], scope.ref(indexes[call]))
    return tree, scope


class _Calls:
    """Reads the calls, and gathers the values that they need and the tree has not."""

    def __init__(self, scope: Scope, width: int) -> None:
        self.scope, self.width = scope, width
        self.added: list[Expression] = []

    def with_arguments(self, tree: Node) -> Node:
        """The tree with the columns that the calls compute their values from."""
        if not self.added:
            return tree
        columns = tree.columns
        kept = tuple(Ref(i, column.type) for i, column in enumerate(columns))
        names = [column.name for column in columns]
        names += [f"w{i}" for i in range(len(self.added))]
        return Project(tree, (*kept, *self.added), tuple(names))

    def call(self, node: exp.Window) -> Partitioned:
        keys = [ref.index for ref in self.scope.domain_columns]
        for part in node.args.get("partition_by") or ():
            keys.append(self.key(part))
        order = node.args.get("order")
        ordered = tuple(self.order(part) for part in order.expressions) if order else ()
        call, condition = node.this, None
        if isinstance(call, exp.Filter):
            condition = self.column(call.args["expression"].this)
            call = call.this
        name, listed = called(call)
        arguments = [one for one in listed if not isinstance(one, exp.Star)]
        values = tuple(self.argument(argument_value(argument), name) for argument in arguments)
        notation = tuple(map(argument_mark, arguments)) if arguments == listed else STAR
        frame = frame_of(node.args.get("spec"))
        made = WindowCall(name, values, condition, ordered, frame, BIGINT, notation)
        return tuple(dict.fromkeys(keys)), replace(made, type=self.type_of(made))

    def key(self, node: exp.Expr) -> int:
        value = self.scope.convert(node)
        require_key(value.type, f"A column of type {value.type} cannot be in PARTITION BY.")
        return self.column(as_key(node, value))

    def order(self, node: exp.Ordered) -> Order:
        descending = bool(node.args.get("desc"))
        # Deparsed text says so wherever it differs from the default of the direction.
        nulls_first = node.args.get("nulls_first")
        return Order(self.column(node.this), descending, bool(nulls_first))

    def argument(self, node: exp.Expr, function: str) -> Expression:
        value = self.value(node)
        if isinstance(value, Literal):
            return value
        if value.type.is_numeric and value.type.digits is None and function not in EXACT:
            text = self.value(exp.cast(node.copy(), "text"))
            if isinstance(text, Ref):  # each value keeps its own digits on its way
                return Call("cast", (text,), value.type)
        index = self.index(value)
        return Ref(index, self.type_at(index))

    def column(self, node: exp.Expr) -> int:
        return self.index(self.value(node))

    def value(self, node: exp.Expr) -> Expression:
        return value(node, self.scope)

    def index(self, value: Expression) -> int:
        """The column that holds the value; one is added if there is none."""
        if isinstance(value, Ref):
            return value.index
        if value not in self.added:
            self.added.append(value)
        return self.width + self.added.index(value)

    def type_at(self, index: int) -> Type:
        if index < self.width:
            return self.scope.ref(index).type
        return self.added[index - self.width].type

    def type_of(self, call: WindowCall) -> Type:
        if call.function == "count":
            return BIGINT
        types = {i: value.type for i, value in enumerate(call.arguments)}
        written = call.written([f"s.c{i}" for i in types])
        return self.scope.catalog.type_of(f"{written} OVER (ORDER BY 1)", types)


def grouped(
    calls: Iterable[Partitioned], types: list[Type]
) -> Iterable[tuple[tuple[int, ...], tuple[WindowCall, ...]]]:
    """Calls that one node computes: of one partition, and for PostgreSQL of one order."""
    groups: dict[tuple[tuple[int, ...], bool, tuple[Order, ...]], list[WindowCall]] = {}
    for keys, call in calls:
        on_spark = spark_form(call, types) is not None
        group = groups.setdefault((keys, on_spark, () if on_spark else call.order), [])
        if call not in group:
            group.append(call)
    for (keys, _, _), group in groups.items():
        yield keys, tuple(group)


def called(node: exp.Expr) -> tuple[str, list[exp.Expr]]:
    """The function's name and its arguments; * is one."""
    if isinstance(node, exp.Dot):  # schema.function(…)
        name, listed = called(node.expression)
        return f"{write(node.this)}.{name}", listed
    if isinstance(node, exp.Anonymous):
        name = node.this
        written = write(name) if isinstance(name, exp.Expr) else name.lower()
        return written, list(node.expressions)
    return function_of(node), [a for a in (node.this, *node.expressions) if isinstance(a, exp.Expr)]


def frame_of(spec: exp.Expr | None) -> Frame:
    if spec is None:
        return DEFAULT_FRAME
    exclude = spec.args.get("exclude")
    word = exclude if isinstance(exclude, str) else exclude.name if exclude else ""
    end = bound(spec, "end") if spec.args.get("end") else "CURRENT ROW"
    return Frame(spec.args["kind"].upper(), bound(spec, "start"), end, word.upper())


def bound(spec: exp.Expr, which: str) -> str:
    """`CURRENT ROW`, `UNBOUNDED PRECEDING`, or a distance: a number of rows where it is one."""
    value, side = spec.args[which], spec.args.get(f"{which}_side")
    if isinstance(value, str):
        return f"{value} {side}".upper() if side else value.upper()
    if value.find(exp.Column, exp.Query):
        raise UnsupportedConstruct(
            "A frame whose offset is a subquery or a column is not supported.",
            construct=spec.args["kind"].upper(),
            hint="Write the offset as a constant.",
        )
    plain = value.unnest()
    number = plain.this if isinstance(plain, exp.Cast) else plain
    text = (
        number.name if spec.args["kind"].upper() == "ROWS" and is_number(number) else write(value)
    )
    return f"{text} {str(side).upper()}"


def is_number(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.name.isdigit()
