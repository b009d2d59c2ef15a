"""Lowers DISTINCT and the set operations, all by counting.

    DISTINCT A        γ(A) by all columns
    A UNION B         γ(A + B) by all columns
    A INTERSECT B     rows with count in A > 0 and count in B > 0
    A EXCEPT B        rows with count in A > 0 and count in B = 0
    … ALL             the row as often as least(a, b), or as greatest(a − b, 0), says

Where such a query is the last step, its counts are stored and nothing is read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.functions import can_be_key
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.types import BIGINT, BOOLEAN, Type
from pgstream.errors import UnsupportedType

if TYPE_CHECKING:
    from pgstream.algebra.lower import Lowering

ZERO = Literal("0", BIGINT)
PRESENT = Literal("t", BOOLEAN)
ABSENT = Literal(None, BOOLEAN)


def set_operation(node: exp.SetOperation, lowering: Lowering) -> Node:
    left, right = _same_types(
        lowering, lowering.query(node.this), lowering.query(node.args["expression"])
    )
    distinct_rows = bool(node.args.get("distinct"))
    if isinstance(node, exp.Union):
        union = UnionAll((*_terms(left), *_terms(right)))
        return distinct(union) if distinct_rows else union
    return _counted(left, right, isinstance(node, exp.Except), distinct_rows)


def distinct(tree: Node) -> Node:
    every = tuple(range(len(tree.columns)))
    _require_keys(tree)
    return pick(Aggregate(tree, every, ()), every)


def _counted(left: Node, right: Node, is_except: bool, distinct_rows: bool) -> Node:
    _require_keys(left)
    width = len(left.columns)
    marked = UnionAll((_marked(left, PRESENT, ABSENT), _marked(right, ABSENT, PRESENT)))
    calls = tuple(AggregateCall("count", width + side, BIGINT) for side in (0, 1))
    counts = Aggregate(marked, tuple(range(width)), calls)
    ours, theirs = Ref(width, BIGINT), Ref(width + 1, BIGINT)
    tree: Node
    if distinct_rows:
        here = Call(">", (ours, ZERO), BOOLEAN)
        there = Call("=" if is_except else ">", (theirs, ZERO), BOOLEAN)
        tree = Filter(counts, Call("and", (here, there), BOOLEAN))
    elif is_except:
        rest = Call("-", (ours, theirs), BIGINT)
        tree = Weigh(counts, Call("greatest", (rest, ZERO), BIGINT))
    else:
        tree = Weigh(counts, Call("least", (ours, theirs), BIGINT))
    return pick(tree, tuple(range(width)))


def _marked(tree: Node, *marks: Literal) -> Project:
    columns = tree.columns
    refs: tuple[Expression, ...] = tuple(Ref(i, c.type) for i, c in enumerate(columns))
    return Project(tree, refs + marks, (*(c.name for c in columns), "in_left", "in_right"))


def _terms(tree: Node) -> tuple[Node, ...]:
    return tree.terms if isinstance(tree, UnionAll) else (tree,)


def _require_keys(tree: Node) -> None:
    for column in tree.columns:
        if not can_be_key(column.type):
            raise UnsupportedType(
                f"Rows with a column of type {column.type} cannot be compared as a whole.",
                hint=f"Leave the column {column.name} out, or cast it.",
            )


def _same_types(lowering: Lowering, left: Node, right: Node) -> tuple[Node, Node]:
    """Both sides with the column types that PostgreSQL gives the operation."""
    types = [
        a.type
        if a.type == b.type
        else lowering.catalog.type_of("COALESCE(s.c0, s.c1)", {0: a.type, 1: b.type})
        for a, b in zip(left.columns, right.columns, strict=True)
    ]
    return _cast(lowering, left, types), _cast(lowering, right, types)


def _cast(lowering: Lowering, tree: Node, types: list[Type]) -> Node:
    columns = tree.columns
    if all(c.type.name == t.name for c, t in zip(columns, types, strict=True)):
        return tree
    expressions: list[Expression] = []
    for i, (column, type_) in enumerate(zip(columns, types, strict=True)):
        ref = Ref(i, column.type)
        same = column.type.name == type_.name
        expressions.append(ref if same else Call("cast", (ref,), type_))
        lowering.require_spark(expressions[-1], None, None)
    return Project(tree, tuple(expressions), tuple(column.name for column in columns))
