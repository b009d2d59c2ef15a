"""Renders expressions of Spark's list, each as PostgreSQL would compute it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.types import Type
from pgstream.engine.carriers import (
    BOOLEAN,
    MAX_DIGITS,
    QUOTIENT_SCALE,
    TEXT,
    Carrier,
    carrier_of,
    decimal,
    union_carrier,
)
from pgstream.errors import NumericRange


@dataclass(frozen=True, slots=True)
class Rendered:
    sql: str
    carrier: Carrier


def quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def cast(sql: str, carrier: Carrier) -> str:
    return f"CAST({sql} AS {carrier.spark})"


def render(expression: Expression, columns: Sequence[Rendered]) -> Rendered:
    match expression:
        case Ref(index):
            return columns[index]
        case Literal():
            return literal(expression)
        case Call():
            arguments = [render(argument, columns) for argument in expression.arguments]
            return RENDERERS[expression.function](expression, arguments)
    raise AssertionError(f"{expression!r} is not on Spark's list")


def literal(value: Literal) -> Rendered:
    type_ = value.type
    if value.text is None:
        carrier = carrier_of(type_)
        return Rendered(cast("NULL", carrier), carrier)
    if type_.is_numeric:
        return numeric_literal(value.text)
    carrier = carrier_of(type_)
    if type_.is_boolean:
        return Rendered("true" if value.text in ("t", "true") else "false", carrier)
    return Rendered(cast(quote(value.text), carrier) if type_.is_number else quote(value.text),
                    carrier)  # fmt: skip


def numeric_literal(text: str) -> Rendered:
    exponent = Decimal(text).as_tuple().exponent
    if not isinstance(exponent, int):
        raise NumericRange(f"The numeric constant {text} cannot be held by Spark.")
    carrier = decimal(max(-exponent, 0))
    return Rendered(cast(quote(text), carrier), carrier)


# --- arithmetic -----------------------------------------------------------------------------


def arithmetic(call: Call, args: list[Rendered]) -> Rendered:
    """The operands widen to PostgreSQL's result type first."""
    if call.type.is_numeric:
        return numeric_arithmetic(call.function, *args)
    carrier = carrier_of(call.type)
    left, right = (cast(a.sql, carrier) for a in args)
    if call.type.is_float:
        return Rendered(float_arithmetic(call.function, left, right, carrier), carrier)
    operator = call.function
    if operator == "/":
        return Rendered(cast(f"({left} div {right})", carrier), carrier)
    return Rendered(cast(f"({left} {operator} {right})", carrier), carrier)


# What PostgreSQL calls an error where Spark goes on with infinity or zero; p.l and p.r are the
# operands, r is the result.
FLOAT_ERRORS = {
    "+": {"overflow": "{inf_r} AND NOT {inf_left} AND NOT {inf_right}"},
    "-": {"overflow": "{inf_r} AND NOT {inf_left} AND NOT {inf_right}"},
    "*": {
        "overflow": "{inf_r} AND NOT {inf_left} AND NOT {inf_right}",
        "underflow": "{r} = 0 AND p.l <> 0 AND p.r <> 0",
    },
    "/": {
        "overflow": "{inf_r} AND NOT {inf_left}",
        "underflow": "{r} = 0 AND p.l <> 0 AND NOT {inf_right}",
    },
}


def float_arithmetic(operator: str, left: str, right: str, carrier: Carrier) -> str:
    """The operands are written once, into a struct: expressions nest."""
    result = cast(f"p.l {operator} p.r", carrier)
    names = {"r": result, "inf_r": is_infinite(result), "inf_left": is_infinite("p.l"),
             "inf_right": is_infinite("p.r")}  # fmt: skip
    whens = [
        f"WHEN {test.format(**names)} THEN raise_error('value out of range: {error}')"
        for error, test in FLOAT_ERRORS[operator].items()
    ]
    if operator == "/":
        whens.insert(0, "WHEN p.r = 0 AND isnan(p.l) THEN p.l")
    checked = f"CASE {' '.join(whens)} ELSE {result} END"
    operands = f"array(named_struct('l', {left}, 'r', {right}))"
    return f"transform({operands}, p -> {cast(checked, carrier)})[0]"


def is_infinite(sql: str) -> str:
    return f"(abs({sql}) = double('Infinity'))"


