"""A reference evaluator: operator trees over Z-sets in plain Python, word for word as documented.

A Z-set is a Counter of rows (tuples) with weights. Slow, and obviously right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.keys import KeyFilter, Keys, Lookup
from pgstream.algebra.operators.negate import Consolidate, Negate
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Change, Part, Scan, Stored
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh

Row = tuple[Any, ...]
ZSet = Counter[Row]


@dataclass(frozen=True)
class World:
    """Per relid: what is stored, what is committed of it since, what is pending."""

    stored: Mapping[int, ZSet]
    committed: Mapping[int, ZSet]
    pending: Mapping[int, ZSet]

    def before(self, relid: int) -> ZSet:
        return plus(self.stored[relid], minus(self.committed[relid]))

    def after(self, relid: int) -> ZSet:
        return plus(self.stored[relid], self.pending[relid])


def plus(*terms: ZSet) -> ZSet:
    total: ZSet = Counter()
    for term in terms:
        for row, weight in term.items():
            total[row] += weight
    return Counter({row: weight for row, weight in total.items() if weight})


def minus(term: ZSet) -> ZSet:
    return Counter({row: -weight for row, weight in term.items()})


def evaluate(node: Node, world: World, scan: Callable[[int], ZSet] | None = None) -> ZSet:
    """The relation of a tree. `scan` says what a Scan stands for, where the tree is a query."""

    def of(tree: Node) -> ZSet:
        return evaluate(tree, world, scan)

    match node:
        case Scan(source):
            assert scan is not None, "a delta tree reads leaves, never a Scan"
            return scan(source.relid)
        case Stored(table):
            return world.stored[table.source.relid]
        case Change(table, part):
            parts = world.committed if part is Part.COMMITTED else world.pending
            return parts[table.source.relid]
        case OneRow():
            return Counter({(): 1})
        case Filter(inner, predicate):
            return Counter({r: w for r, w in of(inner).items() if value(predicate, r) is True})
        case Project(inner, expressions):
            pairs = [(tuple(value(e, r) for e in expressions), w) for r, w in of(inner).items()]
            return plus(*(Counter({row: w}) for row, w in pairs))
        case Negate(inner):
            return minus(of(inner))
        case Consolidate(inner):
            return plus(of(inner))
        case UnionAll(terms):
            return plus(*map(of, terms))
        case Weigh(inner, count):
            return plus(Counter({r: w * (value(count, r) or 0) for r, w in of(inner).items()}))
        case Join():
            return joined(node, of(node.left), of(node.right))
        case OuterJoin():
            return outer_joined(node, of(node.left), of(node.right))
        case Aggregate(inner, keys, calls):
            return aggregated(of(inner), keys, calls)
        case KeyFilter(inner, indexes, keys):
            return among(of(inner), indexes, of(keys))
        case Lookup(stored, indexes, keys):
            return among(of(stored), indexes, of(keys))
        case Keys(inner, indexes, nulls):
            found = {tuple(row[i] for i in indexes) for row in occurring(inner, of)}
            return Counter({key: 1 for key in found if nulls or None not in key})
    raise AssertionError(f"the reference has no {type(node).__name__}")


def occurring(node: Node, of: Callable[[Node], ZSet]) -> set[Row]:
    """The rows of which keys are taken: terms of a sum do not cancel each other's keys."""
    match node:
        case UnionAll(terms):
            return {row for term in terms for row in occurring(term, of)}
        case Negate(inner):
            return occurring(inner, of)
        case Project(inner, expressions):
            return {tuple(value(e, row) for e in expressions) for row in occurring(inner, of)}
        case Filter(inner, predicate):
            return {row for row in occurring(inner, of) if value(predicate, row) is True}
    return set(of(node))


def among(rows: ZSet, indexes: tuple[int, ...], keys: ZSet) -> ZSet:
    """A ⋉ K; Python's None equals None, as IS NOT DISTINCT FROM has it."""
    return Counter({r: w for r, w in rows.items() if tuple(r[i] for i in indexes) in keys})


def matches(node: Join | OuterJoin, left: Row, right: Row) -> bool:
    equal = all(left[a] is not None and left[a] == right[b] for a, b in node.on)
    return equal and (node.condition is None or value(node.condition, left + right) is True)


def joined(node: Join | OuterJoin, left: ZSet, right: ZSet) -> ZSet:
    return Counter(
        {a + b: v * w for a, v in left.items() for b, w in right.items() if matches(node, a, b)}
    )


def outer_joined(node: OuterJoin, left: ZSet, right: ZSet) -> ZSet:
    nothing_left = (None,) * len(node.left.columns)
    nothing_right = (None,) * len(node.right.columns)
    padded = [
        Counter({a + nothing_right: w}) for a, w in left.items()
        if not any(matches(node, a, b) for b in right)
    ]  # fmt: skip
    if node.keeps_right:
        padded += [
            Counter({nothing_left + b: w}) for b, w in right.items()
            if not any(matches(node, a, b) for a in left)
        ]  # fmt: skip
    return plus(joined(node, left, right), *padded)


def aggregated(rows: ZSet, keys: tuple[int, ...], calls: tuple[AggregateCall, ...]) -> ZSet:
    assert all(weight > 0 for weight in rows.values()), "an aggregate sees rows that exist"
    groups: dict[Row, list[tuple[Row, int]]] = {} if keys else {(): []}
    for row, weight in rows.items():
        groups.setdefault(tuple(row[k] for k in keys), []).append((row, weight))
    return Counter({key + tuple(one(c, group) for c in calls): 1 for key, group in groups.items()})


def one(call: AggregateCall, group: list[tuple[Row, int]]) -> Any:
    if call.argument is None:
        return sum(weight for _, weight in group)
    values = [(row[call.argument], w) for row, w in group if row[call.argument] is not None]
    number = sum(weight for _, weight in values)
    if call.function == "count":
        return number
    if not values:
        return None
    if call.function in ("min", "max"):
        return (min if call.function == "min" else max)(v for v, _ in values)
    total = sum(v * w for v, w in values)
    return total if call.function == "sum" else Fraction(total, number)


def value(expression: Expression, row: Row) -> Any:
    """Three-valued logic over the few functions that the laws' trees use."""
    match expression:
        case Ref(index):
            return row[index]
        case Literal(text):
            return None if text is None else int(text)
        case Call(function, arguments):
            values = [value(argument, row) for argument in arguments]
            if function == "is null":
                return values[0] is None
            if None in values:
                return None
            first, second = values
            return {
                "+": lambda: first + second,
                "*": lambda: first * second,
                "=": lambda: first == second,
                "<": lambda: first < second,
                ">": lambda: first > second,
            }[function]()
    raise AssertionError(f"the reference does not evaluate {expression!r}")
