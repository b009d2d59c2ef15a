"""prune_columns: what nothing above reads is not computed, carried or read.

    π{a}(σ{b}(A)) reads a and b of A only, whatever else A has

Going down from the top, each node is asked for the columns that any of those above reads, so that
what is read in several places stays one. All scans of a table read what any of them needs: then
the table is read once. Where a column is part of what a row is, it stays: grouping columns, the
rows that PostgreSQL computes with, and all columns below window functions that tell rows with
equal order apart by them. A column from which a scan computes another stays beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from pgstream.algebra.expressions import Expression, Ref, quote_name, refs, transform
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Field, Scan
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window, WindowCall
from pgstream.algebra.placement.windows import spark_form

Columns = set[int]


class Pruned(NamedTuple):
    """A node, and which of its columns are left, in their order."""

    node: Node
    kept: tuple[int, ...]

    def place(self, column: int) -> int:
        return self.kept.index(column)

    def over(self, expression: Expression) -> Expression:
        return transform(expression, lambda ref: Ref(self.place(ref.index), ref.type))


def prune_columns(tree: Node) -> Node:
    needs = Needs(tree)
    return Pruning(needs).of(tree).node


# --- what is needed -----------------------------------------------------------------------------


class Needs:
    """The columns that are needed of each node of a tree, whose own columns all are."""

    def __init__(self, tree: Node) -> None:
        self._columns: dict[Node, Columns] = defaultdict(set)
        self._columns[tree].update(range(len(tree.columns)))
        self._fields: dict[int, set[Field]] = defaultdict(set)
        for node in reversed(_inputs_first(tree)):
            for input, columns in zip(node.inputs, self._asked(node), strict=True):
                self._columns[input].update(columns)
        for node in self._columns:
            if isinstance(node, Scan):
                fields = {node.fields[i] for i in self._columns[node]}
                self._fields[node.source.relid] |= fields | _computed_from(fields, node.fields)

    def of(self, node: Node) -> Columns:
        return self._columns[node]

    def of_table(self, scan: Scan) -> list[int]:
        """What any scan of the table needs, and this one has."""
        if scan.source.relid < 0:  # the table of a recursive CTE is looked for as it is
            return list(range(len(scan.fields)))
        needed = self._fields[scan.source.relid]
        return [i for i, field in enumerate(scan.fields) if field in needed]

    def _asked(self, node: Node) -> Iterable[Columns]:
        """What a node asks of its inputs."""
        wanted = self._columns[node]
        match node:
            case Filter(_, expression) | Weigh(_, expression):
                return [wanted | refs(expression)]
            case Shared():
                return [wanted]
            case UnionAll(terms):
                return [wanted for _ in terms]
            case Project(_, expressions):
                return [{column for i in wanted for column in refs(expressions[i])}]
            case Pairing():
                return _asked_of_sides(node, wanted)
            case Aggregate(_, keys):
                used = _used_by_calls(kept_calls(node, wanted))
                return [{*keys, *used}]
            case Window():
                return [_asked_by_window(node, wanted)]
        return [set(range(len(input.columns))) for input in node.inputs]


def _computed_from(fields: Iterable[Field], known: Iterable[Field]) -> set[Field]:
    """The columns that computed fields read: by them changes are found to cancel out, before
    anything is computed. A name in a text of the query does no harm."""
    texts = [field.sql for field in fields if field.sql is not None]
    return {
        field
        for field in known
        if field.sql is None and any(quote_name(field.name) in text for text in texts)
    }


def _inputs_first(tree: Node) -> list[Node]:
    """The nodes, each after all that it reads."""
    order: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in order:
            for input in node.inputs:
                visit(input)
            order[node] = None

    visit(tree)
    return list(order)


def _asked_of_sides(node: Pairing, wanted: Columns) -> list[Columns]:
    width = len(node.left.columns)
    every = wanted | (refs(node.condition) if node.condition is not None else set())
    left = {*node.left_keys, *(i for i in every if i < width)}
    right = {*node.right_keys, *(i - width for i in every if i >= width)}
    return [left, right]


def kept_calls(node: Aggregate, wanted: Columns) -> list[AggregateCall]:
    """Without grouping columns, one call tells that there is a row."""
    width = len(node.keys)
    calls = [call for i, call in enumerate(node.calls, width) if i in wanted]
    return calls or ([] if node.keys else [node.calls[0]])


def _used_by_calls(calls: Iterable[AggregateCall]) -> Columns:
    return {i for call in calls for i in (call.argument, call.scale) if i is not None}


def kept_windows(node: Window, wanted: Columns) -> list[WindowCall]:
    width = len(node.input.columns)
    return [call for i, call in enumerate(node.calls, width) if i in wanted]


def _asked_by_window(node: Window, wanted: Columns) -> Columns:
    types = [column.type for column in node.input.columns]
    calls = kept_windows(node, wanted)
    forms = [spark_form(call, types) for call in calls]
    if any(form is None or form.ties for form in forms):
        return set(range(len(types)))
    asked = {*node.keys, *(i for i in wanted if i < len(types))} if calls else set(wanted)
    for call in calls:
        asked |= {order.index for order in call.order}
        asked |= {i for argument in call.arguments for i in refs(argument)}
        asked |= {call.condition} if call.condition is not None else set()
    return asked


# --- what is left -------------------------------------------------------------------------------


class Pruning:
    """Rebuilds a tree with the columns that are needed, each part once."""

    def __init__(self, needs: Needs) -> None:
        self.needs = needs
        self._done: dict[Node, Pruned] = {}

    def of(self, node: Node) -> Pruned:
        if node not in self._done:
            self._done[node] = self._made(node)
        return self._done[node]

    def _made(self, node: Node) -> Pruned:
        match node:
            case Scan(_, fields):
                kept = tuple(self.needs.of_table(node))
                return Pruned(replace(node, fields=tuple(fields[i] for i in kept)), kept)
            case Filter(inner, expression) | Weigh(inner, expression):
                below = self.of(inner)
                made = node.with_inputs(below.node).with_expressions(below.over(expression))
                return Pruned(made, below.kept)
            case Shared(inner):
                below = self.of(inner)
                return Pruned(node.with_inputs(below.node), below.kept)
            case UnionAll(terms):
                kept = tuple(sorted(self.needs.of(node)))
                return Pruned(UnionAll(tuple(_only(self.of(term), kept) for term in terms)), kept)
            case Project():
                return self._project(node)
            case Pairing():
                return self._join(node)
            case Aggregate():
                return self._aggregate(node)
            case Window():
                return self._window(node)
        inputs = [self.of(input).node for input in node.inputs]
        every = tuple(range(len(node.columns)))
        return Pruned(node.with_inputs(*inputs) if inputs else node, every)

    def _project(self, node: Project) -> Pruned:
        kept, below = tuple(sorted(self.needs.of(node))), self.of(node.input)
        expressions = tuple(below.over(node.expressions[i]) for i in kept)
        return Pruned(Project(below.node, expressions, tuple(node.names[i] for i in kept)), kept)

    def _join(self, node: Pairing) -> Pruned:
        left, right = self.of(node.left), self.of(node.right)
        width = len(node.left.columns)
        every = (*left.kept, *(width + i for i in right.kept))
        on = tuple((left.place(a), right.place(b)) for a, b in node.on)
        condition = node.condition
        if condition is not None:
            condition = transform(condition, lambda ref: Ref(every.index(ref.index), ref.type))
        made = node.with_inputs(left.node, right.node)
        shown = every if len(node.columns) > width else left.kept
        return Pruned(replace(made, on=on, condition=condition), shown)

    def _aggregate(self, node: Aggregate) -> Pruned:
        below, width = self.of(node.input), len(node.keys)
        chosen = kept_calls(node, self.needs.of(node))
        calls = [
            replace(
                call,
                argument=None if call.argument is None else below.place(call.argument),
                scale=None if call.scale is None else below.place(call.scale),
            )
            for call in chosen
        ]
        keys = tuple(below.place(key) for key in node.keys)
        kept = (*range(width), *(width + i for i, c in enumerate(node.calls) if c in chosen))
        return Pruned(Aggregate(below.node, keys, tuple(calls)), kept)

    def _window(self, node: Window) -> Pruned:
        below, width = self.of(node.input), len(node.input.columns)
        chosen = kept_windows(node, self.needs.of(node))
        if not chosen:
            return below
        keys = tuple(below.place(key) for key in node.keys)
        kept = (*below.kept, *(width + i for i, c in enumerate(node.calls) if c in chosen))
        return Pruned(Window(below.node, keys, tuple(_call(c, below) for c in chosen)), kept)


def _call(call: WindowCall, below: Pruned) -> WindowCall:
    return replace(
        call,
        arguments=tuple(map(below.over, call.arguments)),
        condition=None if call.condition is None else below.place(call.condition),
        order=tuple(replace(order, index=below.place(order.index)) for order in call.order),
    )


def _only(pruned: Pruned, columns: tuple[int, ...]) -> Node:
    """The node with these columns and no others."""
    if pruned.kept == columns:
        return pruned.node
    return pick(pruned.node, tuple(map(pruned.place, columns)))
