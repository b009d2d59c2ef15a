"""Window functions, over rows that occur as often as their weight says."""

from pgstream.algebra.operators.window import Window, WindowCall
from pgstream.algebra.placement.windows import spark_form
from pgstream.algebra.types import Type
from pgstream.engine.carriers import BIGINT, carrier_of, decimal
from pgstream.engine.spark.expressions import Rendered, carried, cast, common, comparable, render
from pgstream.engine.spark.relation import Relation, select
from pgstream.engine.spark.render.aggregate import average

CARRIED = ("lag", "lead", "first_value", "last_value", "nth_value")


def window(node: Window, input: Relation) -> Relation:
    columns = input.columns()
    types = [column.type for column in node.input.columns]
    calls = [value_of(call, node.keys, columns, types) for call in node.calls]
    copies = f"SELECT *, explode(sequence(CAST(1 AS BIGINT), w)) AS copy FROM ({input.sql})"
    rows = f"(SELECT *, monotonically_increasing_id() AS row_position FROM ({copies}))"
    return select([*columns, *calls], "CAST(1 AS BIGINT)", rows)


def value_of(
    call: WindowCall, keys: tuple[int, ...], columns: list[Rendered], types: list[Type]
) -> Rendered:
    over = f"OVER ({specification(call, keys, columns, types)})"
    arguments = [render(argument, columns) for argument in call.arguments]
    name = call.function
    if name == "count":
        counted = f"CASE WHEN {arguments[0].sql} IS NOT NULL THEN 1 END" if arguments else "1"
        return Rendered(f"count({only(call, columns, counted)}) {over}", BIGINT)
    if name in ("sum", "avg"):
        return total(call, only(call, columns, arguments[0].sql), arguments[0], over)
    if name in ("min", "max"):
        value = only(call, columns, comparable(arguments[0], call.type))
        extreme = carried(f"({name}({value}) {over})", arguments[0], call.type)
        return Rendered(extreme, arguments[0].carrier)
    listed = [argument.sql for argument in arguments]
    if name in CARRIED:
        defaults = arguments[2:]
        kept = common([arguments[0], *defaults])
        if defaults:  # one may have more decimals than the values
            listed[0] = cast(listed[0], kept)
            listed[2:] = [cast(default.sql, kept) for default in defaults]
        return Rendered(f"{name}({', '.join(listed)}) {over}", kept)
    carrier = carrier_of(call.type)
    return Rendered(cast(f"{name}({', '.join(listed)}) {over}", carrier), carrier)


def specification(
    call: WindowCall, keys: tuple[int, ...], columns: list[Rendered], types: list[Type]
) -> str:
    form = spark_form(call, types)
    assert form is not None
    order = [o.written(comparable(columns[o.index], types[o.index])) for o in call.order]
    if form.ties:
        # By its position, a row stands with its copies in one order in all windows.
        order += [*(column.sql for column in columns), "row_position"]
    parts = []
    if keys:
        parts.append("PARTITION BY " + ", ".join(columns[i].sql for i in keys))
    parts.append("ORDER BY " + (", ".join(order) or "1"))
    return " ".join([*parts, form.frame])


def only(call: WindowCall, columns: list[Rendered], value: str) -> str:
    if call.condition is None:
        return value
    return f"CASE WHEN {columns[call.condition].sql} THEN {value} END"


def total(call: WindowCall, value: str, argument: Rendered, over: str) -> Rendered:
    """Sums and averages, in the type in which PostgreSQL sums."""
    number = Rendered(f"(count({value}) {over})", BIGINT)
    if call.type.is_float:
        double = carrier_of(call.type)
        summed = Rendered(cast(f"(sum(CAST({value} AS DOUBLE)) {over})", double), double)
    elif call.type.is_numeric:
        exact = decimal(argument.carrier.scale or 0, argument.carrier)
        summed = Rendered(cast(f"(sum({cast(value, exact)}) {over})", exact), exact)
    else:
        return Rendered(f"sum(CAST({value} AS BIGINT)) {over}", BIGINT)
    return summed if call.function == "sum" else average(summed, number, call.type)
