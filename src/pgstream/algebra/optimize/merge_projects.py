"""merge_projects: a Project of a Project is one, and one that changes nothing is none.

    πf(πg(A)) = π(f∘g)(A)            πid(A) = A

Only if each value that g computes is shown by f once, as it is: then nothing is computed twice,
nor by another than before. A GROUP BY in a subquery that nothing else is done with so becomes the
last step of the query, which is stored.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from pgstream.algebra.expressions import Expression, Ref, transform, walk
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.optimize.everywhere import everywhere


def merge_projects(tree: Node) -> Node:
    """The names of the tree's own columns stay."""
    made = everywhere(tree, _merged)
    if not isinstance(tree, Project):
        return made
    return replace(made, names=tree.names) if isinstance(made, Project) else tree.with_inputs(made)


def _merged(node: Node) -> Node:
    if not isinstance(node, Project):
        return node
    if _changes_nothing(node):
        return node.input
    inner = node.input
    if not isinstance(inner, Project) or not _can_merge(node, inner):
        return node
    return replace(node, input=inner.input, expressions=_composed(node, inner))


def _changes_nothing(node: Project) -> bool:
    columns = node.input.columns
    return node.expressions == tuple(Ref(i, column.type) for i, column in enumerate(columns))


def _can_merge(outer: Project, inner: Project) -> bool:
    computed = [not isinstance(value, Ref) for value in inner.expressions]
    shown = Counter(e.index for e in outer.expressions if isinstance(e, Ref))
    for expression in outer.expressions:
        for part in walk(expression):
            if not isinstance(part, Ref):
                continue
            if part.type != inner.expressions[part.index].type:
                return False
            if computed[part.index] and part is not expression:
                return False
    return all(times < 2 or not computed[i] for i, times in shown.items())


def _composed(outer: Project, inner: Project) -> tuple[Expression, ...]:
    return tuple(
        transform(expression, lambda ref: inner.expressions[ref.index])
        for expression in outer.expressions
    )
