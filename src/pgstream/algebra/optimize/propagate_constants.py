"""propagate_constants: what equals a column that is a constant is that constant.

    σ(x = c)(A) ⋈ B on x = y   =   σ(x = c)(A) ⋈ σ(y = c)(B) on x = y

The same for the right side of LEFT and of semi-joins, of which only partners count, and for the
left side of a semi-join, whose rows need a partner. Both columns have one type, so the new
condition compares as the known one does.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgstream.algebra.expressions import Call, Expression, Literal, Ref, conjunction, conjuncts
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join, Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window
from pgstream.algebra.optimize.everywhere import everywhere
from pgstream.algebra.optimize.safe import is_movable
from pgstream.algebra.types import BOOLEAN

Constants = dict[int, Literal]
"""The columns that have one value, which is no NULL, in all rows."""


def propagate_constants(tree: Node) -> Node:
    return everywhere(tree, _narrowed)


def _narrowed(node: Node) -> Node:
    if not isinstance(node, Pairing):
        return node
    of_left, of_right = constants(node.left), constants(node.right)
    left: list[Expression] = []
    right: list[Expression] = []
    for a, b in node.on:
        if node.left.columns[a].type != node.right.columns[b].type:
            continue
        if a in of_left and b not in of_right and _only_partners_count(node, left_side=False):
            right.append(_is(node.right, b, of_left[a]))
        if b in of_right and a not in of_left and _only_partners_count(node, left_side=True):
            left.append(_is(node.left, a, of_right[b]))
    return node.with_inputs(_filtered(node.left, left), _filtered(node.right, right))


def _only_partners_count(node: Pairing, left_side: bool) -> bool:
    """Whether rows of the side that have no partner do not matter."""
    if isinstance(node, OuterJoin):
        return not node.keeps_right and not left_side
    if isinstance(node, SemiJoin):
        return not (node.anti and left_side)
    return True


def _is(node: Node, column: int, value: Literal) -> Expression:
    return Call("=", (Ref(column, node.columns[column].type), value), BOOLEAN)


def _filtered(node: Node, conditions: Sequence[Expression]) -> Node:
    predicate = conjunction([each for each in dict.fromkeys(conditions) if is_movable(each)])
    return node if predicate is None else Filter(node, predicate)


def constants(node: Node) -> Constants:
    match node:
        case Filter(inner, predicate):
            return constants(inner) | _required(predicate)
        case Project(inner, expressions):
            below = constants(inner)
            found = {i: _value(each, below) for i, each in enumerate(expressions)}
            return {i: value for i, value in found.items() if value is not None}
        case Shared(inner) | Weigh(inner) | Window(inner) | SemiJoin(inner):
            return constants(inner)
        case OuterJoin(inner, keeps_right=False):
            return constants(inner)
        case Aggregate(inner, keys):
            below = constants(inner)
            return {i: below[key] for i, key in enumerate(keys) if key in below}
        case Join():
            width = len(node.left.columns)
            right = {width + i: value for i, value in constants(node.right).items()}
            return constants(node.left) | right
        case UnionAll(terms):
            first, *others = map(constants, terms)
            return {
                i: value
                for i, value in first.items()
                if all(other.get(i) == value for other in others)
            }
    return {}


def _required(condition: Expression) -> Constants:
    """The columns that must equal a constant."""
    found: Constants = {}
    for part in conjuncts(condition):
        if isinstance(part, Call) and part.function == "=" and is_movable(part):
            first, second = part.arguments
            column, value = (second, first) if isinstance(first, Literal) else (first, second)
            if isinstance(column, Ref) and isinstance(value, Literal) and value.text is not None:
                found[column.index] = value
    return found


def _value(expression: Expression, below: Constants) -> Literal | None:
    if isinstance(expression, Ref):
        return below.get(expression.index)
    is_value = isinstance(expression, Literal) and expression.text is not None
    return expression if is_value else None  # type: ignore[return-value]
