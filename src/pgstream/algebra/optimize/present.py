"""present: which columns of a relation are never NULL.

Scan        the columns that the catalog says are NOT NULL
σp          those without which p is not true
π           columns, constants and comparisons of such
γ           grouping columns of such, and counts
A ⋈ B       those of both sides, and the columns of its equalities
A ⟕ B       those of A; a semi-join has the columns of its equalities, too
A + B       those of both
"""

from __future__ import annotations

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join, Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Scan
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.window import Window
from pgstream.algebra.optimize.keys import Constraints, Facts
from pgstream.algebra.optimize.strengthen_joins import never_null, required
from pgstream.algebra.placement.spark_list import spark_refusal

Present = dict[int, Facts]
"""The columns that are never NULL, and what that relies on."""
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def present(node: Node, known: Constraints) -> Present:
    match node:
        case Scan():
            return _of_table(node, known)
        case Shared(inner):
            return present(inner, known)
        case Filter(inner, predicate):
            return _with(present(inner, known), never_null(predicate))
        case Project(inner, expressions):
            below = present(inner, known)
            found = {i: value_of(value, below) for i, value in enumerate(expressions)}
            return {i: facts for i, facts in found.items() if facts is not None}
        case Window(inner):
            return present(inner, known)
        case Aggregate():
            return _of_groups(node, known)
        case Join() | SemiJoin() | OuterJoin(keeps_right=False):
            return _of_join(node, known)
        case UnionAll(terms):
            each = [present(term, known) for term in terms]
            common = set(each[0]).intersection(*each[1:])
            return {i: Facts().union(*(found[i] for found in each)) for i in common}
    return {}


def value_of(expression: Expression, columns: Present) -> Facts | None:
    """What it relies on that the expression is not NULL; None if it may be."""
    if isinstance(expression, Ref):
        return columns.get(expression.index)
    if isinstance(expression, Literal):
        return None if expression.text is None else Facts()
    if not isinstance(expression, Call) or expression.function not in COMPARISONS:
        return None
    parts = [value_of(part, columns) for part in expression.arguments]
    known = [facts for facts in parts if facts is not None]
    is_present = len(known) == len(parts) and spark_refusal(expression) is None
    return Facts().union(*known) if is_present else None


def _of_table(scan: Scan, known: Constraints) -> Present:
    if scan.source.relid < 0:
        return {}
    names = set(known.not_null(scan.source))
    return {
        i: frozenset((f"{scan.source} ({field.name}) is not null",))
        for i, field in enumerate(scan.fields)
        if field.sql is None and field.name in names
    }


def _of_groups(node: Aggregate, known: Constraints) -> Present:
    below = present(node.input, known)
    found = {i: below[key] for i, key in enumerate(node.keys) if key in below}
    counts = (i for i, call in enumerate(node.calls, len(node.keys)) if call.function == "count")
    return found | {i: Facts() for i in counts}


def _of_join(node: Pairing, known: Constraints) -> Present:
    width = len(node.left.columns)
    found = present(node.left, known)
    if isinstance(node, Join):
        right = present(node.right, known)
        found = found | {width + i: facts for i, facts in right.items()}
        return _with(found, required(node))
    if isinstance(node, SemiJoin) and not node.anti:
        return _with(found, frozenset(i for i in required(node) if i < width))
    return found


def _with(found: Present, more: frozenset[int]) -> Present:
    """What the query itself requires relies on nothing."""
    return found | {i: Facts() for i in more}
