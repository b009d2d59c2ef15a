"""Which columns a query reads from the queries around it."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp


def aliases(select: exp.Select) -> frozenset[str]:
    """The names by which a SELECT's expressions read its FROM clause."""
    clauses = [select.args.get("from_"), *(select.args.get("joins") or ())]
    return relation_names(clause for clause in clauses if clause is not None)


def relation_names(items: Iterable[exp.Expr]) -> frozenset[str]:
    """The names by which relations of FROM are read."""
    nodes = [n for item in items for n in item.walk(prune=_is_closed)]
    relations = (n for n in nodes if isinstance(n, exp.Table | exp.Subquery | exp.UDTF))
    joins = (n for n in nodes if isinstance(n, exp.Join))
    names = [*(n.alias_or_name for n in relations), *(n.text("using_alias") for n in joins)]
    return frozenset(filter(None, names))


def _is_closed(node: exp.Expr) -> bool:
    return isinstance(node, exp.Select | exp.SetOperation)


def free_columns(query: exp.Expr) -> list[exp.Column]:
    """The columns that belong to relations outside the query, each once, by alias."""
    found: dict[tuple[str, str], exp.Column] = {}

    def visit(node: exp.Expr, known: frozenset[str]) -> None:
        if isinstance(node, exp.Select):
            known = known | aliases(node)
        if isinstance(node, exp.Column):
            if node.table and node.table not in known:
                found.setdefault((node.table, node.name), node)
            return
        for child in node.iter_expressions():
            visit(child, known)

    visit(query, frozenset())
    return [found[key] for key in sorted(found)]
