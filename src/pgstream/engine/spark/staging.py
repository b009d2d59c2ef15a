"""Executors write a large result to a staging table in parallel.

Each task marks its rows with its attempt, and tells its mark. The rows of attempts that Spark did
not accept are removed, so a retried task writes nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pyarrow as pa
from psycopg import sql
from pyspark.sql import DataFrame

from pgstream.engine.spark.adbc import connect

TASK_COLUMN = "__pgs_task"
Batches = Iterator[pa.RecordBatch]


def write_staged(
    frame: DataFrame, dsn: str, schema: str, table: str, notes: psycopg.Connection
) -> None:
    """One action. `notes` commits at once."""
    accepted = frame.mapInArrow(_writer(dsn, schema, table), "task BIGINT").toArrow()
    notes.execute(
        sql.SQL("DELETE FROM {} WHERE {} <> ALL (%s)").format(
            sql.Identifier(schema, table), sql.Identifier(TASK_COLUMN)
        ),
        (accepted.column("task").to_pylist(),),
    )


def _writer(dsn: str, schema: str, table: str) -> Callable[[Batches], Batches]:
    def write(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        task = context.taskAttemptId()
        with connect(dsn) as connection, connection.cursor() as cursor:
            for batch in batches:
                if batch.num_rows:
                    marks = pa.array([task] * batch.num_rows, pa.int64())
                    marked = batch.append_column(TASK_COLUMN, marks)
                    cursor.adbc_ingest(table, marked, mode="append", db_schema_name=schema)
            connection.commit()
        yield pa.record_batch([pa.array([task], pa.int64())], names=["task"])

    return write
