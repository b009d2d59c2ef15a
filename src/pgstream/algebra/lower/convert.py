"""convert: a syntax tree of PostgreSQL's own deparsed SQL to a typed expression.

Operators and forms of Spark's list become calls; everything else becomes a `Native` that
keeps PostgreSQL's text. Types come from PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from pgstream.algebra.catalog import Catalog
from pgstream.algebra.expressions import (
    Call,
    Expression,
    Literal,
    Native,
    Ref,
    refs,
    to_postgres,
    walk,
)
from pgstream.algebra.types import BOOLEAN
from pgstream.errors import UnsupportedType
from pgstream.sql.deparsed import write
from pgstream.sql.nodes import Operation, Prefix
from pgstream.sql.walk import bare

Resolve = Callable[[exp.Expr], Expression | None]

BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%",
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.And: "and", exp.Or: "or", exp.DPipe: "||",
    exp.NullSafeNEQ: "is distinct from", exp.NullSafeEQ: "is not distinct from",
}  # fmt: skip
NULL_SAFE = (exp.NullSafeNEQ, exp.NullSafeEQ)
UNARY: dict[type[exp.Expr], str] = {
    exp.Not: "not", exp.Neg: "negate", exp.Abs: "abs", exp.Length: "length",
}  # fmt: skip
VARIADIC: dict[type[exp.Expr], str] = {
    exp.Greatest: "greatest", exp.Least: "least",
}  # fmt: skip


class Converter:
    """Converts the expressions of one SELECT.

    `resolve` answers for nodes that are columns of the input (or grouping expressions and
    aggregate calls above a GROUP BY).
    """

    def __init__(self, catalog: Catalog, resolve: Resolve) -> None:
        self.catalog = catalog
        self.resolve = resolve

    def convert(self, node: exp.Expr) -> Expression:
        found = self.resolve(node)
        if found is not None:
            return found
        if isinstance(node, exp.Paren):
            return self.convert(node.this)
        if _is_constant(node):
            return self.constant(node)
        try:
            found = self.known(node)
        except UnsupportedType:  # ROW(a, b) = ROW(c, d): a row has no type of its own
            found = None
        return found or self.native(node)

    def typed(self, expression: Call | Native) -> Expression:
        """The expression with the type, and the collation, that PostgreSQL gives it."""
        columns = {part.index: part.type for part in walk(expression) if isinstance(part, Ref)}
        text = to_postgres(expression, lambda i: f"s.c{i}")
        type_ = self.catalog.type_of(text, {i: columns[i] for i in refs(expression)})
        inputs = [part.type for part in walk(expression) if isinstance(part, Ref)]
        collations = {t.collation for t in inputs if t.is_text}
        if type_.is_text and collations and "COLLATE" not in text:
            own = {t.collate for t in inputs if t.collate}
            collate = own.pop() if len(own) == 1 else ""
            type_ = replace(type_, collation=max(collations), collate=collate)
        return replace(expression, type=type_)

    def call(self, function: str, *nodes: exp.Expr) -> Expression:
        return self.typed(Call(function, tuple(map(self.convert, nodes)), BOOLEAN))

    def known(self, node: exp.Expr) -> Expression | None:
        kind = type(node)
        if kind in BINARY:
            return self.binary(node)
        if kind in UNARY:
            return self.call(UNARY[kind], node.this)
        if kind in VARIADIC:
            return self.call(VARIADIC[kind], node.this, *node.expressions)
        match node:
            case exp.Is():
                return self.test(node)
            case exp.Cast():
                return self.cast(node)
            case exp.Case():
                return self.case(node)
            case exp.Coalesce():
                return self.coalesce(node)
            case exp.Nullif():
                return self.call("nullif", node.this, node.expression)
            case Prefix() if node.args["operator"] == "@":
                return self.call("abs", node.this)
            case exp.SplitPart():
                return self.call(
                    "split_part", node.this, node.args["delimiter"], node.args["part_index"]
                )
        return None

    def binary(self, node: exp.Expr) -> Expression | None:
        right = node.args["expression"]
        if isinstance(node, exp.EQ) and isinstance(right, exp.Any):
            return self.membership(node.this, right.this)
        if isinstance(node, exp.NEQ) and isinstance(right, exp.All):
            found = self.membership(node.this, right.this)
            return Call("not", (found,), BOOLEAN) if found else None
        if isinstance(right, exp.Any | exp.All):
            return None
        if isinstance(node, NULL_SAFE) and isinstance(right, exp.Null):  # so is a test of a row
            value = self.convert(node.this)
            return Call(BINARY[type(node)], (value, Literal(None, value.type)), BOOLEAN)
        return self.call(BINARY[type(node)], node.this, right)

    def membership(self, value: exp.Expr, values: exp.Expr) -> Expression | None:
        listed = _elements(values)
        return None if listed is None else self.call("in", value, *listed)

    def test(self, node: exp.Expr) -> Expression:
        target = node.args["expression"]
        if isinstance(target, exp.Boolean):
            word = "true" if target.this else "false"
        elif isinstance(target, exp.Null | exp.Var):  # IS UNKNOWN, of a boolean
            word = "null"
        else:
            return self.native(node)
        name = f"is not {word}" if node.args.get("negate") else f"is {word}"
        return Call(name, (self.convert(node.this),), BOOLEAN)

    def cast(self, node: exp.Expr) -> Expression:
        shape = self.native(node)
        if isinstance(node.this, exp.Array) and not node.this.expressions:
            return shape  # ARRAY[] has no type of its own
        try:
            inner = self.convert(node.this)
        except UnsupportedType:  # neither has ROW(a, b)
            return shape
        return Call("cast", (inner,), shape.type)

    def case(self, node: exp.Expr) -> Expression:
        parts: list[Expression] = []
        subject = node.args.get("this")
        for branch in node.args["ifs"]:
            when = branch.this
            parts.append(self.convert(exp.EQ(this=subject, expression=when) if subject else when))
            parts.append(self.convert(branch.args["true"]))
        default = node.args.get("default")
        shape = Call("case", (*parts, Literal(None, parts[1].type)), BOOLEAN)
        last = self.convert(default) if default else Literal(None, self.typed(shape).type)
        return self.typed(Call("case", (*parts, last), BOOLEAN))

    def coalesce(self, node: exp.Expr) -> Expression:
        """A string without a type is a rewrite's, and of the first value's type."""
        first = self.convert(node.this)
        rest = [Literal(value.name, first.type) if value.is_string else self.convert(value)
                for value in node.expressions]  # fmt: skip
        return self.typed(Call("coalesce", (first, *rest), BOOLEAN))

    def constant(self, node: exp.Expr) -> Literal:
        text, type_ = self.catalog.constant(write(node))
        return Literal(text, type_)

    def native(self, node: exp.Expr) -> Expression:
        """PostgreSQL's text of the node, with a slot for every column of the input in it."""
        slots: list[Expression] = []

        def slot(part: exp.Expr) -> exp.Expr:
            found = self.resolve(part)
            if found is None:
                return part
            is_row = isinstance(part.parent, exp.Dot)  # (r).a is a field, r.a a column
            slots.append(found)
            column = exp.column(f"__pgs_slot_{len(slots) - 1}_")
            return exp.Paren(this=column) if is_row else column

        text = write(node.copy().transform(slot))
        pieces: list[str] = []
        ordered: list[Expression] = []
        rest = text
        while "__pgs_slot_" in rest:
            before, _, tail = rest.partition("__pgs_slot_")
            number, _, rest = tail.partition("_")
            pieces.append(before)
            ordered.append(slots[int(number)])
        label = node.sql_name().lower() if isinstance(node, exp.Func) else node.key
        if isinstance(node, exp.Anonymous):
            label = node.name.lower()
        elif isinstance(node, Operation | Prefix):
            label = node.args["operator"]
        return self.typed(Native((*pieces, rest), tuple(ordered), BOOLEAN, label))


def _elements(node: exp.Expr) -> list[exp.Expr] | None:
    """What an array is made of: a cast of the array is one of each element."""
    node = bare(node)
    if isinstance(node, exp.Cast) and node.to.is_type(exp.DataType.Type.ARRAY):
        inner = _elements(node.this)
        (element,) = node.to.expressions or (None,)
        if inner is None or element is None:
            return None
        return [exp.Cast(this=part.copy(), to=element.copy()) for part in inner]
    return list(node.expressions) if isinstance(node, exp.Array) and node.expressions else None


def _is_constant(node: exp.Expr) -> bool:
    """A literal, NULL or boolean, also under a sign, parentheses and casts."""
    while isinstance(node, exp.Paren | exp.Cast | exp.Neg):
        node = node.this
    return isinstance(node, exp.Literal | exp.Null | exp.Boolean)
