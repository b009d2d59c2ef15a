"""Moves Arrow tables out of and into PostgreSQL: COPY in CSV, which pyarrow reads and writes."""

from __future__ import annotations

import io
from collections.abc import Sequence

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from psycopg import sql

_READ = {"true_values": ["t"], "false_values": ["f"], "null_values": [""],
         "strings_can_be_null": True, "quoted_strings_can_be_null": False}  # fmt: skip


def copy_out(
    connection: psycopg.Connection, query: sql.Composable, types: Sequence[pa.DataType]
) -> pa.Table:
    """The rows of the query; column i is named c<i> and has the type types[i]."""
    names = [f"c{i}" for i in range(len(types))]
    buffer = io.BytesIO()
    statement = sql.SQL("COPY ({}) TO STDOUT (FORMAT csv)").format(query)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for block in copy:
            buffer.write(block)
    if not buffer.tell():
        return pa.schema(list(zip(names, types, strict=True))).empty_table()
    buffer.seek(0)
    return pa_csv.read_csv(
        buffer,
        read_options=pa_csv.ReadOptions(column_names=names, block_size=1 << 24),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict(zip(names, types, strict=True)), **_READ
        ),
    )


def copy_in(connection: psycopg.Connection, table: sql.Composable, rows: pa.Table) -> None:
    """Appends the rows to the table, whose columns are in the same order."""
    if rows.num_rows == 0:
        return
    columns = [
        pc.cast(column, pa.string()) if pa.types.is_decimal(column.type) else column
        for column in rows.columns
    ]
    buffer = io.BytesIO()
    plain = pa.table(columns, names=rows.column_names)
    pa_csv.write_csv(plain, buffer, pa_csv.WriteOptions(include_header=False))
    statement = sql.SQL("COPY {} FROM STDIN (FORMAT csv)").format(table)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(buffer.getvalue())


def copy_across(
    source: psycopg.Connection,
    query: sql.Composable,
    target: psycopg.Connection,
    table: sql.Composable,
) -> None:
    """Appends the rows of the query to a table that another connection sees, block by block."""
    read = sql.SQL("COPY ({}) TO STDOUT (FORMAT binary)").format(query)
    written = sql.SQL("COPY {} FROM STDIN (FORMAT binary)").format(table)
    with (
        source.cursor() as reading,
        target.cursor() as writing,
        reading.copy(read) as blocks,
        writing.copy(written) as copy,
    ):
        for block in blocks:
            copy.write(block)
