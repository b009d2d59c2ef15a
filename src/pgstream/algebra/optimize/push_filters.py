"""push_filters: each condition goes as far down as it is still about the same rows.

    σp(π(A))     = π(σp'(A))             p reads columns that π takes over as they are
    σp(A ⋈ B)    = σp(A) ⋈ B             p reads A only; an equality of A and B becomes a key
    σp(A ⟕ B)    = σp(A) ⟕ B             p reads A only; the same for semi-joins
    σp(A + B)    = σp(A) + σp(B)
    σp(γ(A))     = γ(σp(A))              p reads grouping columns only; the same for windows and
                                         their partitions
    σp(σq(A))    = σ(p ∧ q)(A)
    σp(A ⋈c B)   = A ⋈(c ∧ p) B          p is computed by Spark

Further down go only conditions that cannot fail, and that Spark computes (`safe`). A Shared
relation stays as it is, because others read it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile

from pgstream.algebra.expressions import Expression, Ref, conjunction, conjuncts, refs, transform
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join, key_pair
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window
from pgstream.algebra.optimize.everywhere import everywhere
from pgstream.algebra.optimize.safe import is_movable
from pgstream.algebra.placement.spark_list import spark_refusal

Conditions = Sequence[Expression]


def push_filters(tree: Node) -> Node:
    return everywhere(tree, _pushed)


def _pushed(node: Node) -> Node:
    if isinstance(node, Filter):
        moving, staying = _divided(node.predicate)
        return _into_join(_sunk(node.input, moving), staying)
    if isinstance(node, Join) and node.condition is not None:
        parts = list(dict.fromkeys(conjuncts(node.condition)))
        moving = [part for part in parts if is_movable(part) and _leaves(part, node)]
        staying = [part for part in parts if part not in moving]
        return _sunk(replace(node, condition=conjunction(staying)), moving)
    return node


def _leaves(part: Expression, node: Join) -> bool:
    """Whether the part need not stay in the join's condition. What stays keeps its order: a part
    may keep those after it from failing."""
    width, used = len(node.left.columns), refs(part)
    one_sided = max(used) < width or min(used) >= width
    is_key = not node.nulls_match and key_pair(part, width, spark_refusal) is not None
    return one_sided or is_key


def _into_join(tree: Node, conditions: Conditions) -> Node:
    """What cannot move is computed for the same pairs of rows in the condition of a join, where
    Spark computes it. The conditions keep their order, also with those that Spark does not."""
    computed = list(takewhile(lambda part: spark_refusal(part) is None, conditions))
    if not computed or not isinstance(tree, Join):
        return _filter(tree, conditions)
    known = list(conjuncts(tree.condition)) if tree.condition is not None else []
    joined = replace(tree, condition=conjunction([*known, *computed]))
    return _filter(joined, conditions[len(computed) :])


def _divided(condition: Expression) -> tuple[list[Expression], list[Expression]]:
    """The conjuncts that may move, and the others; each once."""
    parts = list(dict.fromkeys(conjuncts(condition)))
    moving = [part for part in parts if is_movable(part)]
    return moving, [part for part in parts if part not in moving]


def _filter(tree: Node, conditions: Conditions) -> Node:
    """σ(tree): conditions on one relation stand in one Filter, those from below first."""
    if not conditions:
        return tree
    if isinstance(tree, Filter):
        known = list(conjuncts(tree.predicate))
        conditions = [*known, *(part for part in conditions if part not in known)]
        tree = tree.input
    predicate = conjunction(conditions)
    assert predicate is not None
    return Filter(tree, predicate)


def _sunk(node: Node, conditions: Conditions) -> Node:
    """The rows for which all conditions are true; all of them can move."""
    if not conditions:
        return node
    match node:
        case Filter(inner, predicate):
            return _filter(_sunk(inner, conditions), list(conjuncts(predicate)))
        case Weigh(inner):
            return node.with_inputs(_sunk(inner, conditions))
        case Join() | OuterJoin() | SemiJoin():
            return node.push_down(conditions, _sunk, spark_refusal) or node
        case UnionAll(terms):
            return UnionAll(tuple(_sunk(term, _over(term, conditions)) for term in terms))
        case Project(_, expressions):
            return _through(node, conditions, lambda i: _taken_over(expressions[i]))
        case Aggregate(_, keys) if keys:
            return _through(node, conditions, lambda i: _column(node, keys, i))
        case Window(_, keys):
            return _through(node, conditions, lambda i: _column(node, keys, i))
        case ByPostgres():
            return _through(node, conditions, lambda i: _handed_over(node, i))
    return _filter(node, conditions)


def _through(node: Node, conditions: Conditions, below: Callable[[int], Expression | None]) -> Node:
    """Conditions that read only what the input has go below, the others stay above. `below` tells
    what a column is there."""
    moved: list[Expression] = []
    left: list[Expression] = []
    for part in conditions:
        found = {i: below(i) for i in refs(part)}
        if any(value is None for value in found.values()):
            left.append(part)
        else:
            moved.append(transform(part, lambda ref, found=found: found[ref.index]))  # type: ignore[misc]
    (inner,) = node.inputs
    return _filter(node.with_inputs(_sunk(inner, moved)), left)


def _taken_over(expression: Expression) -> Expression | None:
    return expression if isinstance(expression, Ref) else None


def _column(node: Node, keys: tuple[int, ...], index: int) -> Expression | None:
    """The column of the input that a column is, if it is one of the keys."""
    (origin,) = node.origins_of(index) or (None,)
    if origin is None or origin.column not in keys:
        return None
    return Ref(origin.column, node.inputs[0].columns[origin.column].type)


def _handed_over(node: ByPostgres, index: int) -> Expression | None:
    column = node.origins[index]
    if column is None or (node.keys is not None and column not in node.keys):
        return None
    return Ref(column, node.input.columns[column].type)


def _over(term: Node, conditions: Conditions) -> list[Expression]:
    """The conditions over the term's own columns."""
    columns = term.columns
    return [transform(part, lambda ref: Ref(ref.index, columns[ref.index].type))
            for part in conditions]  # fmt: skip
