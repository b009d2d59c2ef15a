"""What aggregates give for no rows, where a correlated subquery has none for a row outside.

count                            0
rank and similar, users' own     what PostgreSQL computes
all others                       NULL
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pgstream.algebra.catalog import Catalog
from pgstream.algebra.expressions import Literal
from pgstream.algebra.types import Type
from pgstream.errors import UnsupportedExpression
from pgstream.sql.deparsed import cast_node, write
from pgstream.sql.nodes import OwnAggregate

HYPOTHETICAL = frozenset(("rank", "dense_rank", "percent_rank", "cume_dist"))


def counts_nothing(call: exp.Expr) -> bool:
    """Whether it may give a value for no rows that must be asked for."""
    while isinstance(call, exp.Filter):
        call = call.this
    is_set = isinstance(call, exp.WithinGroup)
    function = call.this if is_set else call
    if isinstance(function, OwnAggregate):
        return True
    return is_set and function.name.lower() in HYPOTHETICAL


def _reads_group(call: exp.Expr) -> bool:
    """Whether a value for no rows may depend on a direct argument, as PostgreSQL's own do not."""
    sets = [part.this for part in call.find_all(exp.WithinGroup)]
    return any(isinstance(one, OwnAggregate) and one.find(exp.Column) for one in sets)


def of_no_rows(call: exp.Expr, type_of: Callable[[exp.Expr], Type], catalog: Catalog) -> Literal:
    def untied(part: exp.Expr) -> exp.Expr:
        return cast_node(exp.null(), type_of(part).name) if isinstance(part, exp.Column) else part

    if _reads_group(call):
        raise UnsupportedExpression(
            "An aggregate of your own whose direct argument is a column is not supported in a "
            "correlated subquery.",
            construct=write(call),
            hint="Join with a subquery in FROM that groups by the columns of the correlation.",
        )
    text = write(call.copy().transform(untied))
    return Literal(*catalog.constant(f"(SELECT {text} WHERE false)"))
