"""Which window functions Spark computes as PostgreSQL does, and in what form.

The others are computed by PostgreSQL over the rows of the touched partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pgstream.algebra.expressions import Expression, Literal, to_postgres
from pgstream.algebra.operators.by_postgres import ROWS, ByPostgres, select
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.window import Frame, WindowCall
from pgstream.algebra.placement.canonical import own_spelling
from pgstream.algebra.placement.spark_list import can_be_ordered
from pgstream.algebra.types import Type

NUMBERING = ("row_number", "ntile", "lag", "lead")
RANKING = ("rank", "dense_rank", "percent_rank", "cume_dist")
VALUES = ("first_value", "last_value", "nth_value")
AGGREGATES = ("count", "sum", "avg", "min", "max")
FIRST, HERE, LAST = "UNBOUNDED PRECEDING", "CURRENT ROW", "UNBOUNDED FOLLOWING"
PEER_BOUNDS = (FIRST, HERE, LAST)
LARGEST = 2**31 - 1
"""The largest distance that Spark takes."""


class Form(NamedTuple):
    """How Spark computes a call. `ties`: rows with equal order are told apart by all columns;
    an empty `frame` means that the function takes none."""

    ties: bool
    frame: str = ""


ALL_ROWS = Form(True, f"ROWS BETWEEN {FIRST} AND {LAST}")


def spark_form(call: WindowCall, types: Sequence[Type]) -> Form | None:
    """The form in which Spark computes the call; None if PostgreSQL must."""
    if not all(can_be_ordered(types[order.index]) for order in call.order):
        return None
    if call.function == "ntile":
        return Form(True) if all(map(_is_positive, call.arguments)) else None
    if call.function in NUMBERING:
        return Form(True) if all(map(_is_count, call.arguments[1:2])) else None
    if call.function in RANKING:
        return Form(False)
    if call.frame.exclude:
        return None
    if call.function in VALUES:
        return _value_form(call)
    return _aggregate_form(call, types) if call.function in AGGREGATES else None


def _value_form(call: WindowCall) -> Form | None:
    if not all(map(_is_positive, call.arguments[1:])):
        return None
    frame = call.frame
    if (frame.start, frame.end) == (FIRST, LAST):
        return ALL_ROWS
    if frame.kind == "ROWS":
        return _rows(frame)
    ends_here_or_later = frame.end in (HERE, LAST)
    if call.function == "first_value" and frame.start == FIRST and ends_here_or_later:
        return Form(True, f"ROWS BETWEEN {FIRST} AND {HERE}")
    return None


def _aggregate_form(call: WindowCall, types: Sequence[Type]) -> Form | None:
    argument = call.arguments[0].type if call.arguments else None
    if argument is not None and call.function in ("min", "max") and not can_be_ordered(argument):
        return None
    if (
        argument is not None
        and call.function in ("sum", "avg")
        and (not argument.is_number or call.type.as_text)
    ):
        return None
    if argument is not None and call.function == "avg" and argument.is_numeric:
        return None  # the digits of a quotient depend on those of each value
    frame = call.frame
    if frame.kind == "ROWS":
        return _rows(frame)
    if not {frame.start, frame.end} <= set(PEER_BOUNDS):
        return None
    # Floating point depends on the order of the rows, also of those with equal order.
    floats = call.function in ("sum", "avg") and argument is not None and argument.is_float
    if not call.order or (frame.start, frame.end) == (FIRST, LAST):
        return ALL_ROWS
    return None if floats else Form(False, f"RANGE BETWEEN {frame.start} AND {frame.end}")


def _rows(frame: Frame) -> Form | None:
    bounds = [_spark_bound(frame.start), _spark_bound(frame.end)]
    if None in bounds:
        return None
    return Form(True, f"ROWS BETWEEN {bounds[0]} AND {bounds[1]}")


def _spark_bound(bound: str) -> str | None:
    if bound in PEER_BOUNDS:
        return bound
    number, _, side = bound.partition(" ")
    fits = number.isdigit() and int(number) <= LARGEST
    return bound if fits and side in ("PRECEDING", "FOLLOWING") else None


def _is_count(argument: Expression) -> bool:
    return isinstance(argument, Literal) and (argument.text or "").isdigit()


def _is_positive(argument: Expression) -> bool:
    """Of zero PostgreSQL makes an error, and so must we."""
    return isinstance(argument, Literal) and _is_count(argument) and argument.text != "0"


def by_postgres(tree: Node, keys: tuple[int, ...], calls: Sequence[WindowCall]) -> ByPostgres:
    """The calls, all with one order, computed by PostgreSQL. The rows come to it in an order
    that is total, so that a partition gives the same rows each time."""
    columns = tree.columns
    width = len(columns)
    order = [part.written(f"c{part.index}") for part in calls[0].order]
    ties = [f"c{i}::text" for i in range(width)]
    parts = [own_spelling(f"c{i}", columns[i].type) for i in keys]
    total = ", ".join([*parts, *order, *ties]) or "1"
    items = [f"r.c{i}" for i in range(width)]
    items += [_written(call, [f"r.{part}" for part in parts]) for call in calls]
    rows = f"(SELECT * FROM {ROWS} ORDER BY {total}) r"
    shape = columns + tuple(Column(call.function, call.type) for call in calls)
    origins = (*range(width), *(None for _ in calls))
    label = ", ".join(f"{call.function} OVER" for call in calls)
    return ByPostgres(tree, select(items, rows), shape, origins, keys, label)


def _written(call: WindowCall, keys: Sequence[str]) -> str:
    arguments = [to_postgres(a, lambda i: f"r.c{i}") for a in call.arguments]
    only = "" if call.condition is None else f" FILTER (WHERE r.c{call.condition})"
    parts = []
    if keys:
        parts.append("PARTITION BY " + ", ".join(keys))
    if call.order:
        parts.append("ORDER BY " + ", ".join(o.written(f"r.c{o.index}") for o in call.order))
    if call.function not in (*NUMBERING, *RANKING):
        parts.append(str(call.frame))
    return f"{call.written(arguments)}{only} OVER ({' '.join(parts)})"
