"""explain: the trees that run, and what they read, in words."""

from __future__ import annotations

from collections.abc import Iterator

from pgstream.algebra.differentiate import sources
from pgstream.algebra.expressions import Expression, to_postgres
from pgstream.algebra.operators.accumulate import Accumulate
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.given import Given
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.keys import KeyFilter, Keys, Lookup
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.row_id import RowId
from pgstream.algebra.operators.scan import Change, Part, Scan, Stored
from pgstream.algebra.plan import Plan
from pgstream.algebra.top import Top
from pgstream.database.connection import Connection
from pgstream.database.quoting import identifier

Rows = list[tuple[str, str]]


def explain(plan: Plan, connection: Connection) -> Rows:
    """Properties of the plan, in order, as explain_st shows them."""
    changed = {relid: frozenset((Part.COMMITTED,)) for relid in sources(plan.tree)}
    rows: Rows = [("Operator Tree", draw(plan.tree))]
    delta = plan.change(changed)
    trees = [] if delta is None else [delta]
    rows.append(("Delta Tree", draw(delta) if delta else "empty: the query reads no table"))
    accumulated = plan.accumulated
    if accumulated is not None:
        rows.append(("Stored Accumulators", ", ".join(a.name for a in accumulated.accumulators)))
        if accumulated.recomputes or accumulated.has_extremes:
            why = "touched" if accumulated.recomputes else "extreme lost"
            groups = Given(f"groups: {why}", accumulated.key_columns)
            again = plan.groups_again(changed, groups)
            trees.append(again)
            rows.append(("Group Read Again", draw(again)))
    if plan.top is not None:
        rows += top_rows(plan, plan.top)
    names = [f"{s.source} (oid={relid})" for relid, s in sources(plan.tree).items()]
    rows.append(("Source Tables", ", ".join(names) or "none"))
    rows.append(("DVM Supported", "Yes"))
    rows += [("Whole Table Read", text) for text in whole_reads(trees)]
    rows += [("Missing Index", text) for text in missing_indexes(trees, connection)]
    return rows


def top_rows(plan: Plan, top: Top) -> Rows:
    """Which rows are shown, and when more than the stored ones are read."""
    columns = plan.tree.columns
    keys = [
        columns[key.column].name
        + (f" COLLATE {key.collation}" if key.collation else "")
        + (" DESC" if key.descending else "")
        + (" NULLS FIRST" if key.nulls_first else " NULLS LAST")
        for key in top.order
    ]
    which = f"rows {top.offset + 1} to {top.size}" if top.offset else f"first {top.limit} rows"
    again = f"when fewer than {top.size} rows are left of the first {top.size} and those before"
    if plan.accumulated is not None:
        again = "never: all groups are stored"
    return [("Top", f"{which} by {', '.join(keys)}"), ("Input Read Again", again)]


def draw(node: Node) -> str:
    """The tree, one operator a line, inputs indented. A part that occurs again is not drawn
    again: it has a number where it stands first."""
    seen: dict[Node, int] = {}
    lines: list[tuple[int, Node, bool]] = []

    def visit(part: Node, depth: int) -> None:
        below = parts_of(part)
        again = bool(below) and part in seen
        lines.append((depth, part, again))
        if again:
            seen[part] += 1
            return
        seen.setdefault(part, 1)
        for child in below:
            visit(child, depth + 1)

    visit(node, 0)
    repeated = [part for part, count in seen.items() if count > 1]
    numbers = {part: i for i, part in enumerate(repeated, 1)}
    texts = []
    for depth, part, again in lines:
        mark = f" #{numbers[part]}" if part in numbers else ""
        text = f"as{mark} above" if again else describe(part) + mark
        texts.append("  " * depth + text)
    return "\n".join(texts)


def parts_of(node: Node) -> tuple[Node, ...]:
    """The keys by which a node reads, if any, and its inputs."""
    return (node.keys, *node.inputs) if isinstance(node, Lookup | KeyFilter) else node.inputs


