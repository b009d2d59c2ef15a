"""Lowers functions in FROM: PostgreSQL expands each row that Spark hands over.

    FROM a, unnest(a.tags) WITH ORDINALITY AS t(tag, n)
    FROM a LEFT JOIN LATERAL jsonb_each(a.doc) AS kv ON kv.key <> 'id'
    FROM generate_series(1, 10) AS g

The function is a function of the row, so the rows of a change are expanded by themselves.
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.algebra.lower.scope import Scope, Table
from pgstream.algebra.operators.by_postgres import ByPostgres, over, select
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.placement.canonical import require_own_spelling
from pgstream.sql.deparsed import write

FUNCTION = "__pgs_f"


def expand(
    left: Node, node: exp.Expr, offset: int, condition: exp.Expr | None, scope: Scope
) -> tuple[Node, Scope]:
    """The rows of the tree, each with the rows of its function; a row without any is kept,
    padded with NULLs, if there is a condition: that is LEFT JOIN … ON."""
    alias = node.alias or node.alias_or_name

    def column(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column):
            return part
        if part.table == alias:
            return exp.column(part.this.copy(), table=FUNCTION)
        index = scope.index_of(part)
        require_own_spelling(scope.ref(index).type, alias)
        return exp.column(f"c{index - offset}", table="r")

    alone = node.copy()
    alone.set("joins", None)  # what belongs to it is joined afterwards
    named = alone.args.get("alias") or exp.TableAlias()
    named.set("this", exp.to_identifier(FUNCTION))
    alone.set("alias", named)
    call = write(alone.transform(column))
    how = "CROSS JOIN LATERAL"
    on = ""
    if condition is not None:
        how, on = "LEFT JOIN LATERAL", f" ON {write(condition.copy().transform(column))}"
    base = over(left)
    source = f"{base.source} {how} {call}{on}"
    width = len(left.columns)
    kept = [f"r.c{i}" for i in range(width)]
    types = {i: c.type for i, c in enumerate(base.input.columns)}
    made = scope.catalog.row_of(f"SELECT {FUNCTION}.* FROM {source}", types)
    items = [f"{FUNCTION}.{write(exp.to_identifier(name, quoted=True))}" for name, _ in made]
    shape = left.columns + tuple(Column(name, type_) for name, type_ in made)
    origins = (*base.origins, *(None for _ in made))
    tree = ByPostgres(base.input, select([*kept, *items], source), shape, origins, base.keys, call)
    names = tuple(name for name, _ in made)
    is_padded = condition is not None
    table = Table(alias, offset + width, names, tree.columns[width:], padded=is_padded)
    return tree, scope.having(table)
