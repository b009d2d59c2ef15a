"""A reference evaluator: operator trees over Z-sets in plain Python, word for word as documented.

A Z-set is a Counter of rows (tuples) with weights. Slow, and obviously right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.operators.accumulate import Accumulate, Accumulator
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.first_rows import FirstKeys
from pgstream.algebra.operators.join import Join, Pairing
from pgstream.algebra.operators.key_filter import KeyFilter
from pgstream.algebra.operators.negate import Consolidate, Negate
from pgstream.algebra.operators.node import Keys, Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.order import Order
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.partners import Partners
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.ranges import Ranges
from pgstream.algebra.operators.row_id import RowId
from pgstream.algebra.operators.scan import Change, Lookup, Part, Scan, Stored
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window, WindowCall
from pgstream.algebra.operators.working import Working

LITERALS = {None: None, "t": True, "f": False}
Row = tuple[Any, ...]
ZSet = Counter[Row]


@dataclass(frozen=True)
class World:
    """Per relid: what is stored, what is committed of it since, what is pending. `postgres` stands
    in for PostgreSQL: what a query of a ByPostgres makes of the rows that are handed over.
    `parameters` are the rows that are at hand, by name."""

    stored: Mapping[int, ZSet]
    committed: Mapping[int, ZSet]
    pending: Mapping[int, ZSet]
    postgres: Mapping[str, Callable[[ZSet], ZSet]] = field(default_factory=dict)
    parameters: Mapping[str, ZSet] = field(default_factory=dict)

    def with_parameter(self, name: str, rows: ZSet) -> World:
        return replace(self, parameters={**self.parameters, name: rows})

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
    known: dict[Node, ZSet] = {}

    def of(part: Node) -> ZSet:
        if part not in known:
            known[part] = relation_of(part, world, scan, of)
        return known[part]

    return of(node)


def relation_of(
    node: Node, world: World, scan: Callable[[int], ZSet] | None, of: Callable[[Node], ZSet]
) -> ZSet:
    """What an operator makes of the relations below it."""
    for part in seen_as_rows(node):
        assert not part.is_signed, "weights of both signs may meet"
        assert all(weight > 0 for weight in of(part).values())
    match node:
        case Scan(source):
            assert scan is not None, "a delta tree reads leaves, never a Scan"
            return scan(source.relid)
        case Stored(table):
            return world.stored[table.source.relid]
        case Change(table, part):
            parts = world.committed if part is Part.COMMITTED else world.pending
            return parts[table.source.relid]
        case Parameter(name) | Working(name):
            return world.parameters[name]
        case OneRow():
            return Counter({(): 1})
        case Filter(inner, predicate):
            return Counter({r: w for r, w in of(inner).items() if value(predicate, r) is True})
        case Project(inner, expressions):
            pairs = [(tuple(value(e, r) for e in expressions), w) for r, w in of(inner).items()]
            return plus(*(Counter({row: w}) for row, w in pairs))
        case Negate(inner):
            return minus(of(inner))
        case Consolidate(inner, positive):
            return Counter({r: w for r, w in plus(of(inner)).items() if w > 0 or not positive})
        case UnionAll(terms):
            return plus(*map(of, terms))
        case Weigh(inner, count):
            return plus(Counter({r: w * (value(count, r) or 0) for r, w in of(inner).items()}))
        case Join():
            return joined(node, of(node.left), of(node.right))
        case OuterJoin():
            return outer_joined(node, of(node.left), of(node.right))
        case SemiJoin():
            return semi_joined(node, of(node.left), of(node.right))
        case Aggregate(inner, keys, calls):
            return aggregated(of(inner), keys, calls)
        case Window(inner, keys, calls):
            return windowed(of(inner), keys, calls)
        case Shared(inner):
            return of(inner)
        case ByPostgres(inner, query):
            return world.postgres[query](of(inner))
        case Accumulate(inner, keys, accumulators):
            return accumulated(of(inner), keys, accumulators)
        case RowId(inner, indexes):
            rows = of(inner)
            return Counter({(*r, hash(tuple(r[i] for i in indexes))): w for r, w in rows.items()})
        case KeyFilter(inner, indexes, keys):
            return among(of(inner), indexes, of(keys))
        case Lookup(stored, indexes, Ranges() as ranges):
            return within(of(stored), indexes, ranges, of(ranges.input))
        case Lookup(stored, indexes, FirstKeys() as first):
            return first_of(of(stored), indexes, first, of(first.input))
        case Lookup(stored, indexes, keys):
            return among(of(stored), indexes, of(keys))
        case Partners(lookups):
            ways = [(each.indexes, of(each.keys)) for each in lookups]
            return among_any(of(lookups[0].stored), ways)
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


def within(rows: ZSet, indexes: tuple[int, ...], ranges: Ranges, change: ZSet) -> ZSet:
    """The rows by key, and by the range that the thresholds of the key moved over."""
    moved: dict[Row, list[tuple[Any, int]]] = {}
    for row, weight in change.items():
        key = tuple(row[i] for i in ranges.indexes)
        moved.setdefault(key, []).append((row[ranges.bound], weight))

    def is_touched(row: Row) -> bool:
        *key, x = (row[i] for i in indexes)
        found = moved.get(tuple(key), []) if None not in key else []
        ends = [end for end, _ in found]
        if None in ends or sum(weight for _, weight in found):
            return True
        return bool(ends) and x is not None and min(ends) <= x <= max(ends)

    return Counter({row: weight for row, weight in rows.items() if is_touched(row)})


def first_of(rows: ZSet, indexes: tuple[int, ...], first: FirstKeys, change: ZSet) -> ZSet:
    """The first rows of each touched partition: as many as are wanted, one more for each changed
    row, and those that tie. The conditions of the laws are left to the filters above."""
    assert not first.conditions
    changed: Counter[Row] = Counter()
    for row, weight in change.items():
        changed[tuple(row[i] for i in first.indexes)] += abs(weight)
    found: ZSet = Counter()
    for key, number in changed.items():
        part = {r: w for r, w in rows.items() if tuple(r[i] for i in indexes) == key}
        ranked = sorted(part, key=lambda r: sort_key(r, first.order))
        taken = 0
        for position, row in enumerate(ranked):
            ties = position and sort_key(row, first.order) == sort_key(
                ranked[position - 1], first.order
            )
            if taken < first.number + number or ties:
                found[row] += part[row]
            taken += part[row]
    return found


def among(rows: ZSet, indexes: tuple[int, ...], keys: ZSet) -> ZSet:
    """A ⋉ K; Python's None equals None, as IS NOT DISTINCT FROM has it."""
    return Counter({r: w for r, w in rows.items() if tuple(r[i] for i in indexes) in keys})


