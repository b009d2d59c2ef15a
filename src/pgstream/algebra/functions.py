"""Spark's list: the expressions that Spark evaluates exactly as PostgreSQL does.

`spark_refusal` names the first part of an expression that is not on the list. Such a part
is computed by PostgreSQL while it reads the table, or the query is refused.
"""

from __future__ import annotations

from collections.abc import Callable

from pgstream.algebra.expressions import Call, Expression, Literal, Native, walk
from pgstream.algebra.types import Type

# Types whose text is equal exactly where PostgreSQL says the values are equal.
FAITHFUL_TEXT = frozenset(
    ("uuid", "bytea", "character", "time without time zone", "inet", "cidr", "macaddr", "oid",
     "name", '"char"')
)  # fmt: skip


def can_be_key(type_: Type) -> bool:
    """Whether Spark groups and joins on the type as PostgreSQL does."""
    native = type_.is_number or type_.is_text or type_.is_boolean or type_.is_time
    return native or type_.category == "E" or type_.name in FAITHFUL_TEXT


def can_be_ordered(type_: Type) -> bool:
    """Whether Spark orders the type as PostgreSQL does."""
    if type_.is_text:
        return not type_.collation
    return type_.is_number or type_.is_boolean or type_.is_time


def _numbers(call: Call) -> bool:
    types = [argument.type for argument in call.arguments]
    if not all(t.is_number for t in types):
        return False
    return len({_family(t) for t in types}) == 1


def _family(type_: Type) -> str:
    return "integer" if type_.is_integer else type_.name


def _exact_numbers(call: Call) -> bool:
    return _numbers(call) and not call.arguments[0].type.is_float


def _comparable(types: list[Type]) -> bool:
    """Of one family, so that Spark compares what PostgreSQL compares."""
    first = types[0]
    if first.is_number:
        return all(t.is_number and _family(t) == _family(first) for t in types)
    if first.is_text:
        return all(t.is_text for t in types)
    return all(t.name == first.name for t in types)


def _equality(call: Call) -> bool:
    types = [argument.type for argument in call.arguments]
    return _comparable(types) and all(can_be_key(t) for t in types)


def _order(call: Call) -> bool:
    types = [argument.type for argument in call.arguments]
    return _comparable(types) and all(can_be_ordered(t) for t in types)


def _booleans(call: Call) -> bool:
    return all(argument.type.is_boolean for argument in call.arguments)


def _texts(call: Call) -> bool:
    return all(argument.type.is_text for argument in call.arguments)


def _same_type(call: Call) -> bool:
    return all(argument.type.name == call.type.name for argument in call.arguments)


def _case(call: Call) -> bool:
    whens = call.arguments[0:-1:2]
    results = (*call.arguments[1::2], call.arguments[-1])
    return all(w.type.is_boolean for w in whens) and all(
        r.type.name == call.type.name for r in results
    )


def _anything(call: Call) -> bool:
    return True


def _split_part(call: Call) -> bool:
    text, separator, place = call.arguments
    return (
        text.type.is_text
        and isinstance(separator, Literal)
        and bool(separator.text)
        and isinstance(place, Literal)
        and place.text not in (None, "0")
    )


def _cast(call: Call) -> bool:
    source, target = call.arguments[0].type, call.type
    if source.is_text and target.is_text:
        return True
    if source.name == target.name:
        return True
    if source.is_integer:
        return target.is_number or target.is_text
    if source.is_numeric:
        return target.is_integer or target.is_float
    if source.is_float:
        return target.is_integer or target.name == "double precision"
    if source.is_boolean:
        return target.name == "integer" or target.is_text
    return source.name == "character" and target.is_text


SPARK_LIST: dict[str, Callable[[Call], bool]] = {
    "+": _numbers,
    "-": _numbers,
    "*": _numbers,
    "/": _numbers,
    "%": _exact_numbers,
    "negate": _numbers,
    "abs": _numbers,
    "=": _equality,
    "<>": _equality,
    "is distinct from": _equality,
    "is not distinct from": _equality,
    "<": _order,
    "<=": _order,
    ">": _order,
    ">=": _order,
    "in": _equality,
    "and": _booleans,
    "or": _booleans,
    "not": _booleans,
    "is null": _anything,
    "is not null": _anything,
    "is true": _booleans,
    "is not true": _booleans,
    "is false": _booleans,
    "is not false": _booleans,
    "is unknown": _booleans,
    "is not unknown": _booleans,
    "case": _case,
    "coalesce": _same_type,
    "nullif": _equality,
    "greatest": _order,
    "least": _order,
    "cast": _cast,
    "||": _texts,
    "length": _texts,
    "split_part": _split_part,
}


def spark_refusal(expression: Expression) -> str | None:
    """What in the expression Spark must not evaluate; None if all of it is on the list."""
    parts = list(walk(expression))
    for part in parts:
        if isinstance(part, Native):
            return part.label
    for part in parts:
        if isinstance(part, Call):
            allowed = SPARK_LIST.get(part.function)
            if allowed is None or not allowed(part):
                types = ", ".join(str(argument.type) for argument in part.arguments)
                return f"{part.function} on ({types})"
    return None


def divides_numerics(expression: Expression) -> bool:
    """A quotient of numerics has digits that depend on the digits of its operands."""
    return any(
        isinstance(part, Call) and part.function == "/" and part.type.is_numeric
        for part in walk(expression)
    )


def aggregate_refusal(function: str, type_: Type | None) -> str | None:
    """Why an aggregate of this type is not maintained; None if it is."""
    if type_ is None or function == "count":
        return None
    fine = can_be_ordered(type_) if function in ("min", "max") else type_.is_number
    return None if fine else f"{function}({type_})"
