"""Executors read a relation in slices, one task and one query each, under one exported snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pgstream.engine.spark.adbc import connect

Batches = Iterator[pa.RecordBatch]


def sliced(
    session: SparkSession,
    dsn: str,
    snapshot: str,
    queries: Sequence[str],
    columns: Sequence[tuple[str, str, pa.DataType]],
) -> DataFrame:
    """The rows of the queries; a column has a name, and a type for Spark and for Arrow."""
    count = len(queries)
    tasks = session.range(0, count, 1, count)  # one number each
    listed = ", ".join(f"{name} {spark}" for name, spark, _ in columns)
    schema = pa.schema([(name, arrow) for name, _, arrow in columns])
    return tasks.mapInArrow(_reader(dsn, snapshot, queries, schema), listed)


def _reader(
    dsn: str, snapshot: str, queries: Sequence[str], schema: pa.Schema
) -> Callable[[Batches], Batches]:
    def read(numbers: Batches) -> Batches:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from _rows(dsn, snapshot, queries[number], schema)

    return read


def _rows(dsn: str, snapshot: str, query: str, schema: pa.Schema) -> Batches:
    with connect(dsn) as connection, connection.cursor() as cursor:
        for statement in session_statements(snapshot):
            cursor.execute(statement)
        cursor.execute(query)
        for batch in cursor.fetch_record_batch():
            yield batch.cast(schema)
        connection.rollback()


def session_statements(snapshot: str) -> list[str]:
    """What makes a reading session see the snapshot, if one is given, write values in canonical
    text, and read tables only. The address has set its search path."""
    return [
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        *([f"SET TRANSACTION SNAPSHOT '{snapshot}'"] if snapshot else []),
        "SET LOCAL TimeZone = 'UTC'",
        "SET LOCAL DateStyle = 'ISO, YMD'",
        "SET LOCAL IntervalStyle = 'postgres'",
        "SET LOCAL extra_float_digits = 1",
        "SET LOCAL bytea_output = 'hex'",
        "SELECT set_config(name, 'view', true) FROM pg_settings"
        " WHERE name = 'restrict_nonsystem_relation_kind'",
    ]
