"""refuse: stops at what a stream table does not support, with its position and a way out.

Before: any SELECT.  After: the same SELECT, known to use supported constructs only.
Each refusal is a row of REFUSALS: what it looks for, its name, the reason, the way out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.grouping import CONSTRUCT, REASON, WAY_OUT, too_many
from pgstream.sql.limits import is_cut_without_order, is_offset_without_limit
from pgstream.sql.parse import Query
from pgstream.sql.passes.sorted_input import inherits_order
from pgstream.sql.positions import position_of


class Refusal(NamedTuple):
    construct: str
    keyword: str | None
    reason: str
    way_out: str
    finds: Callable[[exp.Expr], bool]


def _is(*kinds: type[exp.Expr]) -> Callable[[exp.Expr], bool]:
    return lambda node: isinstance(node, kinds)


def _has_too_many_sets(node: exp.Expr) -> bool:
    return isinstance(node, exp.Group) and too_many(node)


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        "LIMIT without ORDER BY", "limit|fetch",
        "Which rows stay would be arbitrary, and differ from one refresh to the next.",
        "Add ORDER BY, or leave LIMIT out and use it when you read the stream table.",
        lambda node: is_cut_without_order(node) and not inherits_order(node.parent),
    ),
    Refusal(
        "OFFSET without LIMIT", "offset",
        "All rows but a few would be kept, and the few would have to be sorted out of all.",
        "Add LIMIT, or use OFFSET when you read the stream table.",
        is_offset_without_limit,
    ),
    Refusal(
        "TABLESAMPLE", "tablesample",
        "A sample differs at every refresh, so no delta can describe its change.",
        "Leave it out, and sample when you read: WHERE random() < 0.1.",
        _is(exp.TableSample),
    ),
    Refusal(
        "FOR UPDATE / FOR SHARE", "for",
        "A stream table's rows are written by pgstream only; there is nothing to lock.",
        "Remove the locking clause.",
        _is(exp.Lock),
    ),
    Refusal(
        "SELECT INTO", "into", "A stream table's result goes to the stream table.",
        "Remove INTO.", _is(exp.Into),
    ),
    Refusal(
        CONSTRUCT, "grouping|rollup|cube", REASON, WAY_OUT, _has_too_many_sets,
    ),
    Refusal(
        "parameter", None, "A stream table's query has no caller to give it a value.",
        "Write the value into the query.", _is(exp.Parameter),
    ),
    Refusal(
        "ONLY", "only", "Changes are captured with those of the children.",
        "Remove ONLY.",
        lambda node: isinstance(node, exp.Table) and bool(node.args.get("only")),
    ),
)  # fmt: skip


def refuse(query: Query, text: str) -> Query:
    for node, refusal in _refused(query):
        name = refusal.construct
        position = position_of(text, node, refusal.keyword)
        raise UnsupportedConstruct(
            f"{name} is not supported in a stream table's query.",
            construct=name,
            line=position.line if position else None,
            column=position.column if position else None,
            detail=refusal.reason,
            hint=refusal.way_out,
        )
    return query


def _refused(query: Query) -> Iterator[tuple[exp.Expr, Refusal]]:
    for node in query.walk(bfs=False):
        for refusal in REFUSALS:
            if refusal.finds(node):
                yield node, refusal
