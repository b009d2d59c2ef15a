"""refuse: stops at what a stream table does not support, with its place and a way out.

Before: any SELECT.  After: the same SELECT, known to use supported constructs only.
Each refusal is a row of REFUSALS: what it looks for, its name, the reason, the way out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.parse import Query
from pgstream.sql.places import place_of, place_of_word
from pgstream.sql.walk import AGGREGATES, above_aggregates, is_aggregate, is_subquery


class Refusal(NamedTuple):
    construct: str
    keyword: str | None
    reason: str
    way_out: str
    finds: Callable[[exp.Expr], bool]


def _is(*kinds: type[exp.Expr]) -> Callable[[exp.Expr], bool]:
    return lambda node: isinstance(node, kinds)


def _is_lateral(node: exp.Expr) -> bool:
    return isinstance(node, exp.Lateral | exp.Unnest) or (
        isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier)
    )


def _is_quantified_subquery(node: exp.Expr) -> bool:
    return isinstance(node, exp.Any | exp.All) and node.find(exp.Select) is not None


def _is_subquery_above_group(node: exp.Expr) -> bool:
    """A grouped SELECT with a subquery in HAVING or in its list, outside its aggregates."""
    if not isinstance(node, exp.Select):
        return False
    having = node.args.get("having")
    places = [*node.expressions, *([having] if having else [])]
    inside = [part for place in places for part in above_aggregates(place)]
    grouped = node.args.get("group") or having or any(map(is_aggregate, inside))
    return bool(grouped) and any(map(is_subquery, inside))


def _is_distinct_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, AGGREGATES) and isinstance(node.this, exp.Distinct)


def _is_other_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in OTHER_AGGREGATES
    return isinstance(node, exp.AggFunc) and not isinstance(node, AGGREGATES)


OTHER_AGGREGATES = frozenset(
    """bool_and bool_or every string_agg array_agg json_agg jsonb_agg json_object_agg
    jsonb_object_agg json_arrayagg json_objectagg bit_and bit_or bit_xor stddev stddev_pop
    stddev_samp variance var_pop var_samp mode percentile_cont percentile_disc corr covar_pop
    covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
    regr_sxy regr_syy any_value""".split()
)

LATER = "This version does not maintain it."

REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        "LIMIT / OFFSET", "limit|offset|fetch",
        "A stream table holds the complete result; a cut would move with every change.",
        "Leave it out, and use LIMIT when you read the stream table.",
        _is(exp.Limit, exp.Offset, exp.Fetch),
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
        "WITH RECURSIVE", "recursive", LATER,
        "Write a fixed number of levels as joins under UNION ALL.",
        lambda node: isinstance(node, exp.With) and bool(node.args.get("recursive")),
    ),
    Refusal(
        "window function", "over", LATER, "Use GROUP BY, or compute it when you read.",
        _is(exp.Window),
    ),
    Refusal(
        "DISTINCT ON", "distinct", LATER, "Use GROUP BY with MIN or MAX.",
        lambda node: isinstance(node, exp.Distinct) and node.args.get("on") is not None,
    ),
    Refusal(
        "aggregate with DISTINCT", "distinct", LATER,
        "Group in a subquery first, then aggregate.", _is_distinct_aggregate,
    ),
    Refusal(
        "GROUPING SETS / ROLLUP / CUBE", "grouping|rollup|cube", LATER,
        "Write one GROUP BY query per set under UNION ALL.",
        _is(exp.Rollup, exp.Cube, exp.GroupingSets),
    ),
    Refusal(
        "LATERAL or set-returning function in FROM", "lateral", LATER,
        "Use a join, or expand the rows when you read.", _is_lateral,
    ),
    Refusal(
        "VALUES in FROM", "values", LATER, "Put the rows into a table.", _is(exp.Values),
    ),
    Refusal(
        "op ANY / ALL over a subquery", "any|some|all", LATER,
        "Write = ANY as IN, the others as EXISTS or NOT EXISTS.", _is_quantified_subquery,
    ),
    Refusal(
        "subquery above GROUP BY", "select", LATER,
        "Group in a subquery in FROM, and use it around that.", _is_subquery_above_group,
    ),
    Refusal(
        "ordered-set aggregate", "within", LATER, "Compute it when you read.",
        _is(exp.WithinGroup),
    ),
    Refusal(
        "this aggregate", None, "This version maintains COUNT, SUM, AVG, MIN and MAX.",
        "Use one of these, or compute it when you read.", _is_other_aggregate,
    ),
    Refusal(
        "parameter", None, "A stream table's query has no caller to give it a value.",
        "Write the value into the query.", _is(exp.Parameter, exp.Placeholder),
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
        place = place_of(text, node, refusal.keyword)
        if name == "this aggregate":
            name = _aggregate_name(node, text)
            place = place_of_word(text, name)
        raise UnsupportedConstruct(
            f"{name} is not supported in a stream table's query.",
            construct=name,
            line=place.line if place else None,
            column=place.column if place else None,
            detail=refusal.reason,
            hint=refusal.way_out,
        )
    return query


def _aggregate_name(node: exp.Expr, text: str) -> str:
    """The aggregate as the user writes it; the parser may have another name for it."""
    for name in re.findall(r"\w+(?=\s*\()", text):
        if name.lower() in OTHER_AGGREGATES:
            return str(name)
    return node.name if isinstance(node, exp.Anonymous) else node.key


def _refused(query: Query) -> Iterator[tuple[exp.Expr, Refusal]]:
    for node in query.walk(bfs=False):
        for refusal in REFUSALS:
            if refusal.finds(node):
                yield node, refusal
