"""explain: the trees that run, and what they read, in words."""

from __future__ import annotations

from collections.abc import Iterator

from pgstream.algebra.calculus.differentiate import Changed
from pgstream.algebra.calculus.recursion import Recursion
from pgstream.algebra.nested import Hidden
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.scan import Field, Lookup, Stored
from pgstream.algebra.plan import Plan
from pgstream.algebra.top import Top
from pgstream.database.connection import Connection
from pgstream.database.quoting import identifier
from pgstream.monitor.draw import draw
from pgstream.monitor.nested import nested_state

Rows = list[tuple[str, str]]


def explain(plan: Plan, connection: Connection) -> Rows:
    """Properties of the plan, in order, as explain_st shows them."""
    changed = plan.everything_changed
    rows: Rows = [("Operator Tree", draw(plan.tree))]
    delta = plan.change(changed)
    trees = [] if delta is None else [delta]
    rows.append(("Delta Tree", draw(delta) if delta else "empty: the query reads no table"))
    accumulated = plan.accumulated
    if accumulated is not None:
        rows.append(("Stored Accumulators", ", ".join(a.name for a in accumulated.accumulators)))
        why = accumulated.read_again_when
        if why:
            groups = Parameter(f"groups: {why}", accumulated.key_columns)
            again = accumulated.again(changed, groups)
            trees.append(again)
            rows.append(("Group Read Again", draw(again)))
    if plan.top is not None:
        rows += top_rows(plan, plan.top)
    for recursion in plan.recursions:
        rows += recursion_rows(recursion, changed)
        trees += [tree for tree in recursion.trees(changed) if tree is not None]
    for hidden in plan.hidden:
        rows += hidden_rows(hidden, changed, connection)
        trees += [tree for tree in (hidden.change(changed),) if tree is not None]
    rows += [("Nested State", text) for text in nested_state(plan)]
    rows += [("Relies On", fact) for fact in plan.facts]
    names = [f"{s.source} (oid={relid})" for relid, s in plan.sources.items()]
    rows.append(("Source Tables", ", ".join(names) or "none"))
    rows.append(("DVM Supported", "Yes"))
    rows += [("Whole Table Read", text) for text in whole_reads(trees)]
    rows += [("Missing Index", text) for text in missing_indexes(trees, connection)]
    return rows


def recursion_rows(recursion: Recursion, changed: Changed) -> Rows:
    """The two terms of a recursive CTE, where its rows are, and how a change of it begins."""
    kind = "UNION" if recursion.level is None else "UNION ALL"
    seed = recursion.seed(changed)
    return [
        ("Recursive CTE", f"{recursion.name} by {kind}, rows in {recursion.source}"),
        ("Base Term", draw(recursion.base)),
        ("Recursive Term", draw(recursion.step)),
        ("Delta Seed", draw(seed) if seed else "empty: the terms read no other table"),
    ]


def hidden_rows(hidden: Hidden, changed: Changed, connection: Connection) -> Rows:
    """What a hidden table stores, how large it is, and how a change of it is computed."""
    row = connection.execute(
        "SELECT c.reltuples::bigint, pg_size_pretty(pg_total_relation_size(c.oid))"
        " FROM pg_class c WHERE c.oid = to_regclass(%s)",
        (str(hidden.source),),
    ).fetchone()
    size = f" ({row[0]} rows, {row[1]})" if row and row[0] >= 0 else ""
    what = hidden.aggregate.describe()
    again = f"; groups read again: {hidden.read_again_when}" if hidden.read_again_when else ""
    delta = hidden.change(changed)
    return [
        ("Hidden Table", f"{hidden.source}{size}: {what}, stored for what stands above it{again}"),
        ("Hidden Delta", draw(delta) if delta else "empty: it reads no table"),
    ]


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
    which += " with ties" if top.ties else ""
    again = f"when fewer than {top.size} rows are left of the first {top.size} and those before"
    if plan.accumulated is not None:
        again = "never: all groups are stored"
    return [("Top", f"{which} by {', '.join(keys)}"), ("Input Read Again", again)]


def whole_reads(trees: list[Node]) -> Iterator[str]:
    """Tables that a differential refresh reads whole, and why."""
    seen = set()
    for tree in trees:
        for node in tree.walk():
            if isinstance(node, Stored) and node.scan.source not in seen:
                seen.add(node.scan.source)
                yield f"{node.scan.source}: no equality on a column leads to it"


def missing_indexes(trees: list[Node], connection: Connection) -> Iterator[str]:
    """Lookups whose first column no index starts with, with the index that would help."""
    seen = set()
    for tree in trees:
        for node in tree.walk():
            if not isinstance(node, Lookup) or node.stored.scan.source.relid < 0:
                continue  # pgstream itself puts indexes on the rows of recursive CTEs
            fields = [node.stored.scan.fields[i] for i in node.indexes]
            source = node.stored.scan.source
            mark = (source, tuple(f.name for f in fields))
            if mark in seen or any(
                indexed(connection, source.relid, f.equal_to or f.name) for f in fields
            ):
                continue
            seen.add(mark)
            items = ", ".join(indexable(f, connection) for f in fields)
            table = identifier(source.schema, source.name).as_string(connection)
            yield f"CREATE INDEX ON {table} ({items})"


def indexable(field: Field, connection: Connection) -> str:
    """What a lookup compares with the keys."""
    column = field.equal_to or (field.name if field.sql is None else None)
    return identifier(column).as_string(connection) if column else f"({field.sql})"


def indexed(connection: Connection, relid: int, column: str) -> bool:
    row = connection.execute(
        "SELECT EXISTS (SELECT FROM pg_index i JOIN pg_attribute a"
        " ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
        " WHERE i.indrelid = %s AND a.attname = %s AND i.indisvalid)",
        (relid, column),
    ).fetchone()
    return bool(row and row[0])
