"""Names: identifiers as PostgreSQL quotes them."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from pgstream.sql.grammar import Tree, needs_quotes, unwrapped


def identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=needs_quotes(name))


def strings(nodes: Iterable[Tree]) -> list[str]:
    """The names in a list of nodes: those of a function, of an operator, of USING."""
    return [unwrapped(node).sval for node in nodes]


def placed(made: exp.Expr, location: int) -> exp.Expr:
    """The node with its offset in the text, as far as it is known."""
    if location > 0:
        made.meta["start"] = location
    return made


def table_alias(alias: Tree) -> exp.TableAlias | None:
    """AS a(b, c); None without a name."""
    if not alias.aliasname:
        return None
    made = exp.TableAlias(this=identifier(alias.aliasname))
    if alias.colnames:
        made.set("columns", [identifier(name) for name in strings(alias.colnames)])
    return made
