"""everywhere: a change of single nodes, applied to all of a tree from its leaves up."""

from __future__ import annotations

from collections.abc import Callable

from pgstream.algebra.operators.node import Node


def everywhere(tree: Node, change: Callable[[Node], Node]) -> Node:
    """The tree in which each node, its inputs changed before, is what `change` makes of it.
    A part that occurs in several places is changed once, and stays one."""
    done: dict[Node, Node] = {}

    def visit(node: Node) -> Node:
        if node not in done:
            inputs = tuple(map(visit, node.inputs))
            done[node] = change(node if inputs == node.inputs else node.with_inputs(*inputs))
        return done[node]

    return visit(tree)
