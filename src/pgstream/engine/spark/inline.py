"""inline: a handful of rows as VALUES in the SQL text, which costs no call into the JVM."""

from __future__ import annotations

from dataclasses import replace

from pgstream.engine.carriers import BIGINT, Carrier
from pgstream.engine.rows import Rows
from pgstream.engine.spark.expressions import Rendered, quote
from pgstream.engine.spark.relation import Relation, Select


def inline(bound: Rows) -> Relation:
    carriers = [*bound.carriers, BIGINT]
    names = [*(f"c{i}" for i in range(len(bound.carriers))), "w"]
    columns = [
        [written(value, carrier) for value in column.to_pylist()]
        for column, carrier in zip(bound.table.columns, carriers, strict=True)
    ]
    if not bound.table.num_rows:
        nulls = [f"{written(None, c)} AS {n}" for c, n in zip(carriers, names, strict=True)]
        return Relation(f"SELECT {', '.join(nulls)} WHERE false", bound.carriers)
    rows = ", ".join(f"({', '.join(row)})" for row in zip(*columns, strict=True))
    items = tuple(Rendered(n, c) for n, c in zip(names, bound.carriers, strict=False))
    source = f"VALUES {rows} AS v({', '.join(names)})"
    relation = Select(items, "w", source, hint="COALESCE(1)").relation()
    return replace(relation, rows=bound)


def written(value: object, carrier: Carrier) -> str:
    if value is None:
        return f"CAST(NULL AS {carrier.spark})"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    return f"CAST({quote(str(value))} AS {carrier.spark})"
