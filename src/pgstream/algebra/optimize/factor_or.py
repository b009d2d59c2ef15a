"""factor_or: what all branches of an OR require is required once, before it.

    (p ∧ a) ∨ (p ∧ b) = p ∧ (a ∨ b)        (p ∧ a) ∨ p = p

True in three-valued logic, too. An equality of two tables that stands in each branch so becomes
the key of their join. p is computed first then, so it must not fail where a or b would have kept
it from being computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pgstream.algebra.expressions import Call, Expression, conjunction, conjuncts
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.optimize.everywhere import everywhere
from pgstream.algebra.optimize.safe import cannot_fail
from pgstream.algebra.types import BOOLEAN


def factor_or(tree: Node) -> Node:
    return everywhere(tree, _factored_node)


def _factored_node(node: Node) -> Node:
    if isinstance(node, Filter):
        return replace(node, predicate=_required(node.predicate))
    if isinstance(node, Pairing) and node.condition is not None:
        return replace(node, condition=_required(node.condition))
    return node


def _required(condition: Expression) -> Expression:
    """The condition, which must be true, with its ORs factored."""
    parts = [each for part in conjuncts(condition) for each in factored(part)]
    made = conjunction(list(dict.fromkeys(parts)))
    return condition if made is None or parts == list(conjuncts(condition)) else made


def factored(part: Expression) -> list[Expression]:
    """Conjuncts that together are the part."""
    branches = [list(conjuncts(branch)) for branch in disjuncts(part)]
    common = [each for each in dict.fromkeys(branches[0])
              if cannot_fail(each) and all(each in branch for branch in branches)]  # fmt: skip
    if len(branches) < 2 or not common:
        return [part]
    rests = [conjunction([each for each in branch if each not in common]) for branch in branches]
    left = [rest for rest in rests if rest is not None]
    if len(left) < len(rests):  # a branch requires nothing else
        return common
    return [*common, Call("or", tuple(left), BOOLEAN)]


def disjuncts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call) and expression.function == "or":
        for argument in expression.arguments:
            yield from disjuncts(argument)
    else:
        yield expression
