"""Lowers functions in FROM: PostgreSQL expands each row that Spark hands over.

    FROM a, unnest(a.tags) WITH ORDINALITY AS t(tag, n)
    FROM a LEFT JOIN LATERAL jsonb_each(a.doc) AS kv ON kv.key <> 'id'
    FROM generate_series(1, 10) AS g

The function is a function of the row, so the rows of a change are expanded by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pgstream.algebra.lower.scope import Scope, Table
from pgstream.algebra.operators.by_postgres import ByPostgres, over, select
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.placement.canonical import require_own_spelling
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.deparsed import write
from pgstream.sql.passes.build import PREFIX
from pgstream.sql.passes.select_list_rows import WAY_OUT

FUNCTION = "__pgs_f"


def expand(
    left: Node, node: exp.Expr, offset: int, condition: exp.Expr | None, scope: Scope
) -> tuple[Node, Scope]:
    """The rows of the tree, each with the rows of its function; a row without any is kept,
    padded with NULLs, if there is a condition: that is LEFT JOIN … ON."""
    alias = node.alias or node.alias_or_name
    over_rows = _over_rows(alias, offset, scope)
    call = write(_alone(node).transform(over_rows))
    on = None if condition is None else write(condition.copy().transform(over_rows))
    tree = _expanded(left, call, on, scope)
    made = tree.columns[len(left.columns) :]
    if alias.startswith(PREFIX):
        _require_values(node, made)
    names = tuple(column.name for column in made)
    table = Table(alias, offset + len(left.columns), names, made, padded=on is not None)
    return tree, scope.having(table)


def _require_values(node: exp.Expr, made: Sequence[Column]) -> None:
    """Of a function from the SELECT list each column is known: unnest may return rows there."""
    if len(made) > len(node.args["alias"].args.get("columns") or ()):
        raise UnsupportedConstruct(
            "A row that a function in the SELECT list returns is not supported in a stream table's "
            "query.",
            construct="set-returning function",
            hint=WAY_OUT,
        )


def _over_rows(alias: str, offset: int, scope: Scope) -> Callable[[exp.Expr], exp.Expr]:
    """Makes columns of FROM those of the rows handed over, and names the function's own."""

    def column(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column):
            return part
        if part.table == alias:
            return exp.column(part.this.copy(), table=FUNCTION)
        index = scope.index_of(part)
        require_own_spelling(scope.ref(index).type, alias)
        return exp.column(f"c{index - offset}", table="r")

    return column


def _alone(node: exp.Expr) -> exp.Expr:
    """The call under our alias; what belongs to it is joined afterwards."""
    alone = node.copy()
    alone.set("joins", None)
    named = alone.args.get("alias") or exp.TableAlias()
    named.set("this", exp.to_identifier(FUNCTION))
    alone.set("alias", named)
    return alone


def _expanded(left: Node, call: str, on: str | None, scope: Scope) -> ByPostgres:
    base = over(left)
    joined = f"CROSS JOIN LATERAL {call}" if on is None else f"LEFT JOIN LATERAL {call} ON {on}"
    source = f"{base.source} {joined}"
    kept = [f"r.c{i}" for i in range(len(left.columns))]
    types = {i: c.type for i, c in enumerate(base.input.columns)}
    made = scope.catalog.row_of(f"SELECT {FUNCTION}.* FROM {source}", types)
    items = [f"{FUNCTION}.{write(exp.to_identifier(name, quoted=True))}" for name, _ in made]
    shape = left.columns + tuple(Column(name, type_) for name, type_ in made)
    origins = (*base.origins, *(None for _ in made))
    return ByPostgres(base.input, select([*kept, *items], source), shape, origins, base.keys, call)
