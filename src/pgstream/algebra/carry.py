"""carry: a numeric that nothing on Spark reads travels as text.

    SELECT t.id, t.x FROM t JOIN u ON u.id = t.id        x is text, from the scan to the result

Text holds NaN, infinity and any number of digits, and keeps trailing zeros. A column is read by
what computes or compares: expressions, sums, orders, keys. It flows on where it is taken over as
it is. Columns between which values flow are one stream, and travel in one form: a decimal if one
of them is read, or is computed on Spark.

Runs last, over trees in which every expression stands where it is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from pgstream.algebra.expressions import Call, Expression, Literal, Ref, refs, transform
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Scan
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window
from pgstream.algebra.types import Type

Place = tuple[Node, int]
"""A column of a node."""
NULL_TESTS = ("is null", "is not null")


def carry(tree: Node, decimals: Iterable[Node] = ()) -> Node:
    """The same tree with numerics as text where nothing reads them; `decimals` are scans that
    stay as they are."""
    streams = Streams()
    for node in tree.walk():
        _join(node, streams)
    for node in decimals:
        streams.read(*((node, i) for i in range(len(node.columns))))
    return Carrying(streams).rewritten(tree)


class Streams:
    """Which columns hold the same values, and which of them are read."""

    def __init__(self) -> None:
        self._next: dict[Place, Place] = {}
        self._read: set[Place] = set()

    def of(self, place: Place) -> Place:
        while place in self._next:
            place = self._next[place]
        return place

    def join(self, one: Place, other: Place) -> None:
        first, second = self.of(one), self.of(other)
        if first != second:
            self._next[first] = second
            if first in self._read:
                self._read.add(second)

    def read(self, *places: Place) -> None:
        self._read.update(map(self.of, places))

    def is_read(self, place: Place) -> bool:
        return self.of(place) in self._read


# --- what flows, and what is read -----------------------------------------------------------------


def _join(node: Node, streams: Streams) -> None:
    match node:
        case Scan():
            if node.source.relid < 0:  # the rows of a recursive CTE
                streams.read(*((node, i) for i in range(len(node.fields))))
        case Project(input, expressions):
            for i, expression in enumerate(expressions):
                _flow(expression, input, (node, i), streams)
        case UnionAll(terms):
            for i in range(len(node.columns)):
                for term in terms:
                    streams.join((node, i), (term, i))
        case Aggregate(input, keys):
            _pass(node, input, keys, streams)
            streams.read(*((input, key) for key in keys))
            _join_calls(node, streams)
        case ByPostgres(input, origins=origins, keys=keys):
            _pass(node, input, origins, streams)
            streams.read(*((input, key) for key in keys or ()))
        case _ if node.inputs:
            _join_rows(node, streams)
        case _:  # rows that come from elsewhere
            streams.read(*((node, i) for i in range(len(node.columns))))


def _join_rows(node: Node, streams: Streams) -> None:
    """An operator that shows the columns of its inputs, side by side, and then its own."""
    below: list[Place] = [(i, n) for i in node.inputs for n in range(len(i.columns))]
    for i, place in enumerate(below):
        streams.join((node, i), place)
    streams.read(*(below[i] for i in _read_by(node)))
    streams.read(*((node, i) for i in range(len(below), len(node.columns))))


def _read_by(node: Node) -> Iterator[int]:
    match node:
        case Filter(predicate=expression) | Weigh(count=expression):
            yield from _read_in(expression)
        case Pairing():
            width = len(node.left.columns)
            yield from node.left_keys
            yield from (width + key for key in node.right_keys)
            if node.condition is not None:
                yield from _read_in(node.condition)
        case Window(keys=keys, calls=calls):
            yield from keys
            for call in calls:
                yield from (order.index for order in call.order)
                yield from (i for argument in call.arguments for i in refs(argument))


def _join_calls(node: Aggregate, streams: Streams) -> None:
    for i, call in enumerate(node.calls, len(node.keys)):
        if call.function == "single" and call.argument is not None:
            streams.join((node, i), (node.input, call.argument))
            continue
        streams.read((node, i))
        if call.argument is not None and call.function != "count":
            streams.read((node.input, call.argument))


def _pass(node: Node, input: Node, origins: Iterable[int | None], streams: Streams) -> None:
    for i, origin in enumerate(origins):
        if origin is not None:
            streams.join((node, i), (input, origin))


def _flow(expression: Expression, input: Node, to: Place, streams: Streams) -> None:
    """What the column `to` takes over from the input, and what it is computed from."""
    chosen, tested = _chosen(expression)
    for part in chosen:
        if isinstance(part, Ref):
            streams.join(to, (input, part.index))
        elif not isinstance(part, Literal):
            streams.read(to)
    for part in (*tested, *(p for p in chosen if not isinstance(p, Ref))):
        streams.read(*((input, i) for i in _read_in(part)))


def _chosen(expression: Expression) -> tuple[list[Expression], list[Expression]]:
    """The values between which an expression chooses, and what decides."""
    if not isinstance(expression, Call) or expression.function not in ("case", "coalesce"):
        return [expression], []
    *given, last = expression.arguments
    is_case = expression.function == "case"
    chosen: list[Expression] = []
    tested: list[Expression] = given[0::2] if is_case else []
    for value in (*(given[1::2] if is_case else given), last):
        more, decides = _chosen(value)
        chosen += more
        tested += decides
    return chosen, tested


def _read_in(expression: Expression) -> frozenset[int]:
    """The columns of which an expression reads more than whether they are NULL."""
    if isinstance(expression, Ref):
        return frozenset((expression.index,))
    if isinstance(expression, Literal):
        return frozenset()
    inner = expression.arguments
    if isinstance(expression, Call) and expression.function in NULL_TESTS:
        inner = tuple(part for part in inner if not isinstance(part, Ref))
    return frozenset(i for part in inner for i in _read_in(part))


# --- the tree with its types ----------------------------------------------------------------------


class Carrying:
    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        self._done: dict[Node, Node] = {}

    def rewritten(self, node: Node) -> Node:
        if node not in self._done:
            inputs = [self.rewritten(each) for each in node.inputs]
            made = node.with_inputs(*inputs) if inputs else node
            self._done[node] = replace(made, **self.changes(node, made))
        return self._done[node]

    def changes(self, old: Node, new: Node) -> dict[str, Any]:
        """The parts of a node that name types."""
        match new:
            case Scan(fields=fields):
                return {"fields": tuple(
                    replace(f, type=self.type_at((old, i), f.type)) for i, f in enumerate(fields)
                )}  # fmt: skip
            case ByPostgres(shape=shape):
                return {"shape": tuple(
                    replace(c, type=self.type_at((old, i), c.type)) for i, c in enumerate(shape)
                )}  # fmt: skip
            case Aggregate(keys=keys, calls=calls):
                return {"calls": tuple(
                    replace(c, type=self.type_at((old, i), c.type))
                    for i, c in enumerate(calls, len(keys))
                )}  # fmt: skip
            case Project(input, expressions):
                return {"expressions": tuple(
                    _typed(e, input.columns, self.type_at((old, i), e.type))
                    for i, e in enumerate(expressions)
                )}  # fmt: skip
            case Filter(input, predicate):
                return {"predicate": _over(predicate, input.columns)}
            case Pairing(condition=condition) if condition is not None:
                return {"condition": _over(condition, new.columns)}
        return {}

    def type_at(self, place: Place, type_: Type) -> Type:
        if not type_.is_numeric or self.streams.is_read(place):
            return type_
        return replace(type_, as_text=True)


def _typed(expression: Expression, columns: tuple[Column, ...], type_: Type) -> Expression:
    """The expression over these columns, as a value of the type."""
    over = _over(expression, columns)
    if type_.as_text and isinstance(over, Call):  # it chooses between such values
        parts = tuple(
            _typed(part, columns, replace(part.type, as_text=True))
            if part.type.name == type_.name else part
            for part in over.arguments
        )  # fmt: skip
        over = replace(over, arguments=parts)
    return replace(over, type=type_)


def _over(expression: Expression, columns: tuple[Column, ...]) -> Expression:
    """The expression with the forms in which its columns travel."""

    def travelling(ref: Ref) -> Ref:
        as_text = columns[ref.index].type.as_text
        return Ref(ref.index, replace(ref.type, as_text=as_text))

    return transform(expression, travelling)