def among_any(rows: ZSet, ways: list[tuple[tuple[int, ...], ZSet]]) -> ZSet:
    def is_found(row: Row) -> bool:
        return any(tuple(row[i] for i in indexes) in keys for indexes, keys in ways)

    return Counter({row: weight for row, weight in rows.items() if is_found(row)})


def seen_as_rows(node: Node) -> tuple[Node, ...]:
    """The inputs on which the operator is defined only if their rows exist; sums know weights of
    both signs, and so does what treats each row by itself."""
    match node:
        case OuterJoin(keeps_right=keeps_right):
            return node.inputs if keeps_right else node.inputs[1:]
        case SemiJoin():
            return node.inputs[1:]
        case Window() | ByPostgres(keys=tuple()):
            return node.inputs
        case Aggregate(calls=calls) if any(call.function != "count" for call in calls):
            return node.inputs
    return ()


def matches(node: Pairing, left: Row, right: Row) -> bool:
    nulls = node.nulls_match
    equal = all(left[a] == right[b] and (nulls or left[a] is not None) for a, b in node.on)
    return equal and (node.condition is None or value(node.condition, left + right) is True)


def joined(node: Pairing, left: ZSet, right: ZSet) -> ZSet:
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


def semi_joined(node: SemiJoin, left: ZSet, right: ZSet) -> ZSet:
    return Counter(
        {a: w for a, w in left.items() if any(matches(node, a, b) for b in right) != node.anti}
    )


