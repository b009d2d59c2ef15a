"""A Python data source: executors write a large result to a staging table in parallel.

Each task marks its rows with its attempt. On commit the rows of attempts that Spark did
not accept are removed, so a retried task writes nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from pgstream.algebra.expressions import quote_name
from pgstream.engine.adbc import connect

TASK_COLUMN = "__pgs_task"


@dataclass
class Written(WriterCommitMessage):
    task: int


class StagingSource(DataSource):
    """Options: `dsn`, `db_schema`, `table`."""

    @classmethod
    def name(cls) -> str:
        return "pgstream_staging"

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        return StagingWriter(dict(self.options))


class StagingWriter(DataSourceArrowWriter):
    def __init__(self, options: dict[str, str]) -> None:
        self.dsn = options["dsn"]
        self.db_schema, self.table = options["db_schema"], options["table"]

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        from pyspark import TaskContext

        context = TaskContext.get()
        task = context.taskAttemptId() if context else 0
        with connect(self.dsn) as connection, connection.cursor() as cursor:
            for batch in iterator:
                if batch.num_rows:
                    marks = pa.array([task] * batch.num_rows, pa.int64())
                    marked = batch.append_column(TASK_COLUMN, marks)
                    cursor.adbc_ingest(
                        self.table, marked, mode="append", db_schema_name=self.db_schema
                    )
            connection.commit()
        return Written(task)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        accepted = ", ".join(str(m.task) for m in messages if isinstance(m, Written))
        table = f"{quote_name(self.db_schema)}.{quote_name(self.table)}"
        with connect(self.dsn) as connection, connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {table} WHERE {TASK_COLUMN} NOT IN ({accepted or '-1'})")
            connection.commit()
