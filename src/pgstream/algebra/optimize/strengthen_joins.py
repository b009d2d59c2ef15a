"""strengthen_joins: an outer join whose padded rows are all dropped above is an inner one.

    σp(A ⟕ B) = σp(A ⋈ B)            p is never true where a column of B is NULL
    σp(A ⟗ B) = σp(A ⟕ B)            p is never true where a column of A is NULL

The same where a key of an inner join above is a column that padding makes NULL. Going down the
tree, `wanted` are the columns in which only values are wanted: rows with a NULL there are dropped
above.
"""

from __future__ import annotations

from collections.abc import Iterable

from pgstream.algebra.expressions import Call, Expression, Ref, conjuncts, transform
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join, Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.placement.spark_list import spark_refusal

Wanted = frozenset[int]
NOTHING: Wanted = frozenset()
STRICT = frozenset(
    ("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "negate", "abs", "not", "length",
     "cast")
)  # fmt: skip


def strengthen_joins(tree: Node) -> Node:
    return _Strengthening().of(tree, NOTHING)


class _Strengthening:
    """Each part of the tree is rewritten once for what is wanted of it."""

    def __init__(self) -> None:
        self._done: dict[tuple[Node, Wanted], Node] = {}

    def of(self, node: Node, wanted: Wanted) -> Node:
        if (node, wanted) not in self._done:
            self._done[node, wanted] = self._made(node, wanted)
        return self._done[node, wanted]

    def _made(self, node: Node, wanted: Wanted) -> Node:
        match node:
            case Filter(inner, predicate):
                return node.with_inputs(self.of(inner, wanted | never_null(predicate)))
            case Weigh(inner):
                return node.with_inputs(self.of(inner, wanted))
            case UnionAll(terms):
                return node.with_inputs(*(self.of(term, wanted) for term in terms))
            case Project(inner, expressions):
                taken = (expressions[i] for i in wanted)
                return node.with_inputs(self.of(inner, _columns(taken)))
            case Aggregate(inner, keys):
                below = frozenset(keys[i] for i in wanted if i < len(keys))
                return node.with_inputs(self.of(inner, below))
            case OuterJoin():
                return self._outer(node, wanted)
            case Join():
                return self._sides(node, wanted | required(node))
            case SemiJoin():
                return self._semi(node, wanted)
        inputs = [self.of(each, NOTHING) for each in node.inputs]
        return node.with_inputs(*inputs) if inputs else node

    def _outer(self, node: OuterJoin, wanted: Wanted) -> Node:
        width = len(node.left.columns)
        no_padded_right = any(i >= width for i in wanted)
        no_padded_left = not node.keeps_right or any(i < width for i in wanted)
        if no_padded_left and no_padded_right:
            inner = Join(node.left, node.right, node.on, node.condition, node.nulls_match)
            return self.of(inner, wanted)
        if no_padded_right:
            return self.of(_exchanged(node), wanted)
        if no_padded_left and node.keeps_right:
            left = OuterJoin(node.left, node.right, node.on, node.condition, node.nulls_match)
            return self.of(left, wanted)
        if node.keeps_right:
            return self._sides(node, NOTHING)
        # A row of the right side that cannot match is not seen at all.
        return self._sides(node, wanted | {i for i in required(node) if i >= width})

    def _semi(self, node: SemiJoin, wanted: Wanted) -> Node:
        """Of the right side only partners matter; without one, a row of an anti-join is kept."""
        width = len(node.left.columns)
        needed = required(node)
        kept = {i for i in needed if i >= width or not node.anti}
        return self._sides(node, wanted | kept)

    def _sides(self, node: Pairing, wanted: Wanted) -> Node:
        width = len(node.left.columns)
        left = frozenset(i for i in wanted if i < width)
        right = frozenset(i - width for i in wanted if i >= width)
        return node.with_inputs(self.of(node.left, left), self.of(node.right, right))


def required(node: Pairing) -> Wanted:
    """The columns of which a match needs values."""
    width = len(node.left.columns)
    keys = {column for a, b in node.on for column in (a, width + b)}
    condition = never_null(node.condition) if node.condition is not None else NOTHING
    return condition if node.nulls_match else condition | keys


def _exchanged(node: OuterJoin) -> Node:
    """A FULL join of which only rows of the right side are wanted is B ⟕ A."""
    first, second = len(node.left.columns), len(node.right.columns)

    def exchange(ref: Ref) -> Ref:
        moved = ref.index + second if ref.index < first else ref.index - first
        return Ref(moved, ref.type)

    on = tuple((b, a) for a, b in node.on)
    condition = transform(node.condition, exchange) if node.condition is not None else None
    joined = OuterJoin(node.right, node.left, on, condition, node.nulls_match)
    return pick(joined, (*range(second, second + first), *range(second)))


def _columns(expressions: Iterable[Expression]) -> Wanted:
    """The columns that must have values for these to have values."""
    known = (e for e in expressions if spark_refusal(e) is None)
    return frozenset().union(*map(null_by, known))


# --- conditions ---------------------------------------------------------------------------------


def never_null(condition: Expression) -> Wanted:
    """The columns that are not NULL where the condition is true."""
    known = (part for part in conjuncts(condition) if spark_refusal(part) is None)
    return frozenset().union(*map(untrue_by, known))


def untrue_by(expression: Expression) -> Wanted:
    """The columns each of which, if it is NULL, keeps the expression from being true."""
    if not isinstance(expression, Call):
        return null_by(expression)
    parts = expression.arguments
    match expression.function:
        case "and":
            return frozenset().union(*map(untrue_by, parts))
        case "or":
            return frozenset.intersection(*map(untrue_by, parts))
        case "is true":
            return untrue_by(parts[0])
        case "is false" | "is not null" | "is not unknown":
            return null_by(parts[0])
    return null_by(expression)


def null_by(expression: Expression) -> Wanted:
    """The columns each of which, if it is NULL, makes the expression NULL."""
    if isinstance(expression, Ref):
        return frozenset((expression.index,))
    if not isinstance(expression, Call):
        return NOTHING
    parts = [null_by(part) for part in expression.arguments]
    if expression.function in STRICT:
        return frozenset().union(*parts)
    if expression.function == "in":
        return parts[0]
    if expression.function in ("and", "or", "coalesce"):
        return frozenset.intersection(*parts)
    return NOTHING