def aggregated(rows: ZSet, keys: tuple[int, ...], calls: tuple[AggregateCall, ...]) -> ZSet:
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


def accumulated(rows: ZSet, keys: tuple[int, ...], wanted: tuple[Accumulator, ...]) -> ZSet:
    """Sums per group, of a state or of a change; extremes are not among the laws."""
    groups: dict[Row, list[tuple[Row, int]]] = {}
    for row, weight in rows.items():
        groups.setdefault(tuple(row[k] for k in keys), []).append((row, weight))
    return Counter(
        {key + tuple(summed(a, group) for a in wanted): 1 for key, group in groups.items()}
    )


def summed(accumulator: Accumulator, group: list[tuple[Row, int]]) -> int:
    i = accumulator.argument
    if i is None:
        return sum(weight for _, weight in group)
    present = [(row[i], weight) for row, weight in group if row[i] is not None]
    return sum(w * {"nn": 1, "sum": number}[accumulator.kind] for number, w in present)


def windowed(rows: ZSet, keys: tuple[int, ...], calls: tuple[WindowCall, ...]) -> ZSet:
    """Every copy of a row is a row of its own; what is equal in the order is told apart by all
    columns."""
    partitions: dict[Row, list[Row]] = {}
    for row in rows.elements():
        partitions.setdefault(tuple(row[k] for k in keys), []).append(row)
    shown: ZSet = Counter()
    for partition in partitions.values():
        columns = [list(over(call, partition)) for call in calls]
        shown.update(row + values for row, values in zip_rows(partition, columns))
    return shown


def zip_rows(partition: list[Row], columns: list[list[Any]]) -> Iterator[tuple[Row, Row]]:
    for i, row in enumerate(partition):
        yield row, tuple(column[i] for column in columns)


def over(call: WindowCall, partition: list[Row]) -> Iterator[Any]:
    """The call's value for each row of a partition, which the call orders for itself."""
    order = sorted(range(len(partition)), key=lambda i: sort_key(partition[i], call.order))
    if call.function == "row_number":
        numbers = {i: number for number, i in enumerate(order, 1)}
        yield from (numbers[i] for i in range(len(partition)))
        return
    arguments = [value(call.arguments[0], row) for row in partition]
    present = [argument for argument in arguments if argument is not None]
    assert call.function == "max"
    assert not call.order
    yield from (max(present, default=None) for _ in partition)


def sort_key(row: Row, order: tuple[Order, ...]) -> list[tuple[bool, Any]]:
    """NULLs last; then all columns."""
    keys = [row[o.index] if not o.descending else negative(row[o.index]) for o in order]
    return [(key is None, key or 0) for key in (*keys, *row)]


def negative(number: Any) -> Any:
    return None if number is None else -number


def value(expression: Expression, row: Row) -> Any:
    """Three-valued logic over the few functions that the laws' trees use."""
    match expression:
        case Ref(index):
            return row[index]
        case Literal(text):
            return LITERALS[text] if text in LITERALS else int(text)
        case Call(function, arguments):
            values = [value(argument, row) for argument in arguments]
            if function == "is null":
                return values[0] is None
            if function == "case":
                chosen = (v for when, v in zip(values[0::2], values[1::2], strict=False) if when)
                return next(chosen, values[-1])
            if function in ("and", "or"):
                decides = function == "or"
                return decides if decides in values else None if None in values else not decides
            if None in values:
                return None
            first, second = values
            return {
                "+": lambda: first + second,
                "*": lambda: first * second,
                "=": lambda: first == second,
                "<": lambda: first < second,
                "<=": lambda: first <= second,
                ">": lambda: first > second,
            }[function]()
    raise AssertionError(f"the reference does not evaluate {expression!r}")
