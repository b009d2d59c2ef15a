"""Distinct key values, and the rows whose columns are among them."""

from dataclasses import replace

from pgstream.algebra.operators.key_filter import KeyFilter
from pgstream.algebra.operators.node import Keys
from pgstream.engine.carriers import Carrier
from pgstream.engine.rows import Rows
from pgstream.engine.spark.expressions import Rendered, aligned
from pgstream.engine.spark.inline import written
from pgstream.engine.spark.relation import Relation, Select, select

MOST_LISTED = 40
SINGLE_TASK = "COALESCE(1), SHUFFLE_HASH(k)"


def keys(node: Keys, input: Relation) -> Relation:
    picked = [input.columns()[i] for i in node.indexes]
    rows = f"({input.sql}) t"
    if not node.nulls:
        present = " AND ".join(f"{column.sql} IS NOT NULL" for column in picked)
        rows += f" WHERE {present}"
    relation = select(picked, "CAST(1 AS BIGINT)", rows)
    listed = ", ".join(column.sql for column in picked)
    return Relation(f"{relation.sql} GROUP BY {listed}" if picked else
                    f"{relation.sql} LIMIT 1", relation.carriers)  # fmt: skip


def by_keys(node: KeyFilter, among: Relation, input: Relation) -> Relation:
    if among.rows is not None and are_few(among.rows):
        return listed_keys(node, input, among.rows)
    return replace(key_filter(node, input, among), single_task=SINGLE_TASK)


def key_filter(node: KeyFilter, input: Relation, among: Relation) -> Relation:
    rows, wanted = input.columns("a"), among.columns("k")
    compared = [aligned(rows[column], wanted[i]) for i, column in enumerate(node.indexes)]
    pairs = " AND ".join(f"{first} <=> {second}" for first, second in compared)
    # Keys are distinct, so an inner join keeps each row once.
    source = f"({input.sql}) a JOIN ({among.sql}) k ON {pairs}"
    return Select(tuple(rows), "a.w", source).relation()


def are_few(rows: Rows) -> bool:
    return bool(rows.table.num_rows * len(rows.carriers) <= MOST_LISTED)


def listed_keys(node: KeyFilter, input: Relation, among: Rows) -> Relation:
    """A few keys are a condition, which costs Spark less than a join."""
    below = input.select()
    columns = [below.columns()[i] for i in node.indexes]
    keys = zip(*(column.to_pylist() for column in among.table.columns[:-1]), strict=True)
    wanted = [" AND ".join(map(is_value, columns, key, among.carriers)) for key in keys]
    return replace(below, where=(*below.where, " OR ".join(wanted))).relation()


def is_value(column: Rendered, value: object, carrier: Carrier) -> str:
    if value is None:
        return f"{column.sql} IS NULL"
    first, second = aligned(column, Rendered(written(value, carrier), carrier))
    return f"{first} <=> {second}"
