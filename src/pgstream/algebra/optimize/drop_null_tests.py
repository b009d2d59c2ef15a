"""drop_null_tests: what is never NULL need not be asked whether it is.

    σ(x IS NOT NULL)(A) = A            γ count(x) = γ count(*)            x is never NULL in A
    x > x = false                      CASE WHEN p THEN c ELSE c END = c

NOT IN asks for NULLs on both sides. Where there can be none, it is an anti-join and nothing else.
A condition that falls away must not be one that fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.optimize.everywhere import everywhere
from pgstream.algebra.optimize.keys import Constraints, Facts
from pgstream.algebra.optimize.present import Present, present, value_of
from pgstream.algebra.optimize.safe import cannot_fail
from pgstream.algebra.types import BOOLEAN

TRUE, FALSE = Literal("t", BOOLEAN), Literal("f", BOOLEAN)


def drop_null_tests(tree: Node, known: Constraints) -> tuple[Node, Facts]:
    used: set[str] = set()

    def change(node: Node) -> Node:
        if isinstance(node, Filter | Project | Pairing):
            simplifying = _Simplifying(node, _beside(node, known), used)
            found = map(simplifying.of, node.held_expressions)
            return node.with_expressions(*found) if node.held_expressions else node
        if isinstance(node, Aggregate):
            return _counted(node, known, used)
        return node

    return everywhere(tree, change), frozenset(used)


def _beside(node: Node, known: Constraints) -> Present:
    """Of the inputs' columns side by side."""
    found: Present = {}
    width = 0
    for input in node.inputs:
        found |= {width + i: facts for i, facts in present(input, known).items()}
        width += len(input.columns)
    return found


def _counted(node: Aggregate, known: Constraints, used: set[str]) -> Node:
    """Counts of what is never NULL count rows; equal calls stand there once."""
    below = present(node.input, known) if any(map(_counts_values, node.calls)) else {}
    calls: list[AggregateCall] = []
    for call in node.calls:
        if _counts_values(call) and call.argument in below:
            used.update(below[call.argument])
            call = replace(call, argument=None)
        calls.append(call)
    distinct = list(dict.fromkeys(calls))
    made = replace(node, calls=tuple(distinct))
    if len(distinct) == len(calls):
        return made
    width = len(node.keys)
    places = (*range(width), *(width + distinct.index(call) for call in calls))
    return pick(made, places)


def _counts_values(call: AggregateCall) -> bool:
    return call.function == "count" and call.argument is not None


class _Simplifying:
    """Simplifies expressions over columns of which some are never NULL; notes what it used."""

    def __init__(self, node: Node, columns: Present, used: set[str]) -> None:
        self.node, self.columns, self.used = node, columns, used

    def of(self, expression: Expression) -> Expression:
        if isinstance(expression, Ref):
            return self._constant(expression)
        if not isinstance(expression, Call):
            return expression
        parts = tuple(map(self.of, expression.arguments))
        made = expression if parts == expression.arguments else replace(expression, arguments=parts)
        match made.function:
            case "is null" | "is not null":
                return self._null_test(made)
            case "<" | ">" | "<>":
                return self._of_itself(made)
            case "and" | "or":
                return _joined(made)
            case "not" if parts[0] in (TRUE, FALSE):
                return FALSE if parts[0] == TRUE else TRUE
            case "is true" if parts[0] in (TRUE, FALSE):
                return parts[0]
            case "case":
                return _chosen(made)
        return made

    def _constant(self, ref: Ref) -> Expression:
        """What is true or false in every row of an input is so here."""
        origin = self.node.beside(ref.index)
        input = self.node.inputs[origin.input]
        value = input.expressions[origin.column] if isinstance(input, Project) else None
        return value if value in (TRUE, FALSE) and value.type == ref.type else ref

    def _null_test(self, call: Call) -> Expression:
        (part,) = call.arguments
        facts = value_of(part, self.columns) if part.type.category != "C" else None
        if facts is None:
            return call
        self.used.update(facts)
        return TRUE if call.function == "is not null" else FALSE

    def _of_itself(self, call: Call) -> Expression:
        """x < x, where x has a value."""
        first, second = call.arguments
        facts = value_of(first, self.columns) if first == second else None
        if facts is None:
            return call
        self.used.update(facts)
        return FALSE


def _joined(call: Call) -> Expression:
    """AND and OR without what decides nothing."""
    neutral, decides = (TRUE, FALSE) if call.function == "and" else (FALSE, TRUE)
    parts = [part for part in call.arguments if part != neutral]
    if decides in parts and all(map(cannot_fail, parts)):
        return decides
    if len(parts) < 2:
        return parts[0] if parts else neutral
    return call if len(parts) == len(call.arguments) else replace(call, arguments=tuple(parts))


def _chosen(call: Call) -> Expression:
    """CASE without branches that are never taken; what all branches give, if it is a constant."""
    *given, last = call.arguments
    pairs = [
        (when, then) for when, then in zip(given[0::2], given[1::2], strict=True) if when != FALSE
    ]
    values = {then for _, then in pairs} | {last}
    if len(values) == 1 and isinstance(last, Literal) and _never_fail([w for w, _ in pairs]):
        return last
    flat = tuple(part for pair in pairs for part in pair)
    return last if not pairs else replace(call, arguments=(*flat, last))


def _never_fail(conditions: Sequence[Expression]) -> bool:
    return all(map(cannot_fail, conditions))
