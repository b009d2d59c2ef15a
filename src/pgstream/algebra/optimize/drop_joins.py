"""drop_joins: a join that adds neither rows nor columns is not needed.

    π(A ⟕ B) = π(A, NULL …)        π reads A only; a key of B is among the columns of the equality
    π(A × B) = π(A, NULL …)        π reads A only; B is always one row

A row of A has one partner at most, so it is there once, with it or without. The NULLs stand in the
place of columns that nothing reads; `prune_columns` takes them away.
"""

from __future__ import annotations

from pgstream.algebra.expressions import Expression, Literal, Ref
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.optimize.keys import Constraints, Facts, Key, keys_of
from pgstream.algebra.optimize.prune_columns import Needs


def drop_joins(tree: Node, known: Constraints) -> tuple[Node, Facts]:
    needs, used = Needs(tree), set[str]()
    done: dict[Node, Node] = {}

    def visit(node: Node) -> Node:
        if node not in done:
            key = _needless(node, needs, known)
            inputs = tuple(map(visit, node.inputs))
            made = node if inputs == node.inputs else node.with_inputs(*inputs)
            done[node] = made if key is None else _left_alone(made)
            used.update(key.facts if key else ())
        return done[node]

    return visit(tree), frozenset(used)


def _is_one_row(node: Node) -> bool:
    """Whether it has one row, whatever the tables hold. The groups of one row are one."""
    while isinstance(node, Project) or (isinstance(node, Aggregate) and node.keys):
        node = node.input
    return isinstance(node, OneRow) or (isinstance(node, Aggregate) and not node.keys)


def _needless(node: Node, needs: Needs, known: Constraints) -> Key | None:
    """The key of the right side by which it adds nothing; None if it may add something."""
    if not isinstance(node, Join | OuterJoin) or any(
        column >= len(node.left.columns) for column in needs.of(node)
    ):
        return None
    if isinstance(node, Join):
        is_free = not node.on and node.condition is None
        return Key(frozenset()) if is_free and _is_one_row(node.right) else None
    if node.keeps_right:
        return None
    found = keys_of(node.right, known)
    return next((key for key in found if key.columns <= set(node.right_keys)), None)


def _left_alone(node: Node) -> Project:
    left, right = node.inputs
    values: list[Expression] = [Ref(i, column.type) for i, column in enumerate(left.columns)]
    values += [Literal(None, column.type) for column in right.columns]
    return Project(left, tuple(values), tuple(column.name for column in node.columns))