def numeric_arithmetic(operator: str, left: Rendered, right: Rendered) -> Rendered:
    first, second = left.carrier.scale or 0, right.carrier.scale or 0
    if operator == "/":
        carrier = decimal(QUOTIENT_SCALE, trimmed=True)
        scales = ", ".join(f"{known_scale(side)}, {side.carrier.scale}" for side in (left, right))
        return Rendered(f"pgs_divide({left.sql}, {right.sql}, {scales})", carrier)
    scale = first + second if operator == "*" else max(first, second)
    if scale > MAX_DIGITS:
        raise NumericRange(
            f"A product of numerics with {first} and {second} decimals needs {scale} decimals; "
            f"Spark holds {MAX_DIGITS} digits.",
            hint="Declare the columns as numeric(p, s), or round them in a subquery.",
        )
    carrier = decimal(scale, left.carrier, right.carrier)
    return Rendered(cast(f"({left.sql} {operator} {right.sql})", carrier), carrier)


def known_scale(value: Rendered) -> int:
    """The scale that each value has by itself; -1 if only the largest is known."""
    unknown = value.carrier.loose or value.carrier.trimmed
    return -1 if unknown else value.carrier.scale or 0


def negate(call: Call, args: list[Rendered]) -> Rendered:
    return Rendered(opposite(args[0]), args[0].carrier)


def absolute(call: Call, args: list[Rendered]) -> Rendered:
    value = args[0]
    if value.carrier.scale is None:
        return Rendered(f"abs({value.sql})", value.carrier)
    chosen = f"CASE WHEN {value.sql} < 0 THEN {opposite(value)} ELSE {value.sql} END"
    return Rendered(f"({chosen})", value.carrier)


def opposite(value: Rendered) -> str:
    """Spark's own minus and abs round a decimal to 34 digits."""
    if value.carrier.scale is None:
        return f"(- {value.sql})"
    return cast(f"({cast('0', value.carrier)} - {value.sql})", value.carrier)


# --- comparison and logic -------------------------------------------------------------------


def aligned(*values: Rendered) -> list[str]:
    """Numerics with one scale. Spark's own common type of two decimals may give up digits."""
    if len({value.carrier.scale for value in values}) < 2:
        return [value.sql for value in values]
    carrier = common(values)
    return [cast(value.sql, carrier) for value in values]


def comparable(argument: Rendered, type_: Type) -> str:
    """A form that Spark orders as PostgreSQL does. Dates and times become a struct of what comes
    first and last, the year, and the text: within a year the text is in order."""
    if not type_.is_time:
        return argument.sql
    text = argument.sql
    sign = f"CASE WHEN endswith({text}, ' BC') THEN '-' ELSE '' END"
    return (
        f"CASE WHEN {text} IS NOT NULL THEN named_struct("
        f"'end', CASE {text} WHEN '-infinity' THEN -1 WHEN 'infinity' THEN 1 ELSE 0 END, "
        f"'year', try_cast(concat({sign}, substring_index({text}, '-', 1)) AS INT), "
        f"'text', {text}) END"
    )


def carried(sql: str, argument: Rendered, type_: Type) -> str:
    """A comparable value back in its carrier."""
    return f"{sql}.`text`" if type_.is_time else cast(sql, argument.carrier)


def comparison(call: Call, args: list[Rendered]) -> Rendered:
    if call.arguments[0].type.is_numeric:
        left, right = aligned(*args)
    else:
        left, right = (comparable(a, e.type) for a, e in zip(args, call.arguments, strict=True))
    return Rendered(f"({left} {call.function} {right})", BOOLEAN)


def equality(call: Call, args: list[Rendered]) -> Rendered:
    """Canonical text is equal where the values are: no cast, so that infinity works."""
    left, right = aligned(*args)
    operators = {
        "=": f"({left} = {right})",
        "<>": f"({left} <> {right})",
        "is distinct from": f"(NOT ({left} <=> {right}))",
        "is not distinct from": f"({left} <=> {right})",
    }
    return Rendered(operators[call.function], BOOLEAN)


def membership(call: Call, args: list[Rendered]) -> Rendered:
    value, *listed = aligned(*args)
    return Rendered(f"({value} IN ({', '.join(listed)}))", BOOLEAN)


def logic(call: Call, args: list[Rendered]) -> Rendered:
    word = f" {call.function.upper()} "
    return Rendered("(" + word.join(a.sql for a in args) + ")", BOOLEAN)


def negation(call: Call, args: list[Rendered]) -> Rendered:
    return Rendered(f"(NOT {args[0].sql})", BOOLEAN)


def test(call: Call, args: list[Rendered]) -> Rendered:
    return Rendered(f"({args[0].sql} {call.function.upper()})", BOOLEAN)


