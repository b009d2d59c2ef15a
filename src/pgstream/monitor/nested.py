"""Nested state: operators inside a query whose touched keys are read again."""

from __future__ import annotations

from collections.abc import Iterator

from pgstream.algebra.calculus.differentiate import Differential
from pgstream.algebra.calculus.restrict import restrict
from pgstream.algebra.operators.node import Keys, Node
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.scan import Lookup, Stored
from pgstream.algebra.plan import Plan


def nested_state(plan: Plan) -> Iterator[str]:
    """Each such operator, and what it reads for a changed key."""
    stored = plan.accumulated.aggregate if plan.accumulated else None
    for node in plan.tree.walk():
        if node is not stored and node.read_again:
            reads = dict.fromkeys(read for side in node.read_again for read in _reads(*side))
            listed = ", ".join(reads) or "nothing"
            yield f"{node.describe()}: for a changed key{_of_side(node)} reads {listed}"


def _of_side(node: Node) -> str:
    """Of which input a change is read again for, where it is not all."""
    return " of its right side" if len(node.inputs) > 1 and not node.needs_positive[0] else ""


def _reads(tree: Node, keys: tuple[int, ...]) -> Iterator[str]:
    state = Differential({}).after(tree)
    if keys:
        columns = tuple(tree.columns[i] for i in keys)
        changed = Parameter("changed keys", columns)
        state = restrict(state, keys, Keys(changed, tuple(range(len(keys)))))
    for part in state.walk():
        if isinstance(part, Lookup):
            by = ", ".join(part.stored.columns[i].name for i in part.indexes)
            yield f"{part.stored.scan.source} by {by}"
        elif isinstance(part, Stored):
            yield f"all of {part.scan.source}"
