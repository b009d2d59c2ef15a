"""Spark's list: the expressions that Spark evaluates exactly as PostgreSQL does.

`spark_refusal` names the first part of an expression that is not on the list. Such a part
is computed by PostgreSQL while it reads the table, or the query is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pgstream.algebra.expressions import Call, Expression, Literal, Native, Ref, walk
from pgstream.algebra.types import Equality, Type

SPARK_DIGITS = 38
CONTAINERS = "ACR"  # arrays, composites, ranges


def can_be_key(type_: Type) -> bool:
    """Whether Spark groups and joins on the type as PostgreSQL does."""
    return type_.compares <= Equality.CANONICAL


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


def _division(call: Call) -> bool:
    """PostgreSQL divides numerics, with its own digits, where those of the operands are known;
    Spark divides the others, and fails where the quotient's digits depend on what is unknown."""
    if not call.type.is_numeric:
        return _numbers(call)
    columns = [part.type for part in walk(call) if isinstance(part, Ref)]
    return _numbers(call) and any(t.is_numeric and not t.digits for t in columns)


def is_comparable(types: Sequence[Type]) -> bool:
    """Of one family, so that Spark compares what PostgreSQL compares."""
    first = types[0]
    if first.is_number:
        return all(t.is_number and _family(t) == _family(first) for t in types)
    if first.is_text:
        return all(t.is_text for t in types)
    return all(t.name == first.name for t in types)


def same_spelling(types: Sequence[Type]) -> bool:
    """Whether equal values of the types have one text: those of numeric(4,1)[] and of
    numeric(4,2)[] have not, nor have numerics that travel as text."""
    if len({t.compares for t in types}) > 1:
        return False
    by_digits = types[0].category in CONTAINERS or types[0].as_text
    if not by_digits or types[0].compares is not Equality.TEXT:
        return True
    return len({t.declared for t in types}) == 1


def _equality(call: Call) -> bool:
    types = [argument.type for argument in call.arguments]
    return is_comparable(types) and all(can_be_key(t) for t in types) and same_spelling(types)


def _order(call: Call) -> bool:
    types = [argument.type for argument in call.arguments]
    return is_comparable(types) and all(can_be_ordered(t) for t in types)


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


def _one_null(call: Call) -> bool:
    """A row of NULLs IS NULL, too."""
    return call.arguments[0].type.category != "C"


def _split_part(call: Call) -> bool:
    text, separator, position = call.arguments
    return (
        text.type.is_text
        and isinstance(separator, Literal)
        and bool(separator.text)
        and isinstance(position, Literal)
        and position.text not in (None, "0")
    )


def _cast(call: Call) -> bool:
    source, target = call.arguments[0].type, call.type
    if target.declared.partition("(")[0] != target.name:  # a domain checks; timestamp(3) rounds
        return False
    if target.is_text:
        return (
            source.is_text or source.is_integer or source.is_boolean or source.name == "character"
        )
    if target.is_numeric:
        return (source.is_integer or source.is_numeric) and _is_decimal(target)
    if source.name == target.name:
        return target.declared == target.name
    if source.is_integer or source.is_numeric:
        return target.is_integer or target.is_float
    if source.is_boolean:
        return target.name == "integer"
    if target.is_integer:  # the largest bigint is no float: Spark's check lets 2^63 pass
        return source.is_float and target.name != "bigint"
    return source.name == "real" and target.name == "double precision"


def _is_decimal(type_: Type) -> bool:
    """Whether Spark has the type, if it has digits: PostgreSQL's scale may be negative."""
    if type_.digits is None:
        return True
    precision, scale = type_.digits
    return precision <= SPARK_DIGITS and 0 <= scale <= precision


def _is_held(literal: Literal) -> bool:
    """Whether Spark holds the constant: NaN and infinity are no decimals."""
    if not literal.type.is_numeric or literal.text is None:
        return True
    digits = literal.text.lstrip("-").replace(".", "", 1)
    return digits.isdigit() and len(digits) <= SPARK_DIGITS


SPARK_LIST: dict[str, Callable[[Call], bool]] = {
    "+": _numbers,
    "-": _numbers,
    "*": _numbers,
    "/": _division,
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
    "is null": _one_null,
    "is not null": _one_null,
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
        if isinstance(part, Literal) and not _is_held(part):
            return f"the constant {part.text}"
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
    if function in ("min", "max"):
        fine = can_be_ordered(type_)
    elif function in ("sum", "avg"):
        fine = type_.is_number
    else:
        fine = type_.is_integer or type_.is_numeric
    return None if fine else f"{function}({type_})"