def describe(node: Node) -> str:
    match node:
        case Scan(source, fields):
            return f"Scan {source} ({', '.join(f.name for f in fields)})"
        case Stored(scan):
            return f"Stored {scan.source}"
        case Change(scan, part):
            return f"Change {scan.source}" + (" pending" if part is Part.PENDING else "")
        case Lookup(stored, indexes, _):
            return f"Lookup {stored.scan.source} by {named(stored.columns, indexes)}"
        case KeyFilter(inner, indexes, _):
            return f"KeyFilter by {named(inner.columns, indexes)}"
        case Keys(inner, indexes, _):
            return f"Keys {named(inner.columns, indexes)}"
        case Filter(inner, predicate):
            return f"Filter {text(predicate, inner)}"
        case Project(inner, expressions, names):
            items = [
                name if text(e, inner) == name else f"{text(e, inner)} AS {name}"
                for e, name in zip(expressions, names, strict=True)
            ]
            return f"Project {', '.join(items)}"
        case Pairing():
            return describe_join(node)
        case Aggregate(inner, keys, calls):
            listed = [
                f"{c.function}({'*' if c.argument is None else inner.columns[c.argument].name})"
                for c in calls
            ]
            return f"Aggregate {', '.join(listed)} by ({named(inner.columns, keys)})"
        case Accumulate(inner, keys, accumulators):
            listed = [a.name for a in accumulators]
            return f"Accumulate {', '.join(listed)} by ({named(inner.columns, keys)})"
        case RowId(inner, indexes):
            return f"RowId of ({named(inner.columns, indexes)})"
        case Given(name):
            return f"Given {name}"
        case _:
            return type(node).__name__


def describe_join(node: Pairing) -> str:
    left, right = node.left.columns, node.right.columns
    pairs = [f"{left[a].name} = {right[b].name}" for a, b in node.on]
    if node.condition is not None:
        pairs.append(text(node.condition, node))
    kind = "Join"
    if isinstance(node, OuterJoin):
        kind = "FullJoin" if node.keeps_right else "LeftJoin"
    return f"{kind} on {' AND '.join(pairs)}" if pairs else f"{kind} (no equality)"


def text(expression: Expression, node: Node) -> str:
    columns = node.columns
    return to_postgres(expression, lambda i: columns[i].name)


def named(columns: tuple[Column, ...], indexes: tuple[int, ...]) -> str:
    return ", ".join(columns[i].name for i in indexes)


def whole_reads(trees: list[Node]) -> Iterator[str]:
    """Tables that a differential refresh reads whole, and why."""
    seen = set()
    for tree in trees:
        for node in all_nodes(tree):
            if isinstance(node, Stored) and node.scan.source not in seen:
                seen.add(node.scan.source)
                yield f"{node.scan.source}: no equality on a column leads to it"


def all_nodes(node: Node) -> Iterator[Node]:
    """The node and all below it, also what keys are made of, each once."""
    seen: set[Node] = set()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if part not in seen:
            seen.add(part)
            yield part
            waiting.extend(reversed(parts_of(part)))


def missing_indexes(trees: list[Node], connection: Connection) -> Iterator[str]:
    """Lookups whose first column no index starts with, with the index that would help."""
    seen = set()
    for tree in trees:
        for node in all_nodes(tree):
            if not isinstance(node, Lookup):
                continue
            fields = [node.stored.scan.fields[i] for i in node.indexes]
            source = node.stored.scan.source
            mark = (source, tuple(f.name for f in fields))
            if mark in seen or any(indexed(connection, source.relid, f.name) for f in fields):
                continue
            seen.add(mark)
            items = ", ".join(
                f"({f.sql})" if f.sql else identifier(f.name).as_string(connection) for f in fields
            )
            table = identifier(source.schema, source.name).as_string(connection)
            yield f"CREATE INDEX ON {table} ({items})"


def indexed(connection: Connection, relid: int, column: str) -> bool:
    row = connection.execute(
        "SELECT EXISTS (SELECT FROM pg_index i JOIN pg_attribute a"
        " ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
        " WHERE i.indrelid = %s AND a.attname = %s AND i.indisvalid)",
        (relid, column),
    ).fetchone()
    return bool(row and row[0])
