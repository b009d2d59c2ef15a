"""Scalar expressions over the columns of one relation, and how PostgreSQL writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pgstream.algebra.types import BOOLEAN, Type

INFIX = frozenset(
    (*"+ - * / % = <> < <= > >= || and or".split(), "is distinct from", "is not distinct from")
)
POSTFIX = frozenset(
    f"is {word}"
    for word in ("null", "not null", "true", "not true", "false", "not false", "unknown",
                 "not unknown")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ref:
    """The column at `index` of the input."""

    index: int
    type: Type


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant, in PostgreSQL's canonical text; None is NULL."""

    text: str | None
    type: Type


@dataclass(frozen=True, slots=True)
class Call:
    """An operator, a function or a syntax form (`case`, `cast`, `coalesce`, `in` …)."""

    function: str
    arguments: tuple[Expression, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Native:
    """An expression that only PostgreSQL evaluates: its text with a slot per argument."""

    pieces: tuple[str, ...]
    arguments: tuple[Expression, ...]
    type: Type
    label: str


Expression = Ref | Literal | Call | Native


def arguments(expression: Expression) -> tuple[Expression, ...]:
    return expression.arguments if isinstance(expression, Call | Native) else ()


def walk(expression: Expression) -> Iterator[Expression]:
    yield expression
    for argument in arguments(expression):
        yield from walk(argument)


def refs(expression: Expression) -> frozenset[int]:
    return frozenset(e.index for e in walk(expression) if isinstance(e, Ref))


def transform(expression: Expression, change: Callable[[Ref], Expression]) -> Expression:
    """The expression with every column reference replaced."""
    if isinstance(expression, Ref):
        return change(expression)
    if isinstance(expression, Literal):
        return expression
    changed = tuple(transform(argument, change) for argument in expression.arguments)
    return replace(expression, arguments=changed)


def shift(expression: Expression, by: int) -> Expression:
    return transform(expression, lambda ref: Ref(ref.index + by, ref.type))


def plain_column(expression: Expression) -> int | None:
    """The column that the expression is, looking through casts that change nothing."""
    if isinstance(expression, Ref):
        return expression.index
    if isinstance(expression, Call) and expression.function == "cast":
        (inner,) = expression.arguments
        if inner.type.is_text and expression.type.is_text and "(" not in expression.type.declared:
            return plain_column(inner)
    return None


def conjuncts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call) and expression.function == "and":
        for argument in expression.arguments:
            yield from conjuncts(argument)
    else:
        yield expression


def conjunction(parts: Sequence[Expression]) -> Expression | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return Call("and", tuple(parts), BOOLEAN)


# --- the form in which values travel --------------------------------------------------------------

NULL_TESTS = ("is null", "is not null")


def choices(expression: Expression) -> tuple[list[Expression], list[Expression]]:
    """The values between which an expression chooses, and what decides."""
    if not isinstance(expression, Call) or expression.function not in ("case", "coalesce"):
        return [expression], []
    *given, last = expression.arguments
    is_case = expression.function == "case"
    chosen: list[Expression] = []
    tested: list[Expression] = given[0::2] if is_case else []
    for value in (*(given[1::2] if is_case else given), last):
        more, decides = choices(value)
        chosen += more
        tested += decides
    return chosen, tested


def values_read(expression: Expression) -> frozenset[int]:
    """The columns of which an expression reads more than whether they are NULL."""
    if isinstance(expression, Ref):
        return frozenset((expression.index,))
    if isinstance(expression, Literal):
        return frozenset()
    inner = expression.arguments
    if isinstance(expression, Call) and expression.function in NULL_TESTS:
        inner = tuple(part for part in inner if not isinstance(part, Ref))
    return frozenset(i for part in inner for i in values_read(part))


def travelling(expression: Expression, types: Sequence[Type]) -> Expression:
    """The expression over columns that travel in these types."""
    return transform(
        expression,
        lambda ref: Ref(ref.index, replace(ref.type, as_text=types[ref.index].as_text)),
    )


def in_form(expression: Expression, types: Sequence[Type], wanted: Type) -> Expression:
    """The same, as a value that travels in the type wanted."""
    over = travelling(expression, types)
    if wanted.as_text and isinstance(over, Call):  # it chooses between such values
        parts = tuple(
            in_form(part, types, replace(part.type, as_text=True))
            if part.type.name == wanted.name else part
            for part in over.arguments
        )  # fmt: skip
        over = replace(over, arguments=parts)
    return replace(over, type=wanted)


# --- as PostgreSQL writes them --------------------------------------------------------------------


def quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    if "\\" in text:
        return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    return "'" + text.replace("'", "''") + "'"


def to_postgres(expression: Expression, column: Callable[[int], str]) -> str:
    """The expression in PostgreSQL's own dialect; `column` writes a column."""

    def write(part: Expression) -> str:
        match part:
            case Ref(index):
                return column(index)
            case Literal(None, type_):
                return f"CAST(NULL AS {type_.declared})"
            case Literal(text, type_):
                return f"CAST({quote_text(text or '')} AS {type_.declared})"
            case Native(pieces, args):
                slots = [write(a) for a in args] + [""]
                return "".join(p + s for p, s in zip(pieces, slots, strict=True))
            case Call():
                return write_call(part, [write(a) for a in part.arguments])

    return write(expression)


def write_call(call: Call, args: list[str]) -> str:
    name = call.function
    if name in INFIX:
        return "(" + f" {name.upper()} ".join(args) + ")"
    if name in POSTFIX:
        return f"({args[0]} {name.upper()})"
    if name == "not":
        return f"(NOT {args[0]})"
    if name == "negate":
        return f"(- {args[0]})"
    if name == "cast":
        return f"CAST({args[0]} AS {call.type.declared})"
    if name == "in":
        return f"({args[0]} IN ({', '.join(args[1:])}))"
    if name == "case":
        pairs = zip(args[0:-1:2], args[1::2], strict=True)
        whens = " ".join(f"WHEN {when} THEN {then}" for when, then in pairs)
        return f"(CASE {whens} ELSE {args[-1]} END)"
    if name in ("coalesce", "nullif", "greatest", "least"):
        return f"{name.upper()}({', '.join(args)})"
    return f"{name}({', '.join(args)})"
