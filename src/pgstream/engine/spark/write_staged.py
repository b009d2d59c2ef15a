"""write_staged: executors write a large result to a staging table in parallel.

Each task marks its rows with its attempt, and tells its mark. The rows of attempts that Spark did
not accept are removed, so a retried task writes nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from pgstream.engine.postgres.staging import STATE_SCHEMA, TASK_COLUMN, Staging
from pgstream.engine.spark.adbc import connect

Batches = Iterator[pa.RecordBatch]


def write_staged(frame: DataFrame, dsn: str, staging: Staging) -> None:
    """One action."""
    accepted = frame.mapInArrow(_writer(dsn, staging.name), "task BIGINT").toArrow()
    staging.keep(accepted.column("task").to_pylist())


def _writer(dsn: str, table: str) -> Callable[[Batches], Batches]:
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
                    cursor.adbc_ingest(table, marked, mode="append", db_schema_name=STATE_SCHEMA)
            connection.commit()
        yield pa.record_batch([pa.array([task], pa.int64())], names=["task"])

    return write
