"""How a PostgreSQL value travels through Spark.

Numbers, booleans and text travel natively. A numeric travels as a decimal of 38 digits
whose scale is the column's, or the largest that occurs. Everything else travels as
PostgreSQL's own text (ISO dates, UTC), and comes back through a cast from text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from pgstream.algebra.types import Type
from pgstream.errors import NumericRange

MAX_DIGITS = 38
QUOTIENT_SCALE = 24

_NATIVE = {
    "smallint": ("SMALLINT", pa.int16()),
    "integer": ("INT", pa.int32()),
    "bigint": ("BIGINT", pa.int64()),
    "real": ("FLOAT", pa.float32()),
    "double precision": ("DOUBLE", pa.float64()),
    "boolean": ("BOOLEAN", pa.bool_()),
}
_WIDTHS = {"SMALLINT": 1, "INT": 2, "BIGINT": 3, "FLOAT": 4, "DOUBLE": 5}


@dataclass(frozen=True, slots=True)
class Carrier:
    """The Spark type of a value. `scale` is set for decimals.

    `loose`: a value's own scale may be smaller; the carrier's is the largest that occurs.
    `trimmed`: the scale is ours, so that trailing zeros mean nothing.
    """

    spark: str
    arrow: pa.DataType
    scale: int | None = None
    trimmed: bool = False
    loose: bool = False


TEXT = Carrier("STRING", pa.string())
BIGINT = Carrier("BIGINT", pa.int64())
BOOLEAN = Carrier("BOOLEAN", pa.bool_())


def decimal(scale: int, *like: Carrier, trimmed: bool = False) -> Carrier:
    """A decimal of this scale, loose or trimmed where one of those it is made of is."""
    if scale > MAX_DIGITS:
        raise NumericRange(
            f"A numeric has {scale} decimals; Spark holds {MAX_DIGITS} digits.",
            hint="Declare the columns as numeric(p, s), or round them in a subquery.",
        )
    return Carrier(
        f"DECIMAL({MAX_DIGITS},{scale})",
        pa.decimal128(MAX_DIGITS, scale),
        scale,
        trimmed or any(carrier.trimmed for carrier in like),
        any(carrier.loose for carrier in like),
    )


def carrier_of(type_: Type, scale: int | None = None) -> Carrier:
    """The carrier of a type; `scale` is that of an unconstrained numeric."""
    if type_.is_numeric:
        digits = type_.digits
        if digits is None and scale is not None:
            return replace(decimal(scale), loose=True)
        return decimal(max(digits[1], 0) if digits else 0)
    native = _NATIVE.get(type_.name)
    return Carrier(*native) if native else TEXT


def travels_as_text(type_: Type) -> bool:
    return type_.name not in _NATIVE


def union_carrier(first: Carrier, second: Carrier) -> Carrier:
    if first.scale is None or second.scale is None:
        return max(first, second, key=lambda carrier: _WIDTHS.get(carrier.spark, 0))
    return decimal(max(first.scale, second.scale), first, second)


_STAGED = {"INT": "integer", "FLOAT": "real", "DOUBLE": "double precision", "STRING": "text"}


def staged_type(carrier: Carrier) -> str:
    """The PostgreSQL type in which executors write a value; decimals go as text."""
    if carrier.scale is not None:
        return "text"
    return _STAGED.get(carrier.spark, carrier.spark.lower())
