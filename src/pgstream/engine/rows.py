"""Rows of a refresh: in the driver as Arrow tables, read by executors, or kept by them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pgstream.algebra.operators.scan import Field
from pgstream.algebra.types import Type
from pgstream.engine.carriers import Carrier, carrier_of
from pgstream.errors import NumericRange


@dataclass(frozen=True)
class Rows:
    """Rows in the driver: c0, c1, … and w, and how the columns are carried."""

    table: pa.Table
    carriers: tuple[Carrier, ...]
    places: pa.ChunkedArray | None = None
    """Where in their table the rows stand, if that was asked for."""


@dataclass(frozen=True)
class Large:
    """Rows that executors read: one query per slice; numerics come as text.

    `computed` rows were written during the refresh, so its snapshot does not show them.
    """

    queries: tuple[str, ...]
    carriers: tuple[Carrier, ...]
    rows: int
    computed: bool = False


@dataclass(frozen=True)
class Kept:
    """Rows that the executors have computed during the refresh: a view of theirs."""

    view: str
    carriers: tuple[Carrier, ...]


Bound = Rows | Large | Kept


def no_rows(types: Iterable[Type]) -> Rows:
    """No rows of columns of these types."""
    carriers = tuple(carrier_of(kind) for kind in types)
    schema = [(f"c{i}", carrier.arrow) for i, carrier in enumerate(carriers)]
    return Rows(pa.schema([*schema, ("w", pa.int64())]).empty_table(), carriers)


def carried(rows: pa.Table, fields: Sequence[Field]) -> Rows:
    """The rows, with numerics as decimals instead of texts."""
    columns, carriers = [], []
    for column, field_ in zip(rows.columns, fields, strict=False):
        carrier = carrier_of(field_.type)
        if field_.type.is_numeric:
            carrier = carrier_of(field_.type, largest_scale(column))
            column = to_decimal(column, carrier, field_)
        columns.append(column)
        carriers.append(carrier)
    names = [f"c{i}" for i in range(len(columns))]
    data = pa.table([*columns, rows.columns[-1]], names=[*names, "w"])
    return Rows(data, tuple(carriers))


def largest_scale(column: pa.ChunkedArray) -> int:
    point = pc.find_substring(column, ".")
    scales = pc.if_else(
        pc.less(point, 0), 0, pc.subtract(pc.subtract(pc.utf8_length(column), point), 1)
    )
    return int(pc.max(scales).as_py() or 0)


def to_decimal(column: pa.ChunkedArray, carrier: Carrier, field_: Field) -> pa.ChunkedArray:
    try:
        return pc.cast(column, carrier.arrow)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise NumericRange(
            f"Column {field_.name} holds a numeric that Spark cannot hold: NaN, infinity, "
            "or more than 38 digits.",
            hint="Declare the column as numeric(p, s) with p up to 38, or cast it.",
        ) from None


def as_texts(column: pa.ChunkedArray) -> list[str | None]:
    if pa.types.is_boolean(column.type):
        return [None if v is None else str(v).lower() for v in column.to_pylist()]
    return [None if v is None else str(v) for v in column.to_pylist()]


def consolidated(rows: pa.Table) -> pa.Table:
    """Equal rows once, with the sum of their weights, the last column; cancelled rows dropped."""
    *names, weight = rows.column_names
    if rows.num_rows > 1:
        grouped = rows.group_by(names, use_threads=False).aggregate([(weight, "sum")])
        rows = grouped.rename_columns({f"{weight}_sum": weight}).select([*names, weight])
    return rows.filter(pc.not_equal(rows.column(weight), 0))


def one_spelling(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Floats as PostgreSQL compares them: negative zero is zero, and there is one NaN."""
    if not pa.types.is_floating(column.type):
        return column
    zero = pa.scalar(0.0, column.type)
    return pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), column.type), pc.add(column, zero))
