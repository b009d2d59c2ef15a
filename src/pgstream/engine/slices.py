"""A Python data source: executors read slices of a table under one exported snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pgstream.engine.adbc import connect


@dataclass
class Slice(InputPartition):
    sql: str


class SliceSource(DataSource):
    """Options: `dsn`, `snapshot`, and `slice_0` … `slice_<count - 1>`: one query each."""

    @classmethod
    def name(cls) -> str:
        return "pgstream_slices"

    def reader(self, schema: StructType) -> DataSourceReader:
        return SliceReader(dict(self.options), schema)


class SliceReader(DataSourceReader):
    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        self.dsn, self.snapshot = options["dsn"], options["snapshot"]
        self.queries = [options[f"slice_{i}"] for i in range(int(options["count"]))]
        self.schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        return [Slice(sql) for sql in self.queries]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from pyspark.sql.pandas.types import to_arrow_schema

        assert isinstance(partition, Slice)
        wanted = to_arrow_schema(self.schema)
        with connect(self.dsn) as connection, connection.cursor() as cursor:
            for statement in session_statements(self.snapshot):
                cursor.execute(statement)
            cursor.execute(partition.sql)
            for batch in cursor.fetch_record_batch():
                yield batch.cast(wanted)
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
