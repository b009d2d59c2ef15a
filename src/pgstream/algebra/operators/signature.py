"""signature: a whole tree in words."""

from __future__ import annotations

from pgstream.algebra.operators.node import Node


def signature(tree: Node) -> str:
    """Each node once: equal for trees that compute the same."""
    numbers = {node: i for i, node in enumerate(tree.walk())}
    return "\n".join(
        f"{node.describe()}: {', '.join(c.type.declared for c in node.columns)}"
        f" of {[numbers[part] for part in node.parts]}"
        for node in numbers
    )