# --- choices --------------------------------------------------------------------------------


def common(args: Sequence[Rendered]) -> Carrier:
    carrier = args[0].carrier
    for argument in args[1:]:
        carrier = union_carrier(carrier, argument.carrier)
    return carrier


def case(call: Call, args: list[Rendered]) -> Rendered:
    results = [*args[1::2], args[-1]]
    carrier = common(results)
    whens = " ".join(
        f"WHEN {when.sql} THEN {cast(then.sql, carrier)}"
        for when, then in zip(args[0:-1:2], args[1::2], strict=True)
    )
    return Rendered(f"(CASE {whens} ELSE {cast(args[-1].sql, carrier)} END)", carrier)


def coalesce(call: Call, args: list[Rendered]) -> Rendered:
    carrier = common(args)
    listed = ", ".join(cast(a.sql, carrier) for a in args)
    return Rendered(f"coalesce({listed})", carrier)


def nullif(call: Call, args: list[Rendered]) -> Rendered:
    left, right = aligned(*args)
    kept = args[0]
    return Rendered(f"(CASE WHEN {left} = {right} THEN NULL ELSE {kept.sql} END)", kept.carrier)


def extreme(call: Call, args: list[Rendered]) -> Rendered:
    """The greatest or least of the values that are not NULL."""
    carrier = common(args)
    if len(args) == 1:
        return args[0]
    listed = [comparable(a, e.type) for a, e in zip(args, call.arguments, strict=True)]
    if call.type.is_numeric:
        listed = aligned(*args)
    widest = Rendered("", carrier)
    chosen = f"{call.function}({', '.join(listed)})"
    return Rendered(carried(chosen, widest, call.type), carrier)


# --- text and casts -------------------------------------------------------------------------


def concatenation(call: Call, args: list[Rendered]) -> Rendered:
    return Rendered(f"concat({', '.join(a.sql for a in args)})", TEXT)


def length(call: Call, args: list[Rendered]) -> Rendered:
    return Rendered(f"length({args[0].sql})", carrier_of(call.type))


def split_part(call: Call, args: list[Rendered]) -> Rendered:
    return Rendered(f"split_part({', '.join(a.sql for a in args)})", TEXT)


def conversion(call: Call, args: list[Rendered]) -> Rendered:
    (argument,), source, target = args, call.arguments[0].type, call.type
    if target.is_numeric:
        return to_numeric(argument, source, target)
    carrier = carrier_of(target)
    if target.is_integer and source.is_numeric:  # PostgreSQL rounds half away from zero
        return Rendered(cast(f"round({argument.sql}, 0)", carrier), carrier)
    if target.is_integer and source.is_float:  # PostgreSQL rounds half to even
        return Rendered(cast(f"rint({argument.sql})", carrier), carrier)
    converted = argument.sql if carrier == argument.carrier else cast(argument.sql, carrier)
    if target.is_text and "(" in target.declared:
        width = target.declared[target.declared.index("(") + 1 : -1]
        converted = f"substring({converted}, 1, {width})"
    return Rendered(converted, carrier)


def to_numeric(argument: Rendered, source: Type, target: Type) -> Rendered:
    digits = target.digits
    if digits is None:
        carrier = argument.carrier if source.is_numeric else decimal(0)
        return Rendered(cast(argument.sql, carrier), carrier)
    precision, scale = digits
    narrow = f"CAST({argument.sql} AS DECIMAL({precision},{scale}))"
    carrier = decimal(scale)
    return Rendered(cast(narrow, carrier), carrier)


Renderer = Callable[[Call, list[Rendered]], Rendered]

RENDERERS: dict[str, Renderer] = {
    **dict.fromkeys(("+", "-", "*", "/", "%"), arithmetic),
    **dict.fromkeys(("<", "<=", ">", ">="), comparison),
    **dict.fromkeys(("=", "<>", "is distinct from", "is not distinct from"), equality),
    **dict.fromkeys(("and", "or"), logic),
    **dict.fromkeys(("greatest", "least"), extreme),
    **dict.fromkeys(
        [f"is {n}{w}" for n in ("", "not ") for w in ("null", "true", "false", "unknown")], test
    ),
    "negate": negate,
    "abs": absolute,
    "in": membership,
    "not": negation,
    "case": case,
    "coalesce": coalesce,
    "nullif": nullif,
    "cast": conversion,
    "||": concatenation,
    "length": length,
    "split_part": split_part,
}
