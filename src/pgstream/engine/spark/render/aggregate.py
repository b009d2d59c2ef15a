"""Aggregates that know weights: count = Σw, sum = Σw·x, avg = Σw·x / Σw."""

from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.types import DOUBLE, NUMERIC, Type
from pgstream.engine.carriers import BIGINT, carrier_of, decimal
from pgstream.engine.spark.expressions import (
    Rendered,
    carried,
    cast,
    comparable,
    numeric_arithmetic,
)
from pgstream.engine.spark.relation import Relation, select

OVERFLOW = "value out of range: overflow"
TOO_MANY = "more than one row returned by a subquery used as an expression"


def aggregate(node: Aggregate, input: Relation) -> Relation:
    columns = input.columns()
    types = [column.type for column in node.input.columns]
    keys = [columns[i] for i in node.keys]
    calls = [value_of(call, columns, types) for call in node.calls]
    grouped = select([*keys, *calls], "CAST(1 AS BIGINT)", f"({input.sql})")
    if not keys:
        return grouped
    by = ", ".join(key.sql for key in keys)
    return Relation(f"{grouped.sql} GROUP BY {by} HAVING SUM(w) > 0", grouped.carriers)


def value_of(call: AggregateCall, columns: list[Rendered], types: list[Type]) -> Rendered:
    if call.argument is None:
        return Rendered("coalesce(SUM(w), 0)", BIGINT)
    argument, type_ = columns[call.argument], types[call.argument]
    if call.function == "count":
        return present(argument)
    if call.function in ("min", "max"):
        return extreme(call.function, argument, type_)
    if call.function == "single":
        chosen = (
            f"CASE WHEN SUM(w) > 1 THEN raise_error('{TOO_MANY}') ELSE first({argument.sql}) END"
        )
        return Rendered(cast(chosen, argument.carrier), argument.carrier)
    total = weighted_sum(argument, type_)
    if call.function == "sum":
        carrier = total.carrier if call.type.is_numeric else carrier_of(call.type)
        result = cast(total.sql, carrier)
        is_single = call.type.is_float and carrier != total.carrier
        return Rendered(finite(result, argument) if is_single else result, carrier)
    return average(total, present(argument), call.type)


def present(argument: Rendered) -> Rendered:
    counted = f"SUM(CASE WHEN {argument.sql} IS NULL THEN 0 ELSE w END)"
    return Rendered(f"coalesce({counted}, 0)", BIGINT)


def weighted_sum(argument: Rendered, type_: Type) -> Rendered:
    """Σ w·x in the type in which PostgreSQL sums: bigint, numeric or double precision."""
    if type_.is_float:
        total = f"SUM(CAST({argument.sql} AS DOUBLE) * w)"
        return Rendered(finite(total, argument), carrier_of(DOUBLE))
    if type_.is_numeric or type_.name == "bigint":
        carrier = decimal(argument.carrier.scale or 0, argument.carrier)
        product = cast(f"{cast(argument.sql, carrier)} * CAST(w AS DECIMAL(19,0))", carrier)
        return Rendered(cast(f"SUM({product})", carrier), carrier)
    return Rendered(f"SUM(CAST({argument.sql} AS BIGINT) * w)", BIGINT)


def finite(total: str, argument: Rendered) -> str:
    """An overflow is an error: a sum is infinite only where one of its terms is."""
    infinite = "DOUBLE('Infinity')"
    given = f"coalesce(bool_or(abs({argument.sql}) = {infinite}), false)"
    return (
        f"CASE WHEN abs({total}) = {infinite} AND NOT {given} THEN raise_error('{OVERFLOW}')"
        f" ELSE {total} END"
    )


def extreme(function: str, argument: Rendered, type_: Type, only: str | None = None) -> Rendered:
    """The least or greatest value, compared as its type compares."""
    value = comparable(argument, type_)
    if only is not None:
        value = f"CASE WHEN {only} THEN {value} END"
    return Rendered(carried(f"{function}({value})", argument, type_), argument.carrier)


def average(total: Rendered, number: Rendered, type_: Type) -> Rendered:
    if type_.is_float:
        quotient = f"{total.sql} / CAST({number.sql} AS DOUBLE)"
        carrier = carrier_of(type_)
        return Rendered(f"CASE WHEN {number.sql} <> 0 THEN {quotient} END", carrier)
    exact = decimal(total.carrier.scale or 0, total.carrier)
    divided = numeric_arithmetic(
        "/",
        Rendered(cast(total.sql, exact), exact),
        Rendered(cast(number.sql, carrier_of(NUMERIC)), carrier_of(NUMERIC)),
    )
    return Rendered(f"CASE WHEN {number.sql} <> 0 THEN {divided.sql} END", divided.carrier)
