"""first_per_group: a window whose numbers are only wanted up to a limit says so.

    σ(row_number ≤ n)(W(A))   →   σ(row_number ≤ n)(W(A), the first n)

The rows are the same. A change then reads the first rows of the partitions that it touches, not
all of them (see `operators/first_rows.py`). DISTINCT ON and LIMIT inside of a query are such
filters, too.
"""

from __future__ import annotations

from dataclasses import replace

from pgstream.algebra.expressions import Call, Expression, Literal, Ref, conjuncts
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.first_rows import path_of
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.window import Window
from pgstream.algebra.optimize.everywhere import everywhere
from pgstream.algebra.types import Type

NUMBERING = ("row_number", "rank")
MOST = 1000
"""Above, a partition may as well be read whole."""


def first_per_group(tree: Node) -> Node:
    return everywhere(tree, _limited)


def _limited(node: Node) -> Node:
    """The filter, with the window below it limited by what it lets pass."""
    window = node
    columns = list(range(len(node.columns)))
    while isinstance(window, Filter | Project):
        if isinstance(window, Project):
            columns = [-1 if i < 0 else _column(window.expressions[i]) for i in columns]
        window = window.input
    if not isinstance(node, Filter) or not isinstance(window, Window):
        return node
    width = len(window.input.columns)
    found = (_limit(part, columns, width) for part in conjuncts(node.predicate))
    first = min((limit for limit in found if limit is not None), default=None)
    if first is None or first > MOST or not _only_numbers(window):
        return node
    first = first if window.first is None else min(first, window.first)
    return _over(node, replace(window, first=first))


def _over(node: Node, window: Window) -> Node:
    """The filters and projections above the window, above another one."""
    if isinstance(node, Filter | Project):
        return node.with_inputs(_over(node.input, window))
    return window


def _column(value: Expression) -> int:
    """The column that the expression is; −1 if it is computed."""
    return value.index if isinstance(value, Ref) else -1


def _only_numbers(window: Window) -> bool:
    """Whether all its functions number the rows in one order, in which PostgreSQL sorts alike."""
    columns = window.input.columns
    ordered = {call.order for call in window.calls}
    return (
        all(call.function in NUMBERING and call.condition is None for call in window.calls)
        and len(ordered) == 1
        and all(_sorts_alike(columns[each.index].type) for each in window.calls[0].order)
        and len(window.calls[0].order) > 0
        and path_of(window.input) is not None
    )


def _limit(part: Expression, columns: list[int], width: int) -> int | None:
    """The largest number that the condition lets pass; None if it does not limit one."""
    if not (isinstance(part, Call) and part.function in ("<", "<=", "=")):
        return None
    column, limit = part.arguments
    is_number = isinstance(column, Ref) and columns[column.index] >= width
    value = _whole(limit)
    if not is_number or value is None:
        return None
    return max(value - (part.function == "<"), 1)


def _whole(value: Expression) -> int | None:
    """The whole number that a constant is; LIMIT after OFFSET is a sum of two."""
    if isinstance(value, Call) and value.function in ("cast", "+"):
        parts = [_whole(part) for part in value.arguments]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None
    if not isinstance(value, Literal) or value.text is None or not value.type.is_integer:
        return None
    return int(value.text)


def _sorts_alike(type_: Type) -> bool:
    return type_.is_number or type_.is_time or type_.is_boolean or type_.is_text
