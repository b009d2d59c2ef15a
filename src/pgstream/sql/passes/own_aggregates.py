"""own_aggregates: calls of the user's aggregates are told from those of functions.

Before: public.total(t.x)     a call, by a qualified name
After:  public.total(t.x)     an aggregate call

PostgreSQL says which names are those of aggregates; the text does not. With OVER it is a window
function like any other.
"""

from __future__ import annotations

from collections.abc import Set

from sqlglot import exp

from pgstream.sql.deparsed import write
from pgstream.sql.levels import is_windowed
from pgstream.sql.nodes import OwnAggregate
from pgstream.sql.parse import Query

QualifiedName = tuple[str, str]
"""A schema, and what is in it."""


def own_aggregates(query: Query, aggregates: Set[QualifiedName]) -> Query:
    tree: Query = query.copy()
    for call in reversed(list(tree.find_all(exp.Dot))):
        if _name(call) in aggregates and not is_windowed(call):
            call.replace(_marked(call))
    return tree


def _name(call: exp.Dot) -> QualifiedName | None:
    function = call.args["expression"]
    return (call.this.name, function.name) if isinstance(function, exp.Anonymous) else None


def _marked(call: exp.Dot) -> OwnAggregate:
    function = call.args["expression"]
    name = function.copy()
    name.set("expressions", None)
    written = write(exp.Dot(this=call.this.copy(), expression=name)).removesuffix("()")
    return OwnAggregate(this=written, expressions=function.expressions)
