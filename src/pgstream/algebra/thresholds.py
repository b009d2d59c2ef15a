"""thresholds: a join with a hidden table of which only a comparison is wanted is a semi-join.

    π_A(A ⋈ H on k, x > f(h))   =   A ⋉ H' on k, x > t,   H' = H with t = f(h)

H has one row for a key at most, so that each row of A is there once or not at all. PostgreSQL
computes t while it reads the hidden table. Then a change of H reads only the rows of A that are
between the old threshold and the new one.
"""

from __future__ import annotations

from dataclasses import replace

from pgstream.algebra.calculus.recursion import STATE_SCHEMA
from pgstream.algebra.expressions import (
    Call,
    Expression,
    Literal,
    Ref,
    refs,
    to_postgres,
    transform,
)
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Field, Scan
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.threshold import COMPARISONS, in_one_order, ordered_column

ARITHMETIC = ("+", "-", "*", "cast")
"""Of numbers these fail for no value that occurs."""


def with_thresholds(tree: Node) -> Node:
    """The same tree, such joins replaced."""
    return _rewritten(tree, frozenset(range(len(tree.columns))))


def _rewritten(node: Node, used: frozenset[int]) -> Node:
    """`used` are the columns that something above reads."""
    if isinstance(node, Join):
        node = _semi_join(node, used) or node
    inputs = [_rewritten(part, _used_of(node, n, used)) for n, part in enumerate(node.inputs)]
    return node.with_inputs(*inputs) if inputs else node


def _used_of(node: Node, number: int, used: frozenset[int]) -> frozenset[int]:
    """Which columns of an input the node reads, given which of its own are read."""
    if isinstance(node, Project):
        return frozenset(i for column in used for i in refs(node.expressions[column]))
    if isinstance(node, Join | SemiJoin):
        sides: list[set[int]] = [set(node.left_keys), set(node.right_keys)]
        for index in (*used, *(refs(node.condition) if node.condition else ())):
            origin = node.beside(index)
            sides[origin.input].add(origin.column)
        return frozenset(sides[number])
    return frozenset(range(len(node.inputs[number].columns)))


def _semi_join(node: Join, used: frozenset[int]) -> Node | None:
    """For a hidden table on either side."""
    width = len(node.left.columns)
    if all(i < width for i in used):
        return _compared(node)
    if all(i >= width for i in used):
        back = _compared(_exchanged(node))
        other = len(node.right.columns)
        order = (*range(other, other + width), *range(other))
        return back and pick(back, order)
    return None


def _compared(node: Join) -> Node | None:
    """The semi-join, and NULLs in the place of the hidden table's columns, which nobody reads."""
    found = _hidden(node.right)
    made = found and _with_threshold(node, *found)
    if made is None:
        return None
    kept: list[Expression] = [Ref(i, c.type) for i, c in enumerate(node.left.columns)]
    nulls = [Literal(None, column.type) for column in node.right.columns]
    return Project(made, (*kept, *nulls), tuple(column.name for column in node.columns))


def _hidden(node: Node) -> tuple[Scan, tuple[Expression, ...]] | None:
    """The scan of a hidden table, and what the node shows of it."""
    if isinstance(node, Project):
        found = _hidden(node.input)
        return found and (found[0], tuple(_over(e, found[1]) for e in node.expressions))
    if isinstance(node, Scan) and node.source.schema == STATE_SCHEMA:
        return node, tuple(Ref(i, c.type) for i, c in enumerate(node.columns))
    return None


def _over(expression: Expression, shown: tuple[Expression, ...]) -> Expression:
    return transform(expression, lambda ref: shown[ref.index])


def _with_threshold(node: Join, scan: Scan, shown: tuple[Expression, ...]) -> SemiJoin | None:
    """The semi-join with the threshold as a column of the hidden table, if it has one row for a
    key, and if the condition is such a comparison."""
    condition, width = node.condition, len(node.left.columns)
    keys = [shown[right] for right in node.right_keys]
    indexes = [key.index for key in keys if isinstance(key, Ref)]
    groups = {i for i, field in enumerate(scan.fields) if field.name == f"k{i}"}
    if len(indexes) < len(keys) or not groups <= set(indexes) or not _is_comparison(condition):
        return None
    assert isinstance(condition, Call)
    sides = list(condition.arguments)
    number = 0 if refs(sides[0]) and min(refs(sides[0])) >= width else 1
    column, value = sides[1 - number], sides[number]
    index = ordered_column(column)
    if index is None or index >= width or not _is_of_right(value, width):
        return None
    value = transform(value, lambda ref: shown[ref.index - width])
    if not in_one_order(column.type, value.type) or not _is_safe(value):
        return None
    right, found = _computing(scan, value)
    sides[number] = Ref(width + found, value.type)
    pairs = tuple(zip(node.left_keys, indexes, strict=True))
    compared = replace(condition, arguments=tuple(sides))
    return SemiJoin(node.left, right, pairs, compared, node.nulls_match)


def _computing(scan: Scan, value: Expression) -> tuple[Scan, int]:
    """The scan with a field for the value, and its index."""
    if isinstance(value, Ref):
        return scan, value.index
    text = to_postgres(value, lambda i: f"({scan.fields[i].sql or scan.fields[i].name})")
    field = Field(f"({text})", value.type, text)
    return Scan(scan.source, (*scan.fields, field)), len(scan.fields)


def _is_comparison(condition: Expression | None) -> bool:
    return isinstance(condition, Call) and condition.function in COMPARISONS


def _is_of_right(value: Expression, width: int) -> bool:
    return bool(refs(value)) and min(refs(value)) >= width


def _is_safe(value: Expression) -> bool:
    """Whether PostgreSQL may compute it for any group."""
    if isinstance(value, Call):
        known = value.function in ARITHMETIC and value.type.is_number
        return known and all(map(_is_safe, value.arguments))
    return isinstance(value, Ref | Literal)


def _exchanged(node: Join) -> Join:
    width, other = len(node.left.columns), len(node.right.columns)

    def moved(ref: Ref) -> Ref:
        return replace(ref, index=ref.index + other if ref.index < width else ref.index - width)

    condition = node.condition and transform(node.condition, moved)
    pairs = tuple((right, left) for left, right in node.on)
    return Join(node.right, node.left, pairs, condition, node.nulls_match)
