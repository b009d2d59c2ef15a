"""linear: whether the recursive term of a CTE treats each of its rows by itself."""

from __future__ import annotations

from pgstream.algebra.calculus.recursion import Recursion, is_working
from pgstream.algebra.operators.node import Node
from pgstream.errors import UnsupportedConstruct


def require_linear(recursion: Recursion) -> None:
    """The step treats each row of the CTE by itself, or no change of it would be a sum."""
    node = recursion.step
    if _uses(node) != 1:
        raise not_linear(recursion.name, "is read by a subquery of its recursive term")
    while not is_working(node):
        below = next(i for i in node.inputs if any(map(is_working, i.walk())))
        reason = node.nonlinear_in(below)
        if reason is not None:
            raise not_linear(recursion.name, f"is below {reason} in its recursive term")
        node = below


def _uses(node: Node) -> int:
    return 1 if is_working(node) else sum(map(_uses, node.inputs))


def not_linear(name: str, what: str) -> UnsupportedConstruct:
    return UnsupportedConstruct(
        f"The recursive CTE {name} {what}.",
        construct="RECURSIVE",
        detail="A change of such a recursion is not the sum of changes of its rows.",
        hint="Join the CTE by equality in the recursive term, and do the rest in the query "
        "around it.",
    )
